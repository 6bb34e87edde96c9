import { expect, test } from "vitest";
import { sampleInstance } from "../../../test/sample-catalog.ts";
import { buildNames, type NameTable } from "../../catalog/model/names.ts";
import { createNamesInTurns } from "./names-in-turns.ts";

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
  const namesInTurns = createNamesInTurns();
  let turns = 0;
  let isOver = false;
  const other = (): void => {
    turns += 1;
    if (!isOver) setImmediate(other);
  };
  setImmediate(other);
  await namesInTurns({ names }, { spelling: "flat" });
  isOver = true;
  expect(turns).toBeGreaterThan(2);
  expect(names.inSteps("flat")).toBeUndefined();
  expect(namesInTurns({ names }, { spelling: "flat" })).toBeUndefined();
  expect(names.inSteps("namespaced")).toBeDefined();
  const [first] = names.tools;
  expect(names.find("s-0-a-0", "flat")).toEqual({ kind: "one", tool: first, form: "flat" });
});

test("several requests at once, and one that does not wait, find the same names", async () => {
  const names = tableOf(3, 1_000);
  const namesInTurns = createNamesInTurns();
  const wait = async (): Promise<void> => await namesInTurns({ names }, { spelling: "namespaced" });
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
  expect(createNamesInTurns()({ names: tableOf(3, 100) }, { spelling: "flat" })).toBeUndefined();
});
