import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { circlesOf, folderGraph, importGraph, importsOf } from "./import-graph.ts";

const files = importGraph(fileURLToPath(new URL("../../src", import.meta.url)));

describe("imports of any kind, types too", () => {
  test("go in no circle between files", () => {
    expect(circlesOf(files)).toEqual([]);
  });

  test("go in no circle between folders", () => {
    expect(circlesOf(folderGraph(files))).toEqual([]);
  });
});

describe("the search for circles", () => {
  test("sees every form of import", () => {
    const text = `import { a } from "./a.ts";
import type { B } from "../b.ts";
export { c } from "./deep/c.ts";
import "./d.ts";
const late = await import("./e.ts");
type F = import("./f.ts").F;
import {
  g,
} from "../other/g.ts";
import fs from "node:fs";`;
    expect([...importsOf("room/file.ts", text)].sort()).toEqual(
      ["b.ts", "other/g.ts", "room/a.ts", "room/d.ts", "room/deep/c.ts", "room/e.ts", "room/f.ts"].sort(),
    );
  });

  test("finds those of two, of three, and of one, and nothing beside them", () => {
    const graph = new Map(
      Object.entries({ a: ["b"], b: ["a", "x"], c: ["d"], d: ["e"], e: ["c", "a"], f: ["f"], x: [] }).map(
        ([from, to]) => [from, new Set(to)],
      ),
    );
    expect(circlesOf(graph)).toEqual([["a", "b"], ["c", "d", "e"], ["f"]]);
  });

  test("takes a folder's circle for one, though no two of its files make one", () => {
    const graph = new Map([
      ["a/one.ts", new Set(["b/one.ts"])],
      ["b/two.ts", new Set(["a/two.ts"])],
    ]);
    expect(circlesOf(graph)).toEqual([]);
    expect(circlesOf(folderGraph(graph))).toEqual([["a", "b"]]);
  });
});
