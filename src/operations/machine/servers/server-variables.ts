import { dirname } from "node:path";
import { predefinedNames } from "../../../config/entry/predefined.ts";
import type { Origin } from "../../../config/file/check.ts";
import { isVariableOfServers } from "../../../config/words/variable-names.ts";
import { replaceReferences } from "../../../config/file/substitution.ts";
import { readConfig, readKeptValues, type Surroundings } from "../surroundings/surroundings.ts";

/** A variable that the entry of a server refers to. Its value is never told. */
export interface ServerVariable {
  readonly name: string;
  /**
   * Where its value comes from: the gateway's environment, a kept value, or the default in the entry; `nowhere` where
   * the server cannot be used without one.
   */
  readonly from: "environment" | "kept" | "default" | "nowhere";
}

/** The variables that a server's entry takes from elsewhere, in the order in which it refers to them. */
export async function serverVariables(place: Surroundings, origin: Origin): Promise<readonly ServerVariable[]> {
  const referred = referredIn(origin, place.env);
  if (referred.size === 0) return [];
  // Reading the file knows which of them the entry itself or its file of variables has.
  const known = (await readConfig(place)).identity?.variables ?? {};
  const kept = await readKeptValues(place);
  const fromOf = (name: string, hasDefault: boolean): ServerVariable["from"] => {
    // An empty one counts, but for a default.
    if (place.env[name] !== undefined && (place.env[name] !== "" || !hasDefault)) return "environment";
    if (Object.hasOwn(kept, name)) return "kept";
    return hasDefault ? "default" : "nowhere";
  };
  return [...referred]
    .filter(([name]) => Object.hasOwn(known, name) && isVariableOfServers(name))
    .map(([name, hasDefault]) => ({ name, from: fromOf(name, hasDefault) }));
}

/** Names of variables, and whether the entry has a default wherever it refers to one. */
function referredIn({ document, path }: Origin, env: Surroundings["env"]): ReadonlyMap<string, boolean> {
  const { names } = predefinedNames(document, dirname(document.fileName), env);
  const found = new Map<string, boolean>();
  replaceReferences(document.value(path), {
    valueOf({ kind, name, variable, fallback }) {
      const preset =
        kind === "plain" || kind === "input" ? names[kind === "input" ? `input:${name}` : name] : undefined;
      const isVariable = kind !== "secret" && (kind !== "plain" || preset === undefined);
      const hasDefault = fallback !== undefined || preset !== undefined;
      if (isVariable) found.set(variable, (found.get(variable) ?? true) && hasDefault);
      return undefined;
    },
    onMissing: () => undefined,
  });
  return found;
}
