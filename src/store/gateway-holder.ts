import type { SealedServed, Served } from "./gateway-identity.ts";

/** The content of a gateway's lock: what it says about the gateway that holds it. */
export interface GatewayHolder {
  readonly pid: number;
  /** The start time of that process, where the system reports it: a pid alone may have been reused. */
  readonly startTime: string | null;
  /** Gives access to the gateway as its owner. Only the owner of the data directory can read the lock. */
  readonly secret: string;
  /** `http://host:port`; null before the gateway listens, and once it is stopping. */
  readonly url: string | null;
  /** Whether the system chose its port: the next start has another one. */
  readonly isPortChosen: boolean;
  /** What the gateway serves; a client that wants the same shares it. */
  readonly serves: SealedServed;
  readonly version: string;
}

/**
 * A gateway's lock on its folder: held from before it listens until it has stopped everything. Disposing releases it.
 */
export interface GatewayLock extends AsyncDisposable {
  readonly secret: string;
  /** Tells others the gateway's address; null when it accepts nothing new any more. */
  announce(url: string | null, isPortChosen?: boolean): Promise<void>;
  /** Tells others that the configuration has changed. */
  announceServed(serves: Served): Promise<void>;
}

/** Either a folder of one's own, or the gateway that already serves the same. */
export type Claim =
  | { readonly kind: "held"; readonly lock: GatewayLock; readonly folder: string }
  | { readonly kind: "taken"; readonly by: GatewayHolder };
