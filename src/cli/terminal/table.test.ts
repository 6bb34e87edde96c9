import { describe, expect, test } from "vitest";
import { printTable, toTable, type Column } from "./table.ts";

const columns = [{ heading: "server" }, { heading: "calls", align: "right" }, { heading: "what" }] as const;

test("a column is as wide as its widest cell or heading, and numbers stand at its right", () => {
  const rows = [
    ["a", "7", "first"],
    ["longer-than-that", "123456", "x"],
  ];
  expect(toTable(columns, rows)).toEqual([
    "server             calls  what",
    "a                      7  first",
    "longer-than-that  123456  x",
  ]);
});

test("no line ends in spaces, and a cell that is missing is empty", () => {
  expect(toTable(columns, [["a"], ["b", "1", ""]])).toEqual(["server  calls  what", "a", "b           1"]);
});

test("without rows the heading stands alone", () => {
  expect(toTable(columns, [])).toEqual(["server  calls  what"]);
});

describe("in a terminal that is too narrow", () => {
  const servers: readonly Column[] = [
    { heading: "SERVER" },
    { heading: "STATUS" },
    { heading: "TOOLS", align: "right", rank: 1 },
    { heading: "MEMORY", align: "right", rank: 2 },
  ];
  const rows = [
    ["github", "online", "26", "50 MB"],
    ["refused", "does not answer", "-", "-"],
  ];
  const lined = (room: number, shown: readonly Column[], cells: readonly (readonly string[])[]): string =>
    toTable(shown, cells, { room }).join("\n");

  test("columns are left out by their rank, and those without one stay", () => {
    expect(lined(40, servers, rows)).toBe(
      "SERVER   STATUS           TOOLS  MEMORY\ngithub   online              26   50 MB\nrefused  does not answer      -       -",
    );
    expect(lined(38, servers, rows).split("\n")[0]).toBe("SERVER   STATUS           TOOLS");
    expect(lined(30, servers, rows).split("\n")[0]).toBe("SERVER   STATUS");
  });

  test("a text is cut or wrapped between words before a column is left out", () => {
    const text = "Lists what is there and what is not";
    const cut: readonly Column[] = [{ heading: "TOOL" }, { heading: "ABOUT", fit: "cut", least: 12 }];
    expect(lined(24, cut, [["a:b", text]])).toBe("TOOL  ABOUT\na:b   Lists what is…");
    const wrapped: readonly Column[] = [{ heading: "TOOL" }, { heading: "ABOUT", fit: "wrap", least: 12 }];
    expect(lined(24, wrapped, [["a:b", text]])).toBe(
      "TOOL  ABOUT\na:b   Lists what is\n      there and what is\n      not",
    );
  });

  test("what to do goes below its row, where it has the whole line", () => {
    const next: readonly Column[] = [...servers, { heading: "NEXT", fit: "below" }];
    const [first = [], second = []] = rows;
    const cells = [
      [...first, ""],
      [...second, "toolyard restart refused  # nothing listens there"],
    ];
    expect(lined(40, next, cells)).toBe(
      [
        "SERVER   STATUS           TOOLS  MEMORY",
        "github   online              26   50 MB",
        "refused  does not answer      -       -",
        "    toolyard restart refused  # nothing",
        "    listens there",
      ].join("\n"),
    );
  });

  test.each([12, 20, 33, 80])("no line is longer than %i columns, and each word of what stays is whole", (room) => {
    const path = [["/home/me/some/folder/of/a/client.json", "a word and another"]];
    const all: readonly Column[] = [{ heading: "FILE" }, { heading: "ABOUT", fit: "wrap", least: 10, rank: 1 }];
    const lines = toTable(all, path, { room });
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(room);
    // A path is broken behind one of its slashes, where there is one.
    if (room >= 12) expect(lines.join("")).not.toMatch(/[a-z]\s+[a-z]+\//);
  });

  test("wide characters take two columns", () => {
    const names: readonly Column[] = [{ heading: "NAME" }, { heading: "ABOUT", fit: "cut", least: 6 }];
    expect(toTable(names, [["工具", "x"]], { room: 80 })[1]).toBe("工具  x");
    expect(toTable(names, [["工具", "列出 所有 文件"]], { room: 14 })[1]).toBe("工具  列出…");
  });
});

test("colours are around texts, not around the room between them", () => {
  const shown: readonly Column[] = [{ heading: "A", style: () => "red" }, { heading: "B" }];
  const paint = (style: unknown, text: string): string => `<${String(style)}>${text}</>`;
  expect(toTable(shown, [["x", "y"]], { paint })).toEqual(["<dim>A  B</>", "<red>x</>  y"]);
});

test("a table that is printed without a terminal has everything", () => {
  const written: string[] = [];
  const { write } = process.stdout;
  process.stdout.write = ((text: string) => written.push(text) > 0) as typeof write;
  try {
    printTable(["A", "B"], [["x".repeat(200), "y"]]);
  } finally {
    process.stdout.write = write;
  }
  expect(written).toEqual([`A${" ".repeat(199)}  B\n${"x".repeat(200)}  y\n`]);
});
