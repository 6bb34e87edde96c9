import type { InstanceCatalog, ToolEntry } from "./snapshot.ts";

interface Offer {
  readonly catalog: Pick<InstanceCatalog, "tools">;
  readonly namespace: string;
}

export interface Near {
  readonly tool: ToolEntry;
  readonly form: "path" | "namespaced" | "flat";
}

type NamesOf = Readonly<Record<"namespaced" | "flat", ReadonlyMap<ToolEntry, string>>>;

/** The tools that a spelling nearly names. */
export type FindNear = (spelling: string) => readonly Near[];

/**
 * Finds the tool of whose path a spelling has the colon written as a slash, or else all whose names it is in another
 * case of letters. Looks through the tools of the servers that it begins with, but only at names that are as long as it
 * is: there is no table for spellings that hardly a client uses, and a server may have ten thousand tools.
 */
export function createFindNear(catalogs: readonly Offer[], namesOf: NamesOf): FindNear {
  const lengths = catalogs.map(({ catalog }) => lengthsOf(catalog.tools, namesOf));
  return (spelling) => {
    const lower = spelling.toLowerCase();
    const near: Near[] = [];
    for (const [index, { catalog, namespace }] of catalogs.entries()) {
      const [first] = catalog.tools;
      if (first === undefined || ![first.server, namespace].some((start) => lower.startsWith(start.toLowerCase())))
        continue;
      for (const at of placesOf(lengths[index] as Uint16Array, [spelling.length, lower.length])) {
        const tool = catalog.tools[at] as ToolEntry;
        if (isPath(tool.path, tool, spelling)) return [{ tool, form: "path" }];
        const form = formOf(tool, lower, namesOf);
        if (form !== undefined) near.push({ tool, form });
      }
    }
    return near;
  };
}

/** How long the three names of each tool are. */
function lengthsOf(tools: readonly ToolEntry[], { namespaced, flat }: NamesOf): Uint16Array {
  return Uint16Array.from(
    tools.flatMap((tool) => [tool.path.length, namespaced.get(tool)?.length ?? 0, flat.get(tool)?.length ?? 0]),
  );
}

/** The places of the tools that have a name of one of these lengths. */
function* placesOf(lengths: Uint16Array, wanted: readonly [number, number]): Generator<number> {
  const [one, other] = wanted;
  for (let at = 0; at < lengths.length; at += 3) {
    for (let name = at; name < at + 3; name += 1) {
      if (lengths[name] !== one && lengths[name] !== other) continue;
      yield at / 3;
      break;
    }
  }
}

/** Which of a tool's names a spelling is, but for the case of letters. */
function formOf(tool: ToolEntry, lower: string, namesOf: NamesOf): Near["form"] | undefined {
  const { path } = tool;
  if (path.length === lower.length && isPath(path.toLowerCase(), tool, lower)) return "path";
  const isNamed = (form: "namespaced" | "flat"): boolean => {
    const name = namesOf[form].get(tool);
    return name?.length === lower.length && name.toLowerCase() === lower;
  };
  return (["namespaced", "flat"] as const).find(isNamed);
}

/** The tool knows where its colon is: a name is never split at whatever slash it holds. */
function isPath(path: string, { server }: ToolEntry, spelling: string): boolean {
  const at = server.length;
  if (path.length !== spelling.length || (spelling[at] !== "/" && spelling[at] !== ":")) return false;
  return path === `${spelling.slice(0, at)}:${spelling.slice(at + 1)}`;
}
