import type { Found, Listing, NamedCatalog } from "./names.ts";
import type { ToolEntry } from "./snapshot.ts";

type NamesOf = Readonly<Record<Listing, ReadonlyMap<ToolEntry, string>>>;

/**
 * The tool of a spelling that is nearly one of its names: a slash for the colon of its path, or letters in another case
 * where only one tool is meant. Looks through the tools of the servers that the spelling begins with: much less than it
 * takes to find those nearest to an unknown one, and no memory for spellings that hardly a client uses.
 */
export function findNear(spelling: string, catalogs: readonly NamedCatalog[], namesOf: NamesOf): Found {
  const lower = spelling.toLowerCase();
  const near = new Map<ToolEntry, "path" | Listing>();
  for (const { catalog, namespace } of catalogs) {
    const [first] = catalog.tools;
    if (first === undefined || ![first.server, namespace].some((start) => lower.startsWith(start.toLowerCase())))
      continue;
    for (const tool of catalog.tools) {
      if (isPath(tool.path, tool, spelling)) return { kind: "one", tool, form: "path" };
      const form = formOf(tool, lower, namesOf);
      if (form !== undefined) near.set(tool, form);
    }
  }
  const [only] = near;
  if (only === undefined) return { kind: "none" };
  return near.size === 1 ? { kind: "one", tool: only[0], form: only[1] } : { kind: "several", tools: [...near.keys()] };
}

/** Which of a tool's names a spelling is, but for the case of letters. */
function formOf(tool: ToolEntry, lower: string, namesOf: NamesOf): "path" | Listing | undefined {
  const { path } = tool;
  if (path.length === lower.length && isPath(path.toLowerCase(), tool, lower)) return "path";
  const isNamed = (form: Listing): boolean => {
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
