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

/**
 * The tools that a spelling nearly names: the one of whose path it has the colon written as a slash, or else all whose
 * names it is in another case of letters. Looks through the tools of the servers that it begins with: much less than
 * finding those nearest to an unknown one takes, and no memory for spellings that hardly a client uses.
 */
export function findNear(spelling: string, catalogs: readonly Offer[], namesOf: NamesOf): readonly Near[] {
  const lower = spelling.toLowerCase();
  const near: Near[] = [];
  for (const { catalog, namespace } of catalogs) {
    const [first] = catalog.tools;
    if (first === undefined || ![first.server, namespace].some((start) => lower.startsWith(start.toLowerCase())))
      continue;
    for (const tool of catalog.tools) {
      if (isPath(tool.path, tool, spelling)) return [{ tool, form: "path" }];
      const form = formOf(tool, lower, namesOf);
      if (form !== undefined) near.push({ tool, form });
    }
  }
  return near;
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
