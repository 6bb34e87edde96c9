import { expect, test } from "vitest";
import { findFamily, type FamilyTraits } from "./process-group.ts";
import type { ProcessRow } from "../process-table.ts";

/** A process of its own group and session unless said otherwise. */
function row(pid: number, rest: Partial<ProcessRow> = {}): ProcessRow {
  return { pid, parent: 1, group: pid, session: pid, startTime: `t${pid}`, marks: [], ...rest };
}
const nobody: FamilyTraits = { founders: new Map(), isMarked: () => false };
const marked: FamilyTraits = { ...nobody, isMarked: (mark) => mark === "ours" };
const pids = (rows: readonly ProcessRow[], traits: FamilyTraits, except?: readonly number[]) =>
  findFamily(rows, traits, except)
    .map(({ pid }) => pid)
    .toSorted((a, b) => a - b);

test("who bears the mark belongs to the family, with all that descend from it, however they are listed", () => {
  const rows = [
    row(104, { parent: 103 }),
    row(103, { parent: 102 }),
    row(102, { marks: ["theirs", "ours"] }),
    row(105, { marks: ["theirs"] }),
    row(106, { parent: 105 }),
  ];
  expect(pids(rows, marked)).toEqual([102, 103, 104]);
});

test("a process that has left its parent is found by the group or session of a member", () => {
  const rows = [
    row(102, { marks: ["ours"] }),
    row(103, { group: 102 }),
    row(104, { session: 102 }),
    row(105, { group: 104, session: 104 }),
  ];
  expect(pids(rows, marked)).toEqual([102, 103, 104, 105]);
});

test("who is in the founder's session belongs to the family though the founder has ended", () => {
  const traits = { ...nobody, founders: new Map([[200, "t200"]]) };
  expect(pids([row(201, { session: 200 }), row(202, { group: 200 }), row(203)], traits)).toEqual([201, 202]);
});

test("a process that got a founder's pid later is a stranger, with all of its session", () => {
  const traits = { ...nobody, founders: new Map([[200, "t200"]]) };
  expect(pids([row(200, { startTime: "later" }), row(201, { session: 200 })], traits)).toEqual([]);
  expect(pids([row(200), row(201, { session: 200 })], traits)).toEqual([200, 201]);
});

test("a member that was seen before is known by pid and start time, not by pid alone", () => {
  const traits = { ...nobody, descendants: new Map([[300, "t300"]]) };
  expect(pids([row(300), row(301, { parent: 300 })], traits)).toEqual([300, 301]);
  expect(pids([row(300, { startTime: "later" }), row(301, { parent: 300 })], traits)).toEqual([]);
});

test("a process that was stopped stays a member though it has lost every other trait", () => {
  expect(pids([row(400), row(401)], { ...nobody, held: new Set([400]) })).toEqual([400]);
});

test("neither the gateway, nor init, nor the guardian's session is ever a member", () => {
  const marks = ["ours"];
  const rows = [
    row(1, { parent: 0, marks }),
    row(process.pid, { marks }),
    row(500, { marks }),
    row(501, { session: 500, marks }),
    row(502, { marks }),
    row(503),
  ];
  expect(pids(rows, marked, [500])).toEqual([502]);
});
