import { expect, test } from "vitest";
import { sampleInstance } from "../../../../test/sample-catalog.ts";
import { buildNames, type NameTable } from "./names.ts";
import { createLazyNames } from "./lazy-names.ts";

function tableOf(servers: number, toolsEach: number): NameTable {
  return buildNames(
    Array.from({ length: servers }, (_server, at) => ({
      catalog: sampleInstance(
        `s-${at}`,
        Array.from({ length: toolsEach }, (_tool, tool) => ({ name: `a-${tool}` })),
      ),
      namespace: `n${at}`,
    })),
  );
}

test("the names of a large view are made in turns: other work gets on, and nothing is left for the call", async () => {
  const names = tableOf(60, 2_000);
  const namesInTurns = createLazyNames();
  let turns = 0;
  let isOver = false;
  const other = (): void => {
    turns += 1;
    if (!isOver) setImmediate(other);
  };
  setImmediate(other);
  await namesInTurns({ names }, "flat");
  isOver = true;
  expect(turns).toBeGreaterThan(2);
  expect(names.inSteps("flat")).toBeUndefined();
  expect(namesInTurns({ names }, "flat")).toBeUndefined();
  expect(names.inSteps("namespaced")).toBeDefined();
  const [first] = names.tools;
  expect(names.find("s-0-a-0", "flat")).toEqual({ kind: "one", tool: first, form: "flat" });
});

test("several requests at once, and one that does not wait, find the same names", async () => {
  const names = tableOf(3, 1_000);
  const namesInTurns = createLazyNames();
  const wait = async (): Promise<void> => await namesInTurns({ names }, "namespaced");
  const waiting = [wait(), wait(), wait()];
  const steps = names.inSteps("flat");
  steps?.next();
  steps?.next();
  const at = (number: number) => names.tools[number];
  expect(names.find("s-2-a-999", "flat")).toEqual({ kind: "one", tool: at(2_999), form: "flat" });
  expect([...(steps ?? [])].length).toBeLessThan(5);
  await Promise.all(waiting);
  expect(names.find("n1__a-5", "namespaced")).toEqual({ kind: "one", tool: at(1_005), form: "namespaced" });
});

test("a view of a few servers is not waited for", () => {
  expect(createLazyNames()({ names: tableOf(3, 100) }, "flat", "a-7")).toBeUndefined();
});

test.each([
  ["s-7:a-1999", "one"],
  ["s-7-a-1999", "one"],
  ["n7__a-1999", "one"],
  ["n7.a-1999", "one"],
  ["a-1999", "several"],
  ["nobody", "none"],
])("after the wait, finding %s reads no tool any more", async (spelling, kind) => {
  let reads = 0;
  const catalogs = Array.from({ length: 10 }, (_server, at) => {
    const { tools } = sampleInstance(
      `s-${at}`,
      Array.from({ length: 2_000 }, (_tool, tool) => ({ name: `a-${tool}` })),
    );
    const counted = tools.map(({ definition, path, ...rest }) => ({
      ...rest,
      get path() {
        reads += 1;
        return path;
      },
      get definition() {
        reads += 1;
        return definition;
      },
    }));
    return { catalog: { tools: counted, prompts: [] }, namespace: `n${at}` };
  });
  const names = buildNames(catalogs);
  const namesInTurns = createLazyNames();
  await namesInTurns({ names }, undefined, spelling);
  expect(namesInTurns({ names }, undefined, spelling)).toBeUndefined();
  expect(reads).toBeGreaterThan(0);
  reads = 0;
  expect(names.find(spelling).kind).toBe(kind);
  expect(reads).toBe(0);
});

test("who calls by path waits for paths alone", async () => {
  const names = tableOf(3, 1_000);
  const namesInTurns = createLazyNames();
  await namesInTurns({ names }, undefined, "s-1:a-7");
  expect(names.inSteps("flat")).toBeDefined();
  expect(names.inSteps(undefined, "s-1-a-7")).toBeDefined();
  expect(names.inSteps(undefined, "s-2:a-7")).toBeUndefined();
});
