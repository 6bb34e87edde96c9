import { describe, expect, test } from "vitest";
import { modernRpc, rpc, type RawAnswer } from "../../harness/rpc.ts";
import { post, useGateway } from "./front.ts";

const gateway = useGateway({}, ["--resources", "--prompts"]);
const version = "io.modelcontextprotocol/protocolVersion";
const capabilities = "io.modelcontextprotocol/clientCapabilities";
const good = { [version]: "2026-07-28", [capabilities]: {} };

async function modern(method: string, params: object, headers: Record<string, string>): Promise<RawAnswer> {
  return await post(gateway().url, JSON.stringify({ jsonrpc: "2.0", id: "e", method, params }), headers);
}

function verdict(answer: RawAnswer): unknown[] {
  return [answer.status, answer.json?.id, answer.json?.error?.code];
}

describe("FAULT 9: _meta", () => {
  test("keys of vendors and of tracing reach the server; the protocol's own are ours", async () => {
    const meta = {
      "vendor.example/key": { deep: [1] },
      traceparent: "00-abc-def-01",
      tracestate: "a=b",
      baggage: "c=d",
      "io.modelcontextprotocol/subscriptionId": "stolen",
    };
    const answer = await modernRpc(`${gateway().url}/mcp`, "tools/call", {
      name: "execute_mcp_tool",
      arguments: { tool_path: "bad:meta", arguments: {} },
      _meta: meta,
    });
    const seen = JSON.parse(answer.json.result.content[0].text);
    expect(seen).toMatchObject({
      "vendor.example/key": { deep: [1] },
      traceparent: "00-abc-def-01",
      tracestate: "a=b",
      baggage: "c=d",
    });
    expect(JSON.stringify(seen)).not.toContain("stolen");
    expect(JSON.stringify(seen)).not.toContain('"name":"test"');
  });

  test("what a server claims in the protocol's name does not stand", async () => {
    const answer = await modernRpc(`${gateway().url}/mcp`, "tools/call", {
      name: "execute_mcp_tool",
      arguments: { tool_path: "bad:reserved-meta", arguments: {} },
    });
    expect(answer.json.result._meta["io.modelcontextprotocol/serverInfo"].name).toBe("toolyard");
  });

  test("that is no object is no envelope, and on a legacy request no harm", async () => {
    for (const meta of [null, [], "x", 5]) {
      expect(
        verdict(
          await modern(
            "tools/list",
            { _meta: meta },
            { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/list" },
          ),
        ),
      ).toEqual([400, "e", -32602]);
      expect((await rpc(`${gateway().url}/mcp`, "tools/list", { _meta: meta })).json.result.tools).toHaveLength(4);
    }
  });
});

test("FAULT 10: a modern request without version or capabilities has invalid params", async () => {
  const headers = { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/list" };
  for (const params of [
    {},
    { _meta: {} },
    { _meta: { [version]: "2026-07-28" } },
    { _meta: { [capabilities]: {} } },
    { _meta: { ...good, [capabilities]: [] } },
    { _meta: { ...good, [capabilities]: null } },
  ]) {
    expect(verdict(await modern("tools/list", params, headers))).toEqual([400, "e", -32602]);
  }
  expect((await modern("tools/list", { _meta: good }, headers)).status).toBe(200);
});

test("FAULT 11: an unknown version is refused with the list of those that are served, the same as server/discover's", async () => {
  const { supportedVersions } = (await modernRpc(`${gateway().url}/mcp`, "server/discover")).json.result;
  for (const unknown of ["2030-01-01", "", "x".repeat(5_000), "2026-07-28 "]) {
    const answer = await modern(
      "tools/list",
      { _meta: { ...good, [version]: unknown } },
      { "mcp-method": "tools/list" },
    );
    expect(verdict(answer)).toEqual([400, "e", -32022]);
    expect(answer.json.error.data.supported).toEqual(supportedVersions);
  }
  const header = await modern("tools/list", {}, { "mcp-protocol-version": "1999-01-01" });
  expect(verdict(header)).toEqual([400, "e", -32022]);
});

describe("FAULT 12: headers that do not match the body", () => {
  const call = { name: "execute_mcp_tool", arguments: { tool_path: "bad:echo", arguments: {} }, _meta: good };
  const right = { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": "execute_mcp_tool" };
  const without = (name: keyof typeof right): Record<string, string> =>
    Object.fromEntries(Object.entries(right).filter(([key]) => key !== name));

  const wrong: readonly Record<string, string>[] = [
    without("mcp-protocol-version"),
    without("mcp-method"),
    without("mcp-name"),
    { ...right, "mcp-protocol-version": "2025-11-25" },
    { ...right, "mcp-method": "tools/list" },
    { ...right, "mcp-method": "Tools/Call" },
    { ...right, "mcp-name": "discover_mcp_tools" },
    { ...right, "mcp-name": "" },
    { ...right, "mcp-name": "=?base64?!!!?=" },
    { ...right, "mcp-name": "=?base64?ZXhlY3V0ZV9tY3BfdG9vbA?=" },
    { ...right, "mcp-name": "=?base64?/w==?=" },
  ];
  test.each(wrong)("%j", async (headers) =>
    expect(verdict(await modern("tools/call", call, headers))).toEqual([400, "e", -32020]),
  );

  test("a name in Base64 is decoded", async () => {
    const sentinel = `=?base64?${Buffer.from("execute_mcp_tool").toString("base64")}?=`;
    expect((await modern("tools/call", call, { ...right, "mcp-name": sentinel })).json.result.content[0].text).toBe(
      "{}",
    );
  });

  test("the other named methods are checked too, the unnamed ones need no name", async () => {
    expect(
      verdict(
        await modern(
          "resources/read",
          { uri: "bad|bad://text", _meta: good },
          { ...right, "mcp-method": "resources/read" },
        ),
      ),
    ).toEqual([400, "e", -32020]);
    expect(
      verdict(
        await modern("prompts/get", { name: "bad-greeting", _meta: good }, { ...right, "mcp-method": "prompts/get" }),
      ),
    ).toEqual([400, "e", -32020]);
    expect(
      (await modern("tools/list", { _meta: good }, { ...without("mcp-name"), "mcp-method": "tools/list" })).status,
    ).toBe(200);
  });

  test("legacy requests have no such headers, and none is asked for", async () => {
    const answer = await rpc(
      `${gateway().url}/mcp`,
      "tools/list",
      {},
      { "mcp-method": "tools/call", "mcp-name": "=?base64?!?=" },
    );
    expect(answer.json.result.tools).toHaveLength(4);
  });
});
