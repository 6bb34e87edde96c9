import { createHmac } from "node:crypto";

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

/**
 * What determines what a gateway serves. Where it is the same, one gateway is enough; where it differs, clients must
 * not share a gateway.
 */
export interface Served {
  /** The absolute path of the configuration file, with symbolic links resolved; null when there is none. */
  readonly configFile: string | null;
  /** The folder at which its relative paths start. */
  readonly directory: string | null;
  /** The variables that the file refers to, with their values; null for one that is not set. */
  readonly variables: Readonly<Record<string, string | null>>;
}

/** The same, with values of variables that can be compared but not read. */
export type SealedServed = Served;

/**
 * How two configurations compare:
 *
 * - `same`: one gateway can serve both.
 * - `edited`: the same file in the same folder, but it refers to different variables, so one side has not yet read
 *   the file's latest version.
 * - `other-variables`: the same file in the same folder, with different values of variables.
 * - `another`: another file, or the same one with another folder for relative paths.
 */
export type Likeness = "same" | "edited" | "other-variables" | "another";

/** The form that may be written to a file: with `secret` a value can be compared with a known one, but not read. */
export function sealServed(served: Served, secret: string): SealedServed {
  const variables = Object.entries(served.variables).map(([name, value]) => [name, value && seal(value, name, secret)]);
  return { ...served, variables: Object.fromEntries(variables) as SealedServed["variables"] };
}

function seal(value: string, name: string, secret: string): string {
  return createHmac("sha256", secret).update(`${name}=${value}`).digest("hex").slice(0, 32);
}

/**
 * Compares what a running gateway serves with what it should serve. `secret` is the one that `sealed` was made with.
 */
export function compareServed(sealed: SealedServed, wanted: Served, secret: string): Likeness {
  if (sealed.configFile !== wanted.configFile || sealed.directory !== wanted.directory) return "another";
  const names = Object.keys(wanted.variables);
  const isEdited =
    names.length !== Object.keys(sealed.variables).length ||
    names.some((name) => !Object.hasOwn(sealed.variables, name));
  if (isEdited) return "edited";
  return differingVariables(sealed, wanted, secret).length === 0 ? "same" : "other-variables";
}

/** The names of variables that both refer to and whose values differ. */
export function differingVariables(sealed: SealedServed, wanted: Served, secret: string): readonly string[] {
  const own = sealServed(wanted, secret).variables;
  return Object.keys(own).filter(
    (name) => Object.hasOwn(sealed.variables, name) && sealed.variables[name] !== own[name],
  );
}
