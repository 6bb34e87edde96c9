import { execFile } from "node:child_process";
import { parseArgs, promisify } from "node:util";
import fc from "fast-check";
import { expect, test } from "vitest";
import { readEvents, type StreamEvent } from "../../web/src/api/event-text.ts";
import { hasInexactNumber, indentJson, inexactPaths, memberText } from "../../web/src/words/text/exact-json.ts";
import { agoByHour, duration, plain, tokenCount } from "../../web/src/words/format.ts";
import { toGivenValue, toTypedValue } from "../../web/src/words/settings/server-values.ts";
import { settingDrafts } from "../../web/src/words/settings/setting-drafts.ts";
import { toSettingGroups } from "../../web/src/words/settings/setting-fields.ts";
import { fillTemplate, templateNames } from "../../web/src/words/uri-template.ts";
import { needsPerson, remedies, statusWords } from "../../web/src/words/status.ts";
import { shellWord, splitWords, toCommand } from "../../web/src/words/words.ts";

test("JSON is indented without changing a value, as JSON.stringify would indent it", () => {
  fc.assert(
    fc.property(fc.jsonValue({ noUnicodeString: false }), (value) => {
      const text = JSON.stringify(value);
      expect(indentJson(text)).toBe(JSON.stringify(value, undefined, 2));
    }),
  );
});

test("numbers that JavaScript cannot hold keep their digits", () => {
  const text = '{"a":[9007199254740993,1.10,1e400],"b":"9007199254740993"}';
  expect(indentJson(text)).toContain("9007199254740993,\n    1.10,\n    1e400");
  expect(memberText(text, "a")).toBe("[9007199254740993,1.10,1e400]");
  expect(memberText(text, "c")).toBeUndefined();
  expect(memberText("[1]", "a")).toBeUndefined();
});

test("a member's text is what JSON.parse has there", () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (value) => {
      const text = JSON.stringify(value, undefined, 1);
      for (const [name, member] of Object.entries(value)) {
        const found = memberText(text, name);
        expect(found === undefined ? undefined : JSON.parse(found)).toEqual(JSON.parse(JSON.stringify(member)));
      }
    }),
  );
});

test.each([
  ["{}", false],
  ['{"a":12.5,"b":-3}', false],
  ['{"a":9007199254740993}', true],
  ['{"a":"9007199254740993"}', false],
  ['{"a":"\\"9007199254740993"}', false],
  ['{"a":0.12345678901234567}', true],
])("whether a form would change %s: %s", (text, isInexact) => {
  expect(hasInexactNumber(text)).toBe(isInexact);
});

test.each([
  ["npx -y pkg", ["npx", "-y", "pkg"]],
  [`sh -c "echo 'a b'"`, ["sh", "-c", "echo 'a b'"]],
  [String.raw`a\ b 'c\d' ""`, ["a b", String.raw`c\d`, ""]],
  ["", []],
])("the words of %s", (line, words) => {
  expect(splitWords(line)).toEqual(words);
});

test("what a server wrote stays one word of a shell's line, and runs nothing", async () => {
  const hostile = ["a b", "it's", "'; touch x; '", "$(id)`id`$HOME", "--", "\\", "*", ""];
  const { stdout } = await promisify(execFile)("sh", ["-c", `printf '<%s>' ${hostile.map(shellWord).join(" ")}`]);
  expect(stdout).toBe(hostile.map((text) => `<${text}>`).join(""));
  expect(shellWord("a\nrm\u001b[201~\u0085")).toBe("'arm[201~'");
  expect(splitWords(["x y", "$z"].map(shellWord).join(" "))).toEqual(["x y", "$z"]);
});

test("a command leaves out what was not given, and keeps each name one word", () => {
  expect(toCommand("tools", [""], { match: "", json: false })).toBe("toolyard tools");
  const made = toCommand("calls", [], { failed: true, server: "a'; id", tool: undefined });
  expect(made).toBe(String.raw`toolyard calls --failed --server='a'\''; id'`);
  expect(splitWords(toCommand("logs", ["x y"], { level: "info" }))).toEqual([
    ...["toolyard", "logs", "--level=info", "x y"],
  ]);
});

test("a command is read as it was meant, also where names and filters begin with a hyphen", () => {
  const [, , ...args] = splitWords(toCommand("tools", ["--json", "-"], { match: "-x --y", json: true }));
  const options = { match: { type: "string" }, json: { type: "boolean" } } as const;
  const { values, positionals } = parseArgs({ args, options, allowPositionals: true, strict: true });
  expect([values, positionals]).toEqual([{ match: "-x --y", json: true }, ["--json", "-"]]);
});

test("tokens say when they are estimated; none are none", () => {
  const given = [
    { tokens: 1204, isExact: true },
    { tokens: 1204, isExact: false },
    { tokens: 0, isExact: false },
  ];
  expect(given.map(tokenCount)).toEqual(["1,204", "about 1,204", "0"]);
});

test.each([
  ["disabled", "enable", "Off", false, "Switch it on"],
  ["disabled", "correct", "Wrong entry", true, "Correct its entry"],
  ["disabled", "start", "Stopped", false, "Start it"],
  ["error", "see-log", "Cannot start", true, "See its log"],
  ["requires_reauth", "log-in", "Needs login", true, "Log in"],
] as const)("a server that is %s, where one would %s, is called %s", (status, step, word, isIll, remedy) => {
  const standing = { status, dormant: false, next: { step, text: "", command: null } };
  expect([statusWords(standing).word, needsPerson(standing), remedies[step].word]).toEqual([word, isIll, remedy]);
  expect(statusWords({ ...standing, dormant: true })).toEqual({ word: "Asleep: a call starts it", tone: "asleep" });
});

test("what has no shape is marked, what people write is not", () => {
  expect(plain("a\u202eb\u001b[1m\u{E0041}\u0000")).toBe("a⟦U+202E⟧b⟦U+001B⟧[1m⟦U+E0041⟧⟦U+0000⟧");
  expect(plain("Ünïcödé 日本語 👩‍👩‍👧 line\n\ttab\r\n")).toBe("Ünïcödé 日本語 👩‍👩‍👧 line\n\ttab\n");
});

test("what a text changes of the settings of a file, whoever wrote it", () => {
  const paths = ["toolyard.limits.sessions", "toolyard.exposure", "toolyard.hosts"];
  const before = '{ "toolyard": { "limits": { "sessions": 12 }, "hosts": ["a"] } }';
  const now = '{ "toolyard": { "exposure": "flat", /* why */ "hosts": [ "a", ], "other": 1 } }';
  expect(settingDrafts(before, now, paths)).toEqual({
    "toolyard.limits.sessions": { value: undefined },
    "toolyard.exposure": { value: "flat" },
  });
  expect(settingDrafts(before, before.replace(": 12", ":  12"), paths)).toEqual({});
  expect(settingDrafts("{}", '{ "toolyard": { "limits": { "sessions": "${N}" }, ', paths)).toEqual({
    "toolyard.limits.sessions": { value: "${N}" },
  });
});

test("further arguments of a server are one on each line, with their spaces", () => {
  const args = ["--name", "My files", "-v"];
  expect(toGivenValue("args", toTypedValue(args))).toEqual(args);
  expect(toGivenValue("args", "a b\n\nc\n")).toEqual(["a b", "c"]);
  expect([toGivenValue("env.KEY", "a b"), toGivenValue("args", ""), toTypedValue(null)]).toEqual(["a b", null, ""]);
});

test("whole numbers that a form cannot hold are found wherever they stand", () => {
  const value = { id: 2 ** 53 + 2, list: [1, { deep: -(2 ** 53) }], text: "9007199254740993", most: 2 ** 53 - 1 };
  expect(inexactPaths(value)).toEqual([["id"], ["list", "1", "deep"]]);
  expect(inexactPaths({ half: 0.5, none: null })).toEqual([]);
});

test("durations read as people say them", () => {
  expect([340, 1_500, 61_000, 8_040_000, 200 * 3_600_000].map(duration)).toEqual([
    "340 ms",
    "1.5 s",
    "1 min",
    "2 h 14 min",
    "8 d 8 h",
  ]);
});

test("a stream is read event by event, wherever its bytes are cut", async () => {
  const text = 'id: 1\nevent: a\ndata: {"x":"ü"}\n\n: keep-alive\n\nid: 2\ndata: one\ndata: two\n\n';
  const bytes = new TextEncoder().encode(text);
  for (let size = 1; size < bytes.length; size += 3) {
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        for (let at = 0; at < bytes.length; at += size) controller.enqueue(bytes.slice(at, at + size));
        controller.close();
      },
    });
    const events: StreamEvent[] = [];
    await readEvents(body, (event) => events.push(event));
    expect(events).toEqual([
      { id: "1", type: "a", data: '{"x":"ü"}' },
      { id: "2", type: "message", data: "one\ntwo" },
    ]);
  }
});

test.each([
  ["demo://text/{id}", { id: "a b" }, "demo://text/a%20b"],
  ["file:///{+path}", { path: "a/b c" }, "file:///a/b%20c"],
  ["https://x/{a,b}{?q,limit}", { a: "1", q: "ü&" }, "https://x/1?q=%C3%BC%26"],
  ["x{/a*}{;b}{.c}{#d}{&e}", { a: "1", b: "2", c: "3", d: "4/5", e: "6" }, "x/1;b=2.3#4/5&e=6"],
  ["x/{name:3}", { name: "abcdef" }, "x/abc"],
  ["x{?q}", {}, "x"],
])("the template %s is filled in as RFC 6570 says", (template, values, uri) => {
  expect(fillTemplate(template, values)).toBe(uri);
});

test("a template's variables are named once, in order, without their modifiers", () => {
  expect(templateNames("x/{+path}/{name:3}{?q*,path}")).toEqual(["path", "name", "q"]);
});

test("settings are grouped as in the schema, each with the kind of field that it takes", () => {
  const leaf = { description: "Why." };
  const schema = {
    properties: {
      toolyard: {
        properties: {
          host: { ...leaf, type: "string" },
          limits: {
            description: "How much.",
            properties: {
              calls: { ...leaf, anyOf: [{ type: "integer" }, { type: "string" }], minimum: 1, maximum: 9 },
              deep: { properties: { on: { ...leaf, type: "boolean" } } },
            },
          },
          mode: { ...leaf, anyOf: [{ enum: ["a", "b"] }, { type: "string" }] },
          site: {
            ...leaf,
            anyOf: [
              { type: "string", pattern: "^https:" },
              { type: "string", pattern: "\\$" },
            ],
          },
          names: { ...leaf, type: "array", items: { type: "string" } },
          teams: { ...leaf, type: "object", additionalProperties: {} },
        },
      },
    },
  };
  const groups = toSettingGroups(schema);
  expect(groups.map(({ name, fields }) => [name, fields.map((field) => [field.path, field.kind])])).toEqual([
    [
      "",
      [
        ["toolyard.host", "text"],
        ["toolyard.mode", "choice"],
        ["toolyard.site", "text"],
        ["toolyard.names", "list"],
        ["toolyard.teams", "other"],
      ],
    ],
    [
      "limits",
      [
        ["toolyard.limits.calls", "number"],
        ["toolyard.limits.deep.on", "boolean"],
      ],
    ],
  ]);
});

test("what is known by the hour is told so", () => {
  const now = Date.parse("2026-03-04T15:59:59Z");
  expect(agoByHour("2026-03-04T15:00:00Z", now)).toBe("this hour");
  expect(agoByHour("2026-03-04T14:00:00Z", now)).toMatch(/^[12] hr\. ago$/);
  expect(agoByHour("2026-03-01T14:00:00Z", now)).toBe("3 days ago");
});
