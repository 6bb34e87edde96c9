import type { GatewayStatus } from "../../../records/gateway-status.ts";
import type { GatewayHolder } from "../../../store/gateway-holder.ts";

/** One line of the doctor: whether something is as it should be, and what to do where it is not. */
export interface Finding {
  readonly kind: "ok" | "warn" | "fail";
  readonly what: string;
  /** Null where there is nothing to do. */
  readonly todo: string | null;
  /** The file and the key in it, or the variable, where that can be said. */
  readonly where?: string;
}

/** All is well with it. */
export function fine(what: string): Finding {
  return { kind: "ok", what, todo: null };
}

/** It works, but should be otherwise. */
export function doubtful(what: string, todo: string): Finding {
  return { kind: "warn", what, todo };
}

/** It does not work. */
export function broken(what: string, todo: string): Finding {
  return { kind: "fail", what, todo };
}

/** The gateway that runs with the configuration, as the doctor sees it: from within, or as its owner does. */
export interface SeenGateway extends Pick<GatewayHolder, "pid" | "url" | "version"> {
  status(): Promise<GatewayStatus>;
  /** Undefined where it has no people of its own. */
  people(): Promise<PeopleStanding | undefined>;
  databases(): Promise<readonly SeenDatabase[]>;
  /** Undefined where it is no node of a cluster. */
  cluster(): Promise<SeenCluster | undefined>;
}

/** The nodes of a cluster, as the gateway sees them. */
export interface SeenCluster {
  readonly nodes: readonly {
    readonly id: string;
    readonly state: string;
    readonly address: string;
    readonly differs: boolean;
  }[];
  /** Of PostgreSQL; null where it could not be asked. */
  readonly maxConnections: number | null;
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
interface SeenDatabase {
  readonly database: string;
  readonly engine: string;
  readonly steps: readonly string[];
  readonly faults: readonly string[];
}
