import { suggestion } from "../../config/file/near-miss.ts";
import { pathKey, problemOfValue, type TierField, type TierValues } from "../../config/people/tier-fields.ts";
import { foreignPathIn, mayGive, type TieredServer } from "../../config/people/tiers.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import type { SecretRow } from "../../store/install-rows.ts";
import type { SecretOwner } from "./install-index.ts";

/** Where values are set. */
export interface ValueTarget {
  readonly tier: "team" | "user";
  readonly owner: SecretOwner;
  readonly tiered: Omit<TieredServer, "server">;
  /** JSON: the values that are set there now, without secrets. */
  readonly config: string;
}

export interface WrittenPlan {
  /** By path; null takes a value away. */
  readonly values: Readonly<Record<string, string | readonly string[] | null>>;
  /** Whatever is set, not named and theirs to set goes, secrets too. */
  readonly isWhole?: boolean | undefined;
}

export interface ValuePlan {
  readonly config: string;
  readonly secrets: readonly { readonly field: string; readonly text: string }[];
  readonly goneSecrets: readonly string[];
  /** Everything that was written or taken away; not what was to be taken away and was not there. */
  readonly paths: readonly string[];
}

/** Values of one server, and of one change. A form with more is one that no person fills in. */
export const mostValues = 200;

/**
 * What becomes of values that somebody wrote. Throws VALUE_REFUSED for a value that this tier may not give, or that its
 * field does not take; the message has the path and never the value.
 */
export function planValues(target: ValueTarget, given: WrittenPlan, secrets: readonly SecretRow[]): ValuePlan {
  const { tier, tiered } = target;
  const values: Record<string, string | readonly string[]> = { ...(JSON.parse(target.config) as TierValues) };
  const written = given.isWhole === true ? withGone(target, given.values, values, secrets) : given.values;
  if (Object.keys(given.values).length > mostValues) throw tooMany();
  const sealed: { field: string; text: string }[] = [];
  const gone: string[] = [];
  const paths: string[] = [];
  for (const [name, value] of Object.entries(written)) {
    const field = tiered.fields.find(({ path }) => pathKey(path) === pathKey(name));
    const path = field?.path ?? name;
    const before = secrets.find((row) => pathKey(row.field) === pathKey(path));
    const known = Object.keys(values).filter((one) => pathKey(one) === pathKey(path));
    for (const one of known) delete values[one];
    if (value !== null || before !== undefined || known.length > 0) paths.push(path);
    if (value === null) {
      if (before !== undefined) gone.push(before.id);
      // A value may be taken away also where no field is left for it.
      else if (known.length === 0) checkPath({ tier, tiered, path, field });
      continue;
    }
    checkPath({ tier, tiered, path, field });
    checkValue({ tier, tiered, path, field, value });
    if (typeof value === "string" && field?.type === "secret") sealed.push({ field: path, text: value });
    else {
      values[path] = value;
      if (before !== undefined) gone.push(before.id);
    }
  }
  if (Object.keys(values).length + sealed.length > mostValues) throw tooMany();
  return { config: JSON.stringify(values), secrets: sealed, goneSecrets: gone, paths };
}

function tooMany(): GatewayError {
  return new GatewayError("VALUE_REFUSED", `a server has at most ${mostValues} values`);
}

/**
 * What was written, and null for everything else that is set and may be given here. A locked value counts for nothing
 * while it is locked, and is there again afterwards: a person who fills in a form without it has not taken it away.
 */
function withGone(
  { tier, tiered }: ValueTarget,
  written: WrittenPlan["values"],
  values: TierValues,
  secrets: readonly SecretRow[],
): WrittenPlan["values"] {
  const named = new Set(Object.keys(written).map(pathKey));
  const left = [...Object.keys(values), ...secrets.map(({ field }) => field)].filter(
    (path) => !named.has(pathKey(path)) && mayGive(tiered, tier, path),
  );
  return { ...Object.fromEntries(left.map((path) => [path, null])), ...written };
}

interface CheckedPath {
  readonly tier: "team" | "user";
  readonly tiered: Omit<TieredServer, "server">;
  readonly path: string;
  readonly field: TierField | undefined;
}

/** Says the same of a field that somebody does not see as of none. */
function checkPath({ tier, tiered, path, field }: CheckedPath): void {
  if (field !== undefined && mayGive(tiered, tier, path)) return;
  const theirs = tiered.fields.filter((known) => known.visible && mayGive(tiered, tier, known.path));
  const meant = suggestion(
    path,
    theirs.map((known) => known.path),
  );
  throw new GatewayError(
    "VALUE_REFUSED",
    `${shown(path)} is not ${tier === "user" ? "yours" : "the team's"} to set${meant}`,
    { hint: "`toolyard config get SERVER` lists the fields, and who sets them." },
  );
}

interface CheckedValue extends CheckedPath {
  readonly value: string | readonly string[];
}

function checkValue({ tier, tiered, path, field, value }: CheckedValue): void {
  const problem = field && problemOfValue(field, value, tier);
  if (problem !== undefined) throw new GatewayError("VALUE_REFUSED", `${shown(path)}: ${problem}`);
  const foreign = foreignPathIn(tiered, tier, [path, value]);
  if (foreign !== undefined)
    throw new GatewayError(
      "VALUE_REFUSED",
      `${shown(path)}: it has the flag of ${foreign}, which is not to be set here`,
    );
}

const shown = (path: string): string => path.slice(0, 100);
