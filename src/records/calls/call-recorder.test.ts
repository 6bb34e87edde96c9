import { describe, expect, test } from "vitest";
import type { EventOf } from "../../kernel/events/event.ts";
import type { InstanceId, PrincipalId, ServerSlug } from "../../kernel/ids.ts";
import type { JsonObject } from "../../kernel/text/json-bytes.ts";
import type { RequestRecord } from "../../store/record-rows.ts";
import { createRedaction } from "../redaction/redaction.ts";
import { createRequestLog, type RequestLogging } from "./call-recorder.ts";

const event: EventOf<"mcp.request.logs"> = {
  type: "mcp.request.logs",
  atMs: 1_000,
  instance: "files" as InstanceId,
  server: "files" as ServerSlug,
  principal: "anna" as PrincipalId,
  team: "acme",
  via: "http",
  client: "claude-code",
  method: "tools/call",
  name: "read",
  path: "files:read",
  durationMs: 12,
  waitMs: 300,
  argumentBytes: 36,
  resultBytes: 360,
  cutTokens: 0,
  serverCode: undefined,
  outcome: "ok",
};

const secrets = new Set(["hunter2"]);
const memoIsSecret: JsonObject = { properties: { memo: { type: "string", format: "password" } } };
const noteIsSecret: JsonObject = { properties: { note: { type: "string", writeOnly: true } } };

function logged(
  logging: RequestLogging,
  change: Partial<typeof event> = {},
  { given = "{}", answer = "{}", message }: { given?: string; answer?: string; message?: string } = {},
) {
  const redaction = createRedaction({ secrets: () => secrets });
  const rows: Omit<RequestRecord, "id">[] = [];
  const log = createRequestLog({
    sink: { append: (_kind, row) => void rows.push(row as never) },
    node: "one",
    loggingOf: () => logging,
    schemasOf: ({ name }) => (name === "read" ? { inputSchema: memoIsSecret, outputSchema: noteIsSecret } : undefined),
    redactJson: redaction.json,
    said: redaction.said,
  });
  log({ ...event, ...change }, { given: Buffer.from(given), answer: Buffer.from(answer), message });
  return rows;
}

describe("a call is recorded", () => {
  test("with who, what, when and how long, its waiting apart, and tokens as estimates", () => {
    expect(logged("metadata")).toEqual([
      {
        ...{ atMs: 1_000, team: "acme", principal: "anna", client: "claude-code", via: "http" },
        ...{ instance: "files", server: "files", method: "tools/call", name: "files:read" },
        ...{ outcome: "ok", code: null, durationMs: 12, waitMs: 300 },
        ...{ argumentTokens: 10, resultTokens: 100, isResultCut: false, traceId: null, message: null, body: null },
        ...{ node: "one", serverNode: null },
      },
    ]);
  });

  test.each<[Partial<typeof event>, string, string | null]>([
    [{ outcome: "tool_error" }, "tool_error", null],
    [{ outcome: "error", serverCode: -32_050 }, "error", "-32050"],
    [{ outcome: "UPSTREAM_TIMEOUT" }, "failed", "UPSTREAM_TIMEOUT"],
  ])("with what came of it: %j", (change, outcome, code) => {
    expect(logged("metadata", change)[0]).toMatchObject({ outcome, code });
  });

  test.each([
    ["cannot open hunter2\nat line 3", "cannot open [redacted]"],
    [`${"x".repeat(295)} hunter2 and more`, `${"x".repeat(295)} [re…`],
    ["\n\n  first\r\nsecond", "first"],
    ["", ""],
  ])("with the first line of its error, without secrets, cut after they are taken out: %j", (message, kept) => {
    expect(logged("metadata", { outcome: "tool_error" }, { message })[0]?.message).toBe(kept);
  });

  test("although no server was reached, of whose logging nothing is known then", () => {
    const own = { instance: "" as InstanceId, server: "" as ServerSlug, method: "search", path: "add two numbers" };
    expect(logged("off", own, { message: "calc:add" })).toMatchObject([
      { server: "", method: "search", name: "add two numbers", message: "calc:add", body: null },
    ]);
  });

  test("not at all where nothing is to be recorded", () => {
    expect(logged("off")).toEqual([]);
  });

  test("with what was said, without its secrets, where the entry asks for that", () => {
    expect(logged("full", {}, { given: '{"password":"hunter2"}', answer: '{"content":[]}' })[0]?.body).toEqual({
      ...{ arguments: '{"password":"[redacted]"}', areArgumentsCut: false },
      ...{ result: '{"content":[]}', isResultCut: false },
    });
  });

  test("FAULT J: without what the tool's schemas mark as secret, in arguments by the input's and in results by the output's", () => {
    const text = '{"memo":"m","note":"n"}';
    expect(logged("full", {}, { given: text, answer: text })[0]?.body).toMatchObject({
      arguments: '{"memo":"[redacted]","note":"n"}',
      result: '{"memo":"m","note":"[redacted]"}',
    });
    expect(logged("full", { name: "gone" }, { given: text, answer: text })[0]?.body).toMatchObject({
      arguments: text,
      result: text,
    });
    expect(logged("full", { method: "prompts/get" }, { given: text })[0]?.body).toMatchObject({ arguments: text });
  });

  test("with the trace that it belongs to", () => {
    expect(logged("metadata", { traceId: "0af7651916cd43dd8448eb211c80319c" })[0]).toMatchObject({
      traceId: "0af7651916cd43dd8448eb211c80319c",
    });
  });

  test("with the beginning of what is long, and a secret at the cut does not show its own", () => {
    const answer = `"${"a".repeat(16_380)}hunter2${"b".repeat(100_000)}"`;
    const { result, isResultCut } = logged("full", {}, { answer })[0]?.body ?? { result: "", isResultCut: false };
    expect(isResultCut).toBe(true);
    expect(result).toHaveLength(16_384);
    expect(result.slice(-4)).not.toContain("hun");
  });
});
