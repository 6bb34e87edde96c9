import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseDocument } from "../file/document.ts";
import { editJson } from "./json-change.ts";

const written = `// Who may do what
{
  "mcpServers": {
    // the tracker
    "github": { "command": "npx", "args": ["-y", "gh"] }, // ours
    /* of the team */
    "files": {
      "command": "files", // no arguments
      "env": { "A": "1" }
    } // last
  },
  "toolyard": { "port": 4000 },
}
`;
const value = (text: string): unknown => JSON.parse(JSON.stringify(parseDocument(text, "f.json").value([])));

describe("a new member", () => {
  test("comes behind the last one and its comment, indented as its neighbours are", () => {
    const text = editJson(written, [{ path: ["mcpServers", "new"], value: { command: "x", args: ["-a", "b"] } }]);
    expect(text).toBe(
      written.replace(
        "    } // last\n",
        `    }, // last\n    "new": {\n      "command": "x",\n      "args": ["-a", "b"]\n    }\n`,
      ),
    );
  });

  test("of an object on one line stays on that line", () => {
    const text = editJson(written, [{ path: ["mcpServers", "github", "enabled"], value: false }]);
    expect(text).toBe(written.replace(`"gh"] }`, `"gh"], "enabled": false }`));
  });

  test("keeps the comma that somebody likes at the end", () => {
    const text = editJson(written, [{ path: ["inputs"], value: [] }]);
    expect(text).toBe(written.replace(`"port": 4000 },\n`, `"port": 4000 },\n  "inputs": [],\n`));
  });

  test("brings the objects on its way along", () => {
    const text = editJson(`{\n\t"a": 1\n}\n`, [{ path: ["mcpServers", "x", "url"], value: "u" }]);
    expect(text).toBe(`{\n\t"a": 1,\n\t"mcpServers": {\n\t\t"x": {\n\t\t\t"url": "u"\n\t\t}\n\t}\n}\n`);
  });

  test.each([
    [`{}`, `{\n  "a": 1\n}`],
    [`{\n}\n`, `{\n  "a": 1\n}\n`],
    [`{\n  // nothing yet\n}\n`, `{\n  // nothing yet\n  "a": 1\n}\n`],
    [`{ "b": 2 }`, `{ "b": 2, "a": 1 }`],
    [`{"b":2,}`, `{"b":2, "a": 1,}`],
    [`{ "b": 2 // two\n}`, `{ "b": 2, // two\n  "a": 1\n}`],
    ["", `{\n  "a": 1\n}\n`],
  ])("of %j", (before, after) => {
    expect(editJson(before, [{ path: ["a"], value: 1 }])).toBe(after);
  });
});

describe("a removed member", () => {
  test("leaves every comment, also the one behind it: nobody knows what it was about", () => {
    const text = editJson(written, [{ path: ["mcpServers", "github"], value: undefined }]);
    expect(text).toBe(written.replace(`"github": { "command": "npx", "args": ["-y", "gh"] }, // ours\n`, "// ours\n"));
  });

  test("that was the last takes the comma before it along, and not the comment there", () => {
    const text = editJson(written, [{ path: ["mcpServers", "files"], value: undefined }]);
    expect(text).toContain(`"gh"] } // ours\n    /* of the team */\n`);
    expect(Object.keys((value(text) as { mcpServers: object }).mcpServers)).toEqual(["github"]);
  });

  test.each([
    [`{ "a": 1, "b": 2 }`, "a", `{ "b": 2 }`],
    [`{ "a": 1, "b": 2 }`, "b", `{ "a": 1 }`],
    [`{"a":1}`, "a", `{}`],
    [`{ "a": 1, "b": 2, }`, "b", `{ "a": 1, }`],
    [`{\n  "a": 1\n  , "b": 2\n}`, "a", `{\n\n"b": 2\n}`],
    [`{ "b": 2 }`, "a", `{ "b": 2 }`],
  ])("of %j: %s", (before, key, after) => {
    const text = editJson(before, [{ path: [key], value: undefined }]);
    expect(text.replaceAll(/^[ \t]+/gm, "")).toBe(after.replaceAll(/^[ \t]+/gm, ""));
  });
});

test("a value that there is already is replaced where it stands", () => {
  const text = editJson(written, [{ path: ["toolyard", "port"], value: 5000 }]);
  expect(text).toBe(written.replace("4000", "5000"));
});

test("a byte-order mark, CRLF and tabs are kept, and used", () => {
  const before = `\uFEFF{\r\n\t"a": {}\r\n}\r\n`;
  const after = editJson(before, [{ path: ["a", "b"], value: { c: 1 } }]);
  expect(after).toBe(`\uFEFF{\r\n\t"a": {\r\n\t\t"b": {\r\n\t\t\t"c": 1\r\n\t\t}\r\n\t}\r\n}\r\n`);
});

test("a path through something else than an object is refused", () => {
  expect(() => editJson(`{ "a": [1] }`, [{ path: ["a", "b"], value: 1 }])).toThrow("expected an object at a");
});

/** Texts as people write them: the same data with any spacing, comments and trailing commas. */
const gap = fc.constantFrom("", " ", "\n", "\r\n  ", " /* c */ ", " // c\n", "\n  // above\n  ", "\t");
const key = fc.constantFrom("a", "b", "c", 'q"', "é", "1");
const jsonText: fc.Arbitrary<string> = fc.letrec<{ value: string; object: string }>((tie) => ({
  value: fc.oneof({ maxDepth: 3 }, fc.constantFrom("1", "null", '"t // no"', "[1, /* c */ 2]"), tie("object")),
  object: fc
    .tuple(
      fc.uniqueArray(fc.tuple(key, tie("value"), gap, gap, gap), { maxLength: 4, selector: ([name]) => name }),
      gap,
      fc.boolean(),
    )
    .map(([members, end, hasComma]) => {
      const texts = members.map(([name, member, g1, g2, g3]) => `${g1}${JSON.stringify(name)}:${g2}${member}${g3}`);
      return `{${texts.join(",")}${hasComma && texts.length > 0 ? "," : ""}${end}}`;
    }),
})).object;

function setIn(data: unknown, [first = "", ...rest]: readonly string[], next: unknown): unknown {
  const object = data as Record<string, unknown>;
  if (rest.length > 0) return { ...object, [first]: setIn(object[first] ?? {}, rest, next) };
  const { [first]: _old, ...others } = object;
  return next === undefined ? others : { ...object, [first]: next };
}

test("whatever the text looks like, an edit changes that one member and no comment above another", () => {
  const path = fc.array(key, { minLength: 1, maxLength: 3 });
  const next = fc.constantFrom<unknown>(undefined, 7, { x: ["y"] }, []);
  fc.assert(
    fc.property(jsonText, path, next, (text, where, to) => {
      const before = value(text);
      const through = where.slice(0, -1).every((_, index) => {
        const at = where.slice(0, index + 1).reduce<unknown>((data, name) => Object(data)[name] as unknown, before);
        return at === undefined || (typeof at === "object" && at !== null && !Array.isArray(at));
      });
      fc.pre(through);
      const isThere = where.reduce<unknown>((data, name) => Object(data)[name] as unknown, before) !== undefined;
      const after = editJson(text, [{ path: where, value: to }]);
      expect(value(after)).toEqual(to === undefined && !isThere ? before : setIn(before, where, to));
      const above = (of: string) => of.split("// above").length;
      if (!isThere) expect(above(after)).toBe(above(text));
    }),
    { numRuns: 2_000 },
  );
});
