import { describe, expect, test } from "vitest";
import { sampleInstance } from "../../../test/sample-catalog.ts";
import type { ToolEntry } from "../../catalog/model/snapshot.ts";
import type { Caller } from "./caller.ts";
import { createParamHeaderCheck, paramHeadersOf } from "./param-headers.ts";

function toolWith(properties: Record<string, unknown>): ToolEntry {
  const [tool] = sampleInstance("s", [{ name: "tool", inputSchema: { type: "object", properties } }]).tools;
  if (tool === undefined) throw new Error("there is a tool");
  return tool;
}

const tool = toolWith({
  region: { type: "string", "x-mcp-header": "Region" },
  count: { type: "integer", "x-mcp-header": "Count" },
  dry: { type: "boolean", "x-mcp-header": "Dry" },
  deep: { type: "object", properties: { level: { type: "string", "x-mcp-header": "Level" } } },
  plain: { type: "string" },
});
const check = createParamHeaderCheck();
const encoded = (text: string): string => `=?base64?${Buffer.from(text).toString("base64")}?=`;

describe("headers that repeat arguments are right", () => {
  test.each([
    ["without any", {}, {}],
    ["for a text", { region: "eu" }, { "mcp-param-region": "eu" }],
    ["for an empty text", { region: "" }, { "mcp-param-region": "" }],
    ["for a text that no header can hold", { region: "ü\n" }, { "mcp-param-region": encoded("ü\n") }],
    ["for a number, however it is written", { count: 42 }, { "mcp-param-count": "42.0" }],
    ["for zero", { count: 0 }, { "mcp-param-count": "0" }],
    ["for false", { dry: false }, { "mcp-param-dry": "false" }],
    ["for a nested argument", { deep: { level: "low" } }, { "mcp-param-level": "low" }],
    ["for null, which has no header", { region: null }, {}],
    ["for an argument that none repeats", { plain: "x" }, {}],
    ["beside one that the tool does not know", {}, { "mcp-param-other": "x" }],
  ])("%s", (_what, args, headers) => expect(() => check(tool, args, headers)).not.toThrow());
});

describe("a call is refused whose headers", () => {
  test.each([
    ["are missing", { region: "eu" }, {}, "the Mcp-Param-Region header is missing"],
    ["say something else", { region: "eu" }, { "mcp-param-region": "us" }, "does not match the argument region"],
    ["have another case", { region: "eu" }, { "mcp-param-region": "EU" }, "does not match the argument region"],
    ["have what the arguments have not", {}, { "mcp-param-region": "eu" }, "does not match the argument region"],
    ["have a text for null", { region: null }, { "mcp-param-region": "null" }, "does not match"],
    ["have nothing for zero", { count: 0 }, { "mcp-param-count": "" }, "does not match the argument count"],
    ["have spaces for zero", { count: 0 }, { "mcp-param-count": "  " }, "does not match the argument count"],
    ["have another number", { count: 42 }, { "mcp-param-count": "43" }, "does not match the argument count"],
    ["name a nested argument", { deep: { level: "low" } }, { "mcp-param-level": "x" }, "the argument deep.level"],
    ["have broken Base64", { region: "eu" }, { "mcp-param-region": "=?base64?e?=" }, "cannot be decoded"],
  ])("%s", (_what, args, headers, message) => {
    expect(() => check(tool, args, headers)).toThrow(
      expect.objectContaining({ code: "HEADER_MISMATCH", message: expect.stringContaining(message) }),
    );
  });

  test("come with arguments that are no object", () => {
    for (const args of [undefined, null, "eu", ["eu"]])
      expect(() => check(tool, args, { "mcp-param-region": "eu" })).toThrow("does not match");
  });
});

test("nothing is expected of a tool whose annotations nobody could follow", () => {
  const faulty = toolWith({ region: { type: "string", "x-mcp-header": "My Region" } });
  expect(() => check(faulty, { region: "eu" }, {})).not.toThrow();
});

describe("header parameters are passed on", () => {
  const caller = (isTransparent: boolean, headers: Caller["headers"]): Caller =>
    ({ headers, endpoint: { exposure: { isTransparent } } }) as unknown as Caller;

  test("at an endpoint that shows one server as it is, without other headers", () => {
    const headers = {
      "mcp-param-region": "eu",
      "mcp-param-x": "",
      "mcp-method": "tools/call",
      authorization: "Bearer x",
    };
    expect(paramHeadersOf(caller(true, headers))).toEqual([
      ["region", "eu"],
      ["x", ""],
    ]);
  });

  test("nowhere else, and not where there are none", () => {
    expect(paramHeadersOf(caller(false, { "mcp-param-region": "eu" }))).toBeUndefined();
    expect(paramHeadersOf(caller(true, { "mcp-method": "ping" }))).toBeUndefined();
    expect(paramHeadersOf(caller(true, undefined))).toBeUndefined();
  });
});
