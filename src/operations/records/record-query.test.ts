import { describe, expect, test } from "vitest";
import type { PrincipalId } from "../../kernel/ids.ts";
import type { Services } from "../services.ts";
import { toPageQuery, toReader } from "./record-query.ts";

describe("a page of records", () => {
  test("goes back from now without parameters, or with empty ones", () => {
    const everything = { limit: 100, before: undefined, fromMs: undefined, toMs: undefined };
    expect(toPageQuery({ limit: 100 })).toEqual(everything);
    expect(toPageQuery({ limit: 100, cursor: "", from: "", to: "" })).toEqual(everything);
  });

  test("takes times as ISO 8601, with any offset, and as milliseconds", () => {
    expect(toPageQuery({ limit: 1, from: "2026-11-22T10:00:00+02:00", to: "1795334400000" })).toMatchObject({
      fromMs: Date.UTC(2026, 10, 22, 8),
      toMs: 1_795_334_400_000,
    });
  });

  test.each([
    ["2026", Date.UTC(2026, 0)],
    ["2026-11", Date.UTC(2026, 10)],
    ["2026-11-22", Date.UTC(2026, 10, 22)],
    ["2026-11-22T10:00Z", Date.UTC(2026, 10, 22, 10)],
    ["2026-11-22 10:00:00.250Z", Date.UTC(2026, 10, 22, 10, 0, 0, 250)],
    ["0", 0],
  ])("takes %s for what it is", (from, fromMs) => expect(toPageQuery({ limit: 1, from })).toMatchObject({ fromMs }));

  test.each([
    ["from", "yesterday"],
    ["from", "-5"],
    ["from", "day 5"],
    ["to", "11/22/2026"],
    ["to", "2026-13-01"],
    ["to", "1234567890123456"],
  ] as const)("names the parameter when %s is %j", (field, text) => {
    expect(() => toPageQuery({ limit: 1, [field]: text })).toThrow(
      expect.objectContaining({ code: "PARAMS_INVALID", data: { field: `querystring.${field}` } }),
    );
  });

  test("follows the row that the cursor names", () => {
    expect(toPageQuery({ limit: 1, cursor: "0" }).before).toBe(0);
    expect(toPageQuery({ limit: 1, cursor: "9007199254740991" }).before).toBe(Number.MAX_SAFE_INTEGER);
  });

  test.each(["9007199254740992", "-1", "1.5", "0x10", "1e3", " 1", "abc"])("refuses the cursor %j", (cursor) => {
    expect(() => toPageQuery({ limit: 1, cursor })).toThrow(expect.objectContaining({ code: "CURSOR_INVALID" }));
  });
});

describe("who may read what", () => {
  const reader = (isOpen: boolean, roles: readonly string[]) =>
    toReader({ isOpen: () => isOpen } as unknown as Services, {
      id: "ann" as PrincipalId,
      team: null,
      roles,
      scopes: [],
      user: null,
      via: "config",
    });

  test("an admin sees that others call, but neither what they say nor their instances' logs", () => {
    expect(reader(false, ["admin"])).toEqual({ id: "ann", calls: "all", contents: "own", logs: "own" });
  });

  test("anybody else sees only what is their own, whatever their other roles are called", () => {
    expect(reader(false, ["user", "administrator"])).toEqual({ id: "ann", calls: "own", contents: "own", logs: "own" });
  });

  test("the only person of a gateway without credentials sees all calls and logs", () => {
    expect(reader(true, [])).toMatchObject({ calls: "all", logs: "all" });
  });
});
