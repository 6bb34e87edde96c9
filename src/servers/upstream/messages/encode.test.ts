import { writeNotification } from "../../../wire/mcp/envelope.ts";
import { expect, test } from "vitest";
import { createDialect, encodeRequest } from "./encode.ts";
import type { UpstreamRequest } from "../connection.ts";

const identity = { name: "toolyard", version: "0" };
const legacy = createDialect("legacy", "2025-11-25", identity, {});
const modern = createDialect("modern", "2026-07-28", identity, {});
const request = (more: Partial<UpstreamRequest> = {}): UpstreamRequest => ({
  method: "tools/call",
  params: [],
  signal: new AbortController().signal,
  timeoutMs: 1,
  maxTimeoutMs: 1,
  ...more,
});

test("members of params go out as the bytes that came in, and the line is one line of ASCII around them", () => {
  const bytes = Buffer.from('{"n":9007199254740993,"t":"漢\\n"}');
  const text = encodeRequest(
    7,
    request({
      params: [
        ["name", Buffer.from('"é"')],
        ["arguments", bytes],
      ],
    }),
    legacy,
  );
  expect(Buffer.from(text, "latin1").includes(bytes)).toBe(true);
  expect(text).not.toContain("\n");
  expect(JSON.parse(Buffer.from(text, "latin1").toString("utf8"))).toMatchObject({
    jsonrpc: "2.0",
    id: 7,
    method: "tools/call",
    params: { name: "é" },
  });
});

test("legacy requests carry _meta only when there is something in it", () => {
  expect(JSON.parse(encodeRequest(1, request(), legacy)).params).toEqual({});
  expect(
    JSON.parse(encodeRequest(1, request({ meta: { traceparent: "00-1" }, onProgress: () => undefined }), legacy))
      .params,
  ).toEqual({ _meta: { traceparent: "00-1", progressToken: 1 } });
});

test("modern requests always say revision, who we are, and what the client behind them can do", () => {
  const meta = { vendor: 1 };
  const { _meta } = JSON.parse(
    encodeRequest(1, request({ meta, clientCapabilities: { sampling: {} }, logLevel: "debug" }), modern),
  ).params;
  expect(_meta).toEqual({
    vendor: 1,
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": identity,
    "io.modelcontextprotocol/clientCapabilities": { sampling: {} },
    "io.modelcontextprotocol/logLevel": "debug",
  });
});

test("notifications", () => {
  expect(JSON.parse(writeNotification("notifications/initialized", { a: "ü" }))).toEqual({
    jsonrpc: "2.0",
    method: "notifications/initialized",
    params: { a: "ü" },
  });
});
