import { expect, test } from "vitest";
import { createRowTable } from "./row-table.ts";

interface Row {
  readonly id: string;
  readonly name: string;
  readonly team: string | null;
}

function open() {
  const table = createRowTable<Row>(({ id }) => id);
  const [named, teams] = [table.unique(({ name }) => name), table.grouped(({ team }) => team)];
  table.put({ id: "1", name: "ann", team: "red" });
  table.put({ id: "2", name: "bob", team: "red" });
  table.put({ id: "3", name: "cat", team: null });
  return { table, named, teams, idsOf: (team: string) => teams.of(team).map(({ id }) => id) };
}

test("rows are found by their key, by a value of their own, and by one that they share", () => {
  const { table, named, teams, idsOf } = open();
  expect([table.rows.get("3")?.name, named("bob")?.id, named("dan")]).toEqual(["cat", "2", undefined]);
  expect([idsOf("red"), idsOf("blue"), [...teams.values()]]).toEqual([["1", "2"], [], ["red"]]);
});

test("a row that is replaced keeps its place, and is found by its new values alone", () => {
  const { table, named, teams, idsOf } = open();
  table.put({ id: "1", name: "ann", team: "red" });
  expect([[...table.rows.keys()], idsOf("red")]).toEqual([
    ["1", "2", "3"],
    ["1", "2"],
  ]);
  table.put({ id: "1", name: "anna", team: "blue" });
  table.put({ id: "2", name: "bob", team: null });
  expect([named("ann"), named("anna")?.id, idsOf("blue"), [...teams.values()]]).toEqual([
    undefined,
    "1",
    ["1"],
    ["blue"],
  ]);
});

test("rows swap a value that each has for itself", () => {
  const { table, named } = open();
  table.put({ id: "1", name: "bob", team: "red" });
  table.put({ id: "2", name: "ann", team: "red" });
  expect([named("ann")?.id, named("bob")?.id]).toEqual(["2", "1"]);
});

test("a row that is removed is nowhere, and what is missing is told", () => {
  const { table, named, idsOf } = open();
  expect(table.missing(["2", "9"])).toEqual(["1", "3"]);
  expect([table.remove("2")?.name, table.remove("2")]).toEqual(["bob", undefined]);
  expect([named("bob"), idsOf("red"), table.rows.size]).toEqual([undefined, ["1"], 2]);
});
