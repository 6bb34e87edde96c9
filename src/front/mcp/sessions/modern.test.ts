import { describe, expect, test } from "vitest";
import { checkEnvelope, decodeHeaderValue } from "./modern.ts";
import { readClientMessage, type ClientRequest } from "../../../wire/mcp/client-message.ts";

const meta = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": { sampling: {} },
};

function toRequest(method: string, params: object): ClientRequest {
  return readClientMessage(Buffer.from(JSON.stringify({ jsonrpc: "2.0", id: 1, method, params })), 64) as ClientRequest;
}

const good = { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": "echo" };
const call = toRequest("tools/call", { name: "echo", _meta: meta });

test("a good envelope gives the client's capabilities", () => {
  expect(checkEnvelope(call, good)).toEqual({ sampling: {} });
  expect(checkEnvelope(call, undefined)).toEqual({ sampling: {} });
});

describe("what is refused", () => {
  test.each([
    ["no version anywhere", toRequest("tools/list", {}), {}, "PARAMS_INVALID"],
    ["no version in the body", toRequest("tools/list", { _meta: {} }), good, "PARAMS_INVALID"],
    [
      "a version that is no string",
      toRequest("tools/list", { _meta: { ...meta, "io.modelcontextprotocol/protocolVersion": 5 } }),
      undefined,
      "PARAMS_INVALID",
    ],
    [
      "no capabilities",
      toRequest("tools/list", { _meta: { ...meta, "io.modelcontextprotocol/clientCapabilities": undefined } }),
      { ...good, "mcp-method": "tools/list" },
      "PARAMS_INVALID",
    ],
    [
      "an unknown version",
      toRequest("tools/list", { _meta: { ...meta, "io.modelcontextprotocol/protocolVersion": "2030-01-01" } }),
      undefined,
      "VERSION_UNSUPPORTED",
    ],
    ["two versions", call, { ...good, "mcp-protocol-version": "2025-11-25" }, "HEADER_MISMATCH"],
    ["no version header", call, { ...good, "mcp-protocol-version": undefined }, "HEADER_MISMATCH"],
    ["no method header", call, { ...good, "mcp-method": undefined }, "HEADER_MISMATCH"],
    ["another method", call, { ...good, "mcp-method": "tools/list" }, "HEADER_MISMATCH"],
    ["no name header", call, { ...good, "mcp-name": undefined }, "HEADER_MISMATCH"],
    ["another name", call, { ...good, "mcp-name": "Echo" }, "HEADER_MISMATCH"],
    ["a broken sentinel", call, { ...good, "mcp-name": "=?base64?!?=" }, "HEADER_MISMATCH"],
  ])("%s", (_what, request, headers, code) => {
    expect(() => checkEnvelope(request, headers as never)).toThrowError(expect.objectContaining({ code }));
  });
});

describe("Base64 sentinels", () => {
  test.each([
    ["plain", "plain"],
    ["=?base64?w6Q=?=", "ä"],
    ["=?base64??=", ""],
    ["=?base64?PT9iYXNlNjQ/eD89?=", "=?base64?x?="],
  ])("%j is %j", (value, expected) => expect(decodeHeaderValue(value)).toBe(expected));

  test.each(["=?base64?w6Q?=", "=?base64?a b=?=", "=?base64?_w==?=", "=?base64?/w==?="])(
    "%j cannot be decoded",
    (value) => {
      expect(() => decodeHeaderValue(value)).toThrowError(expect.objectContaining({ code: "HEADER_MISMATCH" }));
    },
  );
});
