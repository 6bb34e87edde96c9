import type { Found, Listing } from "./names.ts";
import type { ToolEntry } from "./snapshot.ts";

type Named = ReadonlyMap<string, ToolEntry>;

/**
 * The tool of a spelling that is nearly one of its names: a slash for the colon of its path, or letters in another case
 * where only one tool is meant. Looks through the names that there are, which is less work than finding those nearest
 * to an unknown one, and takes no memory for spellings that hardly a client uses.
 */
export function findNear(spelling: string, paths: Named, listed: Readonly<Record<Listing, Named>>): Found {
  const lower = spelling.toLowerCase();
  const near = new Map<ToolEntry, "path" | Listing>();
  for (const [path, tool] of paths) {
    if (path.length !== lower.length) continue;
    if (isPath(path, tool, spelling)) return { kind: "one", tool, form: "path" };
    if (isPath(path.toLowerCase(), tool, lower)) near.set(tool, "path");
  }
  for (const form of ["namespaced", "flat"] as const)
    for (const [name, tool] of listed[form])
      if (name.length === lower.length && name.toLowerCase() === lower && !near.has(tool)) near.set(tool, form);
  const [first] = near;
  if (first === undefined) return { kind: "none" };
  return near.size === 1
    ? { kind: "one", tool: first[0], form: first[1] }
    : { kind: "several", tools: [...near.keys()] };
}

/** The tool knows where the colon is: a name is never split at whatever slash it holds. */
function isPath(path: string, { server }: ToolEntry, spelling: string): boolean {
  const at = server.length;
  const mark = spelling[at];
  return (mark === "/" || mark === ":") && path === `${spelling.slice(0, at)}:${spelling.slice(at + 1)}`;
}
