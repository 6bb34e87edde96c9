import { createHmac } from "node:crypto";

/**
 * What decides what a gateway serves. Two gateways of the same are one too many; clients of different ones must not
 * share.
 */
export interface Served {
  /** Absolute path of the configuration file, symbolic links followed; null when there is none. */
  readonly configFile: string | null;
  /** Where its relative paths start. */
  readonly directory: string | null;
  /** The variables that it refers to, with their values; null for one that is not set. */
  readonly variables: Readonly<Record<string, string | null>>;
}

/** As above, with variables that can be compared but not read. */
export type SealedServed = Served;

/**
 * - `same`: may be shared.
 * - `edited`: the same file in the same folder, but it refers to other variables: one of the two has not seen its last change yet.
 * - `other-variables`: the same file in the same folder, and variables of other values.
 * - `another`: another file, or the same one read from another folder.
 */
export type Likeness = "same" | "edited" | "other-variables" | "another";

/** What may stand in a file: whoever knows `secret` can compare a value with his own, and nobody can read it. */
export function sealServed(served: Served, secret: string): SealedServed {
  const variables = Object.entries(served.variables).map(([name, value]) => [name, value && seal(value, name, secret)]);
  return { ...served, variables: Object.fromEntries(variables) as SealedServed["variables"] };
}

function seal(value: string, name: string, secret: string): string {
  return createHmac("sha256", secret).update(`${name}=${value}`).digest("hex").slice(0, 32);
}

export function compareServed(sealed: SealedServed, wanted: Served, secret: string): Likeness {
  if (sealed.configFile !== wanted.configFile || sealed.directory !== wanted.directory) return "another";
  const names = Object.keys(wanted.variables);
  const isEdited =
    names.length !== Object.keys(sealed.variables).length ||
    names.some((name) => !Object.hasOwn(sealed.variables, name));
  if (isEdited) return "edited";
  return differingVariables(sealed, wanted, secret).length === 0 ? "same" : "other-variables";
}

/** Names of the variables that both refer to, and that have another value in each. */
export function differingVariables(sealed: SealedServed, wanted: Served, secret: string): readonly string[] {
  const own = sealServed(wanted, secret).variables;
  return Object.keys(own).filter(
    (name) => Object.hasOwn(sealed.variables, name) && sealed.variables[name] !== own[name],
  );
}
