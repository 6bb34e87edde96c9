import { describe, expect, test } from "vitest";
import { padCells, toCell, toClockText, toInstanceText, toMsText } from "./record-cells.ts";

test("a time of today has no date, one of another day has", () => {
  const now = new Date(2026, 10, 22, 15, 0, 0);
  expect(toClockText(new Date(2026, 10, 22, 9, 5, 7).toISOString(), now)).toBe("09:05:07");
  expect(toClockText(new Date(2026, 10, 21, 23, 59, 59).toISOString(), now)).toBe("2026-11-21 23:59:59");
});

test.each([
  [0.2, "0 ms"],
  [340.4, "340 ms"],
  [1_500, "1.5 s"],
  [90_000, "1.5 min"],
])("a duration of %d ms is %s", (ms, text) => {
  expect(toMsText(ms)).toBe(text);
});

describe("an instance is shown by", () => {
  test.each([
    ["its server", { server: "fs", instance: "fs" }, "fs"],
    [
      "its server, where it is the only person's own",
      { server: "fs", instance: "fs-none-local-0a1b", owner: "local" },
      "fs",
    ],
    ["its server and its person", { server: "fs", instance: "fs-none-ann-0a1b", owner: "ann" }, "fs (ann)"],
    [
      "the beginning of its client",
      { server: "fs", instance: "fs-none-local-0a1b@0123456789ab", owner: "local" },
      "fs@012345",
    ],
    ["both", { server: "fs", instance: "fs-none-ann@home-0a1b@0123456789ab", owner: "ann" }, "fs@012345 (ann)"],
  ])("%s", (_how, instance, text) => {
    expect(toInstanceText(instance)).toBe(text);
  });
});

test("a text of somebody else cannot leave its cell", () => {
  expect(toCell("a\u001b[2Jb\n\n  c\u202e", 40)).toBe("a [2Jb c");
  expect(toCell("abcdef", 4)).toBe("abc…");
});

test("cells of a single line stand below those of the others", () => {
  const widths = [3, 1, 5].map((width) => ({ heading: "", width }));
  expect(padCells(["a", "bb", ""], widths)).toBe("a    bb");
  const columns = [
    { heading: "NAME", width: 4 },
    { heading: "TOOK", width: 6, align: "right" },
    { heading: "LINE", width: 0 },
  ] as const;
  expect(["a", "abcdef", "abcdefghijkl"].map((name) => padCells([name, "7 ms", "x"], columns))).toEqual([
    "a       7 ms  x",
    "abcdef  7 ms  x",
    "abcdefghijkl  7 ms  x",
  ]);
});
