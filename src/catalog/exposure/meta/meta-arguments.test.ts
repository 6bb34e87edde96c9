import { describe, expect, test } from "vitest";
import { readDiscoverArguments, readListArguments, readUriArgument } from "./meta-arguments.ts";

describe("arguments of discover_mcp_tools", () => {
  test("FAULT 63: the limit is clamped, whatever it is", () => {
    for (const [limit, read] of [
      [-1, 1],
      [0, 1],
      [1e9, 50],
      [Number.NaN, 10],
      ["10", 10],
      ["x", 10],
      ["", 10],
      [null, 10],
      [{}, 10],
      [2.9, 2],
      [undefined, 10],
      [Infinity, 50],
    ] as const)
      expect(readDiscoverArguments({ limit }).limit, JSON.stringify(limit)).toBe(read);
  });

  test("nothing at all lists the servers; one query and several are told apart", () => {
    expect(readDiscoverArguments({})).toMatchObject({
      queries: [""],
      grouped: false,
      detail: "signature",
      readOnly: false,
    });
    expect(readDiscoverArguments({ query: "a" })).toMatchObject({ queries: ["a"], grouped: false });
    for (const given of [{ queries: ["", " "] }, { query: " " }, { query: "", queries: [] }])
      expect(readDiscoverArguments(given)).toMatchObject({ queries: [""], grouped: false });
    expect(readDiscoverArguments({ query: "", queries: ["a", ""] })).toMatchObject({ queries: ["a"], grouped: true });
    expect(readDiscoverArguments({ queries: ["a", "b"] })).toMatchObject({ queries: ["a", "b"], grouped: true });
  });

  test.each([
    [{ queries: "a" }, { queries: ["a"], grouped: true }],
    [{ queries: '["a", "b"]' }, { queries: ["a", "b"], grouped: true }],
    [{ queries: [null, "a"] }, { queries: ["a"], grouped: true }],
    [
      { query: ["a", "b"], queries: null },
      { queries: ["a", "b"], grouped: true },
    ],
    [{ query: ["a"] }, { queries: ["a"], grouped: false }],
    [{ query: "[draft] pages" }, { queries: ["[draft] pages"], grouped: false }],
    [
      { query: "a", detail: "Names", server: null, readOnly: null },
      { queries: ["a"], detail: "names" },
    ],
  ])("what %j means is clear", (given, read) => {
    expect(readDiscoverArguments(given)).toMatchObject(read);
  });

  test.each([
    { query: 7 },
    { query: {} },
    { queries: [1] },
    { queries: Array(11).fill("a") },
    { detail: "all" },
    { server: 7 },
  ])("%j is refused with the field's name", (given) => {
    expect(() => readDiscoverArguments(given)).toThrow(
      expect.objectContaining({ code: "ARGUMENTS_INVALID", data: { field: Object.keys(given)[0] } }),
    );
  });

  test("a query above 10 KB is an error of its own", () => {
    expect(() => readDiscoverArguments({ query: "x".repeat(10_241) })).toThrow(
      expect.objectContaining({ code: "QUERY_INVALID" }),
    );
    expect(() => readDiscoverArguments({ query: "漢".repeat(3_500) })).toThrow(
      expect.objectContaining({ code: "QUERY_INVALID" }),
    );
    expect(readDiscoverArguments({ query: "x".repeat(10_240) }).queries[0]).toHaveLength(10_240);
  });
});

test("the other tools' arguments", () => {
  expect(readListArguments({ server: "", query: null, cursor: "5" })).toEqual({
    kind: "list-resources",
    server: undefined,
    query: undefined,
    cursor: "5",
  });
  expect(() => readListArguments({ cursor: 5 })).toThrow(expect.objectContaining({ code: "ARGUMENTS_INVALID" }));
  expect(readUriArgument({ uri: "a|b" })).toBe("a|b");
  for (const uri of [undefined, "", 7, null])
    expect(() => readUriArgument({ uri })).toThrow(expect.objectContaining({ code: "ARGUMENTS_INVALID" }));
});
