import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const folder = fileURLToPath(new URL("../../dist/cli/", import.meta.url));

/** What a built file loads with it: our own files by name, and everything else. Not what it loads later. */
function loadedWith(name: string): string[] {
  const text = readFileSync(join(folder, name), "utf8");
  return [...text.matchAll(/^(?:import|export)\b(?:[^"';]*\bfrom)?\s*"([^"]+)";/gm)].map((found) => found[1] ?? "");
}

/** All that `toolyard serve` loads before it answers. */
function loadedAtStart(): { readonly own: ReadonlySet<string>; readonly others: ReadonlySet<string> } {
  const serve = readdirSync(folder).filter((name) => /^serve-command-\w+\.js$/.test(name));
  const own = new Set(["main.js", ...serve]);
  const others = new Set<string>();
  for (const name of own)
    for (const loaded of loadedWith(name))
      if (loaded.startsWith("./")) own.add(loaded.slice(2));
      else others.add(loaded);
  return { own, others };
}

test("a start loads no package, and nothing of Node that only some gateways need", () => {
  const { others } = loadedAtStart();
  // Else this would find nothing because it looks for the wrong thing.
  expect([...others]).toContain("node:http");
  expect([...others].filter((name) => !name.startsWith("node:"))).toEqual([]);
  for (const name of ["node:tls", "node:https", "node:http2", "node:dgram", "node:inspector", "node:sqlite"])
    expect([...others]).not.toContain(name);
});

test("a start loads a few files, because each takes half a millisecond", () => {
  const { own } = loadedAtStart();
  expect(own.size).toBeGreaterThan(2);
  expect(own.size).toBeLessThanOrEqual(34);
});
