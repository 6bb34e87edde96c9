import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** Who imports whom: values, types, and what is loaded late. */
export type ImportGraph = ReadonlyMap<string, ReadonlySet<string>>;

/** Of the files below a folder, tests aside, by their paths from there. */
export function importGraph(folder: string): ImportGraph {
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter(
    (file) => file.endsWith(".ts") && !file.endsWith(".test.ts"),
  );
  return new Map(files.map((file) => [file, importsOf(file, readFileSync(join(folder, file), "utf8"))]));
}

/** Relative imports in any form: `import`, `import type`, `export ... from`, `import()` of a module or of a type. */
export function importsOf(file: string, text: string): ReadonlySet<string> {
  const specifiers = [...text.matchAll(/(?:\bfrom\s+|\bimport\s*\(?\s*)"(\.[^"]+\.ts)"/g)];
  return new Set(specifiers.map(([, specifier = ""]) => join(dirname(file), specifier)));
}

/**
 * The same between folders that lie beside each other, at every level, each with everything in it. A file that lies
 * beside folders belongs to none of them: it may use them and be used by them.
 */
export function folderGraph(files: ImportGraph): ImportGraph {
  const folders = new Map<string, Set<string>>();
  for (const [file, targets] of files)
    for (const target of targets) {
      const own = dirname(file).split("/");
      const other = dirname(target).split("/");
      const depth = own.findIndex((name, index) => name !== other[index]);
      if (depth < 0 || other[depth] === undefined) continue;
      const from = own.slice(0, depth + 1).join("/");
      folders.set(from, (folders.get(from) ?? new Set<string>()).add(other.slice(0, depth + 1).join("/")));
    }
  return folders;
}

/** Groups whose members all reach each other (strongly connected components, after Tarjan), each sorted. */
export function circlesOf(graph: ImportGraph): readonly (readonly string[])[] {
  const order = new Map<string, number>();
  const lowest = new Map<string, number>();
  const open: string[] = [];
  const circles: string[][] = [];

  function visit(node: string): void {
    const number = order.size;
    order.set(node, number);
    lowest.set(node, number);
    open.push(node);
    for (const target of graph.get(node) ?? []) {
      if (!order.has(target)) visit(target);
      if (open.includes(target)) lowest.set(node, Math.min(lowest.get(node) as number, lowest.get(target) as number));
    }
    if (lowest.get(node) !== number) return;
    const circle = open.splice(open.indexOf(node));
    if (circle.length > 1 || graph.get(node)?.has(node) === true) circles.push(circle.sort());
  }

  for (const node of graph.keys()) if (!order.has(node)) visit(node);
  return circles.sort(([a = ""], [b = ""]) => a.localeCompare(b));
}
