import type { Clock } from "../kernel/runtime/clock.ts";
import type { Log } from "../kernel/runtime/log.ts";
import type { Directory } from "../people/directory/directory.ts";
import type { Store } from "../store/store.ts";

/** What a gateway is built from beside its configuration. */
export interface GatewayDeps {
  readonly log: Log;
  readonly clock: Clock;
  readonly version: string;
  /** The process's environment: a small safe part of it goes to the servers. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Absolute; created with mode 0700 by the caller. Marks of what runs: several gateways share them. */
  readonly dataDir: string;
  readonly store: Store;
  /**
   * The gateway's own place in the store: catalogs, tokens of its instances, what was learned. No other gateway
   * writes there.
   */
  readonly place: string;
  /**
   * The people, if they stand elsewhere than in the configuration: those of the configuration are then not looked at.
   */
  readonly directory?: Directory | undefined;
}
