import type { SealedServed, Served } from "./served.ts";

/** What the lock of a gateway's place says of the gateway that holds it. */
export interface GatewayHolder {
  readonly pid: number;
  /** Start time of that process, where the system tells it: a pid alone may be somebody else's by now. */
  readonly startTime: string | null;
  /** Whoever can read the lock is the owner of the data directory: this opens the owner's door of the gateway. */
  readonly secret: string;
  /** `http://host:port`; null until it listens, and again when it stops. */
  readonly url: string | null;
  /** What it serves: who wants the same shares it. */
  readonly serves: SealedServed;
  readonly version: string;
}

/** One gateway per place: held from before it listens until it has stopped everything. Disposing gives it back. */
export interface GatewayLock extends AsyncDisposable {
  readonly secret: string;
  /** Tells others where it answers; null when it takes nothing new any more. */
  announce(url: string | null): Promise<void>;
  /** Tells others that the configuration is another one now. */
  announceServed(serves: Served): Promise<void>;
}

/** A place of one's own, or who serves the same already. */
export type Claim =
  | { readonly kind: "held"; readonly lock: GatewayLock; readonly folder: string }
  | { readonly kind: "taken"; readonly by: GatewayHolder };
