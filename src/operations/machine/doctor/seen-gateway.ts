import type { GatewayStatus } from "../../../records/gateway-status.ts";
import type { GatewayHolder } from "../../../store/gateway-holder.ts";

/** The gateway that runs with the configuration, as the doctor sees it: from within, or as its owner does. */
export interface SeenGateway extends Pick<GatewayHolder, "pid" | "url" | "version"> {
  status(): Promise<GatewayStatus>;
  /** Undefined where it has no people of its own. */
  people(): Promise<PeopleStanding | undefined>;
  databases(): Promise<readonly SeenDatabase[]>;
}

/** Whether people can get in, and how. */
export interface PeopleStanding {
  readonly publicUrl: string | null;
  /** How many addresses and ranges. */
  readonly trustedProxies: number;
  readonly users: number;
  /** Who may log in, and are in a team. */
  readonly admins: number;
  readonly providers: readonly { readonly name: string; readonly issuer: string }[];
  /** Why people are refused; null where they are let in. */
  readonly refusal: string | null;
}

/** What a look through a database found. */
export interface SeenDatabase {
  readonly database: string;
  readonly engine: string;
  readonly steps: readonly string[];
  readonly faults: readonly string[];
}
