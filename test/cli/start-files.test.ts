import { readdirSync, readFileSync, statSync } from "node:fs";
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
function loadedAtStart(): Loaded {
  return loadedBy("serve-command");
}

interface Loaded {
  readonly own: ReadonlySet<string>;
  readonly others: ReadonlySet<string>;
  readonly bytes: number;
}

function loadedBy(command: string): Loaded {
  const entry = readdirSync(folder).filter((name) => name.startsWith(`${command}-`));
  expect(entry).toHaveLength(1);
  const own = new Set(["main.js", ...entry]);
  const others = new Set<string>();
  for (const name of own)
    for (const loaded of loadedWith(name))
      if (loaded.startsWith("./")) own.add(loaded.slice(2));
      else others.add(loaded);
  const bytes = [...own].reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
  return { own, others, bytes };
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

test("what only connects to a gateway, or answers a hook, loads no gateway: a client waits for it", () => {
  const starting = loadedBy("serve-command").bytes;
  for (const name of ["stdio-command", "hook-command"]) expect(loadedBy(name).bytes).toBeLessThan(starting / 3);
});
