import fc from "fast-check";
import { parse as parseJsonc } from "jsonc-parser";
import { describe, expect, test } from "vitest";
import type { ClientFormat } from "../table/client-row.ts";
import { changeClientText, readClientText, type ClientText } from "./client-text.ts";
import type { EntryChange } from "../../entry/entry-change.ts";

const http = { type: "http", url: "http://127.0.0.1:3001/mcp" };
const path = ["mcpServers", "toolyard"] as const;
const set = (value: unknown = http): EntryChange => ({ path, value });
const gone: EntryChange = { path, value: undefined };

async function change(text: string, changes: readonly EntryChange[], format: ClientFormat = "jsonc"): Promise<string> {
  return await changeClientText({ text, format, fileName: "file" }, changes);
}

/** Everything that was there still is, in its order: what was added can be cut out again. */
function expectOnlyAdded(before: string, after: string): void {
  let at = 0;
  for (const character of after) if (character === before[at]) at += 1;
  expect(at).toBe(before.length);
}

describe("JSON", () => {
  test("a new file gets the entry alone, and a line break at its end", async () => {
    expect(await change("", [set()])).toBe(
      `{\n  "mcpServers": {\n    "toolyard": {\n      "type": "http",\n      "url": "http://127.0.0.1:3001/mcp"\n    }\n  }\n}\n`,
    );
  });

  test("comments, tabs, trailing commas, CRLF and a byte-order mark stay", async () => {
    const lines = [
      "\uFEFF{",
      "\t// what I use",
      '\t"mcpServers": {',
      '\t\t"files": { "command": "npx" /* pinned */, "args": ["-y", "x",], }, // about files',
      "\t},",
      '\t"theme": "dark",',
      "}",
      "",
    ];
    const before = lines.join("\r\n");
    const after = await change(before, [set({ url: "u" })]);
    const added = ['\t\t"toolyard": {', '\t\t\t"url": "u"', "\t\t},"];
    expect(after).toBe([...lines.slice(0, 4), ...added, ...lines.slice(4)].join("\r\n"));
    expect(await change(after, [gone])).toBe(before);
  });

  test("a comment behind the last member stays with it", async () => {
    const before = `{\n  "mcpServers": {\n    "a": {} // the first\n    // more to come\n  }\n}`;
    expect(await change(before, [set("x")])).toBe(
      `{\n  "mcpServers": {\n    "a": {}, // the first\n    // more to come\n    "toolyard": "x"\n  }\n}`,
    );
  });

  test("what a program wrote in one line stays in one line", async () => {
    const before = `{"a":1,"mcpServers":{"x":{}}}`;
    expect(await change(before, [set("x")])).toBe(`{"a":1,"mcpServers":{"x":{}, "toolyard": "x"}}`);
    expect(await change(await change(before, [set("x")]), [gone])).toBe(before);
    expect(await change(`{"mcpServers":{"toolyard":{},"x":{}}}`, [gone])).toBe(before.replace('"a":1,', ""));
  });

  test("a removed member takes its own lines, and nobody's comment", async () => {
    const before = `{\n  "mcpServers": {\n    // mine\n    "a": {}, // about a\n    "toolyard": {\n      "url": "u"\n    }\n    // the end\n  }\n}\n`;
    expect(await change(before, [gone])).toBe(
      `{\n  "mcpServers": {\n    // mine\n    "a": {} // about a\n    // the end\n  }\n}\n`,
    );
    const commented = `{\n  "mcpServers": {\n    "toolyard": {}, // keep me\n    "b": {}\n  }\n}`;
    expect(await change(commented, [gone])).toContain("// keep me");
  });

  test("an entry that stands there already is replaced in its place", async () => {
    const before = `{ "mcpServers": { "toolyard": { "url": "old" }, "z": 1 } }`;
    expect(JSON.parse(await change(before, [set()]))).toEqual({ mcpServers: { toolyard: http, z: 1 } });
    expect(Object.keys((JSON.parse(await change(before, [set()])) as { mcpServers: object }).mcpServers)[0]).toBe(
      "toolyard",
    );
  });

  test("a value inside an entry is set and taken out again; lists grow at their end", async () => {
    const before = `{\n  "mcpServers": {\n    "a": { "command": "x" }\n  },\n  "off": [\n    "one"\n  ]\n}\n`;
    const off: EntryChange = { path: ["mcpServers", "a", "disabled"], value: true };
    const after = await change(before, [off, { path: ["off", 1], value: "two" }]);
    expect(parseJsonc(after)).toEqual({ mcpServers: { a: { command: "x", disabled: true } }, off: ["one", "two"] });
    expect(
      await change(after, [
        { ...off, value: undefined },
        { path: ["off", 1], value: undefined },
      ]),
    ).toBe(before);
  });

  test("any document keeps all it had, and removing gives it back", async () => {
    const key = fc
      .oneof(fc.constantFrom("mcpServers", "a b", "ä", "1"), fc.string({ maxLength: 4 }))
      .filter((name) => name !== "__proto__" && name !== "toolyard" && name !== "constructor" && name !== "prototype");
    const space = fc.constantFrom("", " ", "\n", "\n  ", " /* c */ ", " // d\n", "\n\n\t");
    const { value } = fc.letrec<{ value: string; object: string }>((tie) => ({
      value: fc.oneof({ maxDepth: 3 }, fc.constantFrom("1", "null", '"x,}"', "[]", "[1, 2]"), tie("object")),
      object: fc
        .tuple(
          fc.uniqueArray(key, { maxLength: 3 }),
          fc.array(tie("value"), { minLength: 3, maxLength: 3 }),
          fc.array(space, { minLength: 8, maxLength: 8 }),
          fc.boolean(),
        )
        .map(([keys, values, spaces, trailing]) => {
          const members = keys.map(
            (name, at) => `${spaces[at]}${JSON.stringify(name)}${spaces[at + 1]}:${values[at]}${spaces[at + 2]}`,
          );
          return `{${members.join(",")}${trailing && keys.length > 0 ? "," : ""}${spaces[7]}}`;
        }),
    }));
    await fc.assert(
      fc.asyncProperty(value, space, async (inner, end) => {
        const before = `{ "mcpServers": ${inner.startsWith("{") ? inner : "{}"}, "other": ${inner}${end}}`;
        const after = await change(before, [set()]);
        expectOnlyAdded(before.replaceAll(/\s/g, ""), after.replaceAll(/\s/g, ""));
        const meaning = await readClientText({ text: before, format: "jsonc", fileName: "file" });
        expect(await readClientText({ text: await change(after, [gone]), format: "jsonc", fileName: "file" })).toEqual(
          meaning,
        );
      }),
      { numRuns: 500 },
    );
  });
});

describe("TOML", () => {
  const table = ["mcp_servers", "toolyard"] as const;
  const entry = { url: "http://127.0.0.1:3001/mcp", http_headers: { Authorization: "Bearer x" } };
  const before =
    `# mine\nmodel = "gpt" # the large one\n\n[mcp_servers.files]\ncommand = "npx"\nargs = [\n  "[mcp_servers.toolyard]", # not a header\n  'it''s',\n]\n\n# how it looks\n[tui]\ntheme = """\n[mcp_servers.toolyard]\nurl = "no"\n"""\n`.replace(
      "''s",
      "s",
    );

  test("a table is added at the end and removed without a trace", async () => {
    const after = await change(before, [{ path: table, value: entry }], "toml");
    expect(after.startsWith(`${before}\n[mcp_servers.toolyard]\n`)).toBe(true);
    expect(after).toContain(`[mcp_servers.toolyard.http_headers]\nAuthorization = "Bearer x"\n`);
    expect(await change(after, [{ path: table, value: undefined }], "toml")).toBe(before);
  });

  test("CRLF, a byte-order mark and a missing last line break are kept in mind", async () => {
    const text = `\uFEFF${before.trimEnd().replaceAll("\n", "\r\n")}`;
    const after = await change(text, [{ path: table, value: entry }], "toml");
    expect(after.startsWith(`${text}\r\n\r\n[mcp_servers.toolyard]\r\n`)).toBe(true);
    expect(after.replaceAll("\r\n", "")).not.toContain("\n");
  });

  test("a table that is there is replaced in its place, with those inside it", async () => {
    const text = `[mcp_servers . "toolyard"] # ours\nurl = "old"\n# a note on the url\nstartup_timeout_sec = 5\n\n[mcp_servers.toolyard.tools.x]\napproval_mode = "approve"\n\n# how it looks\n[tui]\ntheme = "x"\n`;
    expect(await change(text, [{ path: table, value: { url: "new" } }], "toml")).toBe(
      `[mcp_servers.toolyard]\nurl = "new"\n\n# how it looks\n[tui]\ntheme = "x"\n`,
    );
    expect(await change(text, [{ path: table, value: undefined }], "toml")).toBe(
      `# how it looks\n[tui]\ntheme = "x"\n`,
    );
  });

  test("one value of a table is set and removed again", async () => {
    const off: EntryChange = { path: ["mcp_servers", "files", "enabled"], value: false };
    const after = await change(before, [off], "toml");
    expect(after).toContain(`[mcp_servers.files]\nenabled = false\ncommand = "npx"\n`);
    expect(await change(after, [{ ...off, value: true }], "toml")).toContain("enabled = true\n");
    expect(await change(after, [{ ...off, value: undefined }], "toml")).toBe(before);
  });

  test("an entry inside another table moves to one of its own", async () => {
    const text = `[mcp_servers]\ntoolyard = { url = "old" } # inline\nfiles = { command = "x" }\n`;
    const after = await change(text, [{ path: table, value: { url: "new" } }], "toml");
    expect(after).toBe(`[mcp_servers]\nfiles = { command = "x" }\n\n[mcp_servers.toolyard]\nurl = "new"\n`);
  });

  test.each([
    ["an inline table of all servers", `mcp_servers = { files = { command = "x" } }\n`],
    ["dotted keys", `mcp_servers.toolyard.url = "x"\n`],
    [
      "a list of tables",
      `[[mcp_servers.toolyard]]\nurl = "x"\n[[mcp_servers.toolyard]]\nurl = "y"\n[[mcp_servers.files]]\n`,
    ],
  ])("refused, not guessed: %s", async (_, text) => {
    const value = { path: table, value: { url: "new" } };
    let after: string | undefined;
    try {
      after = await change(text, [value], "toml");
    } catch (error) {
      expect(error).toMatchObject({ code: "CLIENT_FILE_UNUSABLE" });
    }
    // A form that can be edited after all has to mean the right thing.
    if (after !== undefined)
      expect(await readClientText({ text: after, format: "toml", fileName: "f" })).toHaveProperty(
        "mcp_servers.toolyard",
        {
          url: "new",
        },
      );
  });
});

describe("YAML", () => {
  const before = `# mine\nname: Me   # n\nmodels:\n    - name: a\n      apiBase: "1"\n# servers\nmcpServers:\n    # the first\n    - name: files # f\n      command: npx\n      args: ["-y", x]\n\n# the end\nrules: []\n`;

  test("an item is added at the end of the list, and all else stays", async () => {
    const after = await change(before, [{ path: ["mcpServers", 1], value: { name: "toolyard", url: "u" } }], "yaml");
    const [head, tail] = before.split("\n\n");
    expect(after).toBe(`${head}\n    - name: toolyard\n      url: u\n\n${tail}`);
    expect(await change(after, [{ path: ["mcpServers", 1], value: undefined }], "yaml")).toBe(before);
  });

  test("a list that is not there is added, with CRLF where the file has it", async () => {
    const text = "name: Me\r\n";
    const after = await change(text, [{ path: ["mcpServers", 0], value: { name: "toolyard" } }], "yaml");
    expect(after).toBe("name: Me\r\nmcpServers:\r\n  - name: toolyard\r\n");
  });

  test("a list at the column of its key stays there", async () => {
    const text = "mcpServers:\n- name: a\n  command: x\n";
    const after = await change(text, [{ path: ["mcpServers", 1], value: { name: "toolyard" } }], "yaml");
    expect(after).toBe(`${text}- name: toolyard\n`);
  });
});

test("null where the servers belong is as good as nothing there", async () => {
  const written = await change(`{\n  "a": 1, // mine\n  "mcpServers": null, // none\n}\n`, [set()]);
  expect(parseJsonc(written)).toEqual({ a: 1, mcpServers: { toolyard: http } });
  for (const comment of ["// mine", "// none"]) expect(written).toContain(comment);
  for (const before of ["mcpServers:\nname: mine # me\n", "name: mine # me\nmcpServers: ~\n"]) {
    const after = await change(before, [set()], "yaml");
    expect(await readClientText({ text: after, format: "yaml", fileName: "file" })).toEqual({
      name: "mine",
      mcpServers: { toolyard: http },
    });
    expect(after).toContain("# me");
  }
});

describe("what is refused, with the place", () => {
  const refusal = async (file: Omit<ClientText, "fileName">, wanted: EntryChange = set()): Promise<string> => {
    try {
      await changeClientText({ ...file, fileName: "mcp.json" }, [wanted]);
    } catch (error) {
      expect(error).toMatchObject({ code: "CLIENT_FILE_UNUSABLE" });
      return (error as Error).message;
    }
    throw new Error("was not refused");
  };

  test.each<[string, ClientFormat, string, string]>([
    ["broken JSON", "json", `{\n  "mcpServers": {\n`, "mcp.json:3:1: expected `}`"],
    ["a list", "json", `[]`, "mcp.json:1:1: expected a JSON object"],
    ["a key that stands twice on the way", "json", `{"mcpServers":{},"mcpServers":{}}`, "is here a second time"],
    ["servers that are no object", "json", `{"mcpServers":[]}`, "mcpServers.toolyard is written in a way"],
    ["broken TOML", "toml", `a = \n[b`, "mcp.json:1:5: "],
    ["broken YAML", "yaml", `a: [1\nb: 2\n`, "mcp.json:"],
    ["YAML that is no map", "yaml", `- 1\n`, "mcp.json:1:1: expected keys with values"],
  ])("%s", async (_, format, text, message) => {
    expect(await refusal({ text, format })).toContain(message);
  });

  test("YAML whose aliases would fill the memory", async () => {
    const lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"];
    for (let level = 1; level < 9; level += 1)
      lines.push(`a${level}: &a${level} [${Array.from({ length: 10 }, () => `*a${level - 1}`).join(", ")}]`);
    expect(await refusal({ text: lines.join("\n"), format: "yaml" })).toContain("has too many aliases");
  });
});
