import type { InstanceCatalog, ToolEntry } from "../snapshot.ts";

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
 * is and end as it does, because a server may have ten thousand tools. There is no table for spellings that hardly a
 * client uses.
 */
export function createFindNear(catalogs: readonly Offer[], namesOf: NamesOf): FindNear {
  /** Made for a server with the first spelling that begins with its name. */
  const marks: (Uint32Array | undefined)[] = [];
  return (spelling) => {
    const lower = spelling.toLowerCase();
    const near: Near[] = [];
    for (const [index, { catalog, namespace }] of catalogs.entries()) {
      const [first] = catalog.tools;
      if (first === undefined || ![first.server, namespace].some((start) => lower.startsWith(start.toLowerCase())))
        continue;
      for (const at of placesOf((marks[index] ??= marksOf(catalog.tools, namesOf)), markOf(lower))) {
        const tool = catalog.tools[at] as ToolEntry;
        if (isPath(tool.path, tool, spelling)) return [{ tool, form: "path" }];
        const form = formOf(tool, lower, namesOf);
        if (form !== undefined) near.push({ tool, form });
      }
    }
    return near;
  };
}

/** A number that two spellings have in common where they differ in case, or in the separator of server and tool. */
function markOf(name: string): number {
  const lower = name.toLowerCase();
  return ((lower.length << 16) | lower.charCodeAt(lower.length - 1)) >>> 0;
}

/** Of the three names of each tool. */
function marksOf(tools: readonly ToolEntry[], { namespaced, flat }: NamesOf): Uint32Array {
  const marks = new Uint32Array(tools.length * 3);
  for (const [at, tool] of tools.entries()) {
    const names = [tool.path, namespaced.get(tool) ?? "", flat.get(tool) ?? ""];
    marks.set(names.map(markOf), at * 3);
  }
  return marks;
}

/** The places of the tools one of whose names has this mark. */
function* placesOf(marks: Uint32Array, wanted: number): Generator<number> {
  for (let mark = marks.indexOf(wanted); mark !== -1;) {
    const place = Math.floor(mark / 3);
    yield place;
    mark = marks.indexOf(wanted, place * 3 + 3);
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
