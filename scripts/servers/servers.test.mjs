import { expect, test } from "vitest";
import { listDifferences, outcomeDifferences } from "./differences.mjs";
import { referenceRows } from "./server-rows.mjs";
import { standInRows } from "./stand-in-rows.mjs";
import { tryPackage, tryStandIn } from "./try-row.mjs";

/** Installed with the project, so that no test waits for npm's registry. */
const installed = ["everything", "memory", "filesystem"];

for (const name of installed)
  test(`server-${name} is the same through the gateway, in every exposure, after a restart and after idling`, async () => {
    const row = referenceRows.find((one) => one.package === `@modelcontextprotocol/server-${name}`);
    expect(await tryPackage(row, { isInstalled: true })).toMatchObject({ notStarted: null, differences: [] });
  });

for (const row of standInRows)
  test(`a server of ${row.follows} over ${row.transport} is the same through the gateway`, async () => {
    expect(await tryStandIn(row)).toMatchObject({ notStarted: null, differences: [] });
  });

const tool = { name: "add", inputSchema: { type: "object", properties: { a: { type: "number" } } } };

test("a tool that is missing, one too many and one that changed are told apart", () => {
  const changed = { ...tool, name: "gw-add", inputSchema: { type: "object", properties: { a: { type: "string" } } } };
  const options = { key: "name", rename: (name) => `gw-${name}` };
  const direct = { value: [tool, { ...tool, name: "gone" }] };
  const through = { value: [changed, { ...tool, name: "gw-new" }] };
  expect(listDifferences("flat", direct, through, options)).toEqual([
    "flat: add.inputSchema.properties.a.type: number directly, string through the gateway",
    "flat: gone is missing",
    "flat: gw-new is there only through the gateway",
  ]);
});

test("the order of a list is no difference", () => {
  const other = { ...tool, name: "other" };
  expect(listDifferences("flat", { value: [tool, other] }, { value: [other, tool] }, { key: "name" })).toEqual([]);
});

test("what is never the same twice is left out of a comparison, and nothing else", () => {
  const said = (text) => ({ value: { content: [{ type: "text", text }] } });
  const volatile = [/\d+ ms/];
  expect(outcomeDifferences("call", said("a took 3 ms"), said("a took 12 ms"), { volatile })).toEqual([]);
  expect(outcomeDifferences("call", said("a took 3 ms"), said("b took 12 ms"), { volatile })).toHaveLength(1);
});

test("a failure on one side is a difference, and on both sides none", () => {
  const failed = { failed: "no" };
  expect(outcomeDifferences("call", failed, failed)).toEqual([]);
  expect(outcomeDifferences("call", failed, { value: 1 })).toEqual(["call: fails directly only (no)"]);
  expect(outcomeDifferences("call", { value: 1 }, failed)).toEqual(["call: no"]);
});
