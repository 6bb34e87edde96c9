import { request as httpRequest } from "node:http";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { badServer, startGateway, type RunningGateway } from "../harness/gateway.ts";
import { until } from "../harness/until.ts";
import { execute } from "../harness/rpc.ts";
import { openSession, openStream } from "./stream.ts";
import { readRecord } from "./servers.ts";
import { fourServers, startFourServers, type FourServers } from "./four-servers.ts";

let four: FourServers;
let gateway: RunningGateway;
const servers = fourServers;
const fileOf = (server: string): string => four.fileOf(server);

beforeAll(async () => {
  four = await startFourServers();
  ({ gateway } = four);
});
afterAll(async () => await four[Symbol.asyncDispose]());

interface UpstreamCall {
  readonly id: number;
}

/** A call of the tool `hang` with this mark, as the server received it. */
async function arrived(server: string, mark: string): Promise<UpstreamCall> {
  const entry = await until(() =>
    readRecord(fileOf(server)).find(({ message }) => message?.params?.arguments?.mark === mark),
  );
  return entry.message as UpstreamCall;
}

/**
 * Whether the server was told: a notification in the legacy era and on stdio, a closed stream in the modern one over
 * HTTP.
 */
function isCancelled(server: string, { id }: UpstreamCall): boolean {
  return readRecord(fileOf(server)).some(
    ({ message, event, id: given }) =>
      (message?.method === "notifications/cancelled" && message.params.requestId === id) ||
      (server === "modern-http" && event === "given up" && given === id),
  );
}

const hang = (server: string, mark: string): object => ({
  name: "execute_mcp_tool",
  arguments: { tool_path: `${server}:hang`, arguments: { mark } },
});

describe.each(servers)("in front of %s", (server) => {
  test("MUST: a modern client that closes its stream has cancelled the call [basic/patterns/cancellation]", async () => {
    const mark = `modern-${server}`;
    // No answer comes, so there is no stream yet: what closes is the connection.
    const close = await abortable(`${gateway.url}/mcp`, mark, server, true);
    const call = await arrived(server, `${mark}-aborted`);
    close();
    await until(() => isCancelled(server, call));
  });

  test("MUST: notifications/cancelled of a legacy client cancels that call, and only that one [2025-11-25 basic/utilities/cancellation]", async () => {
    const session = await openSession(`${gateway.url}/mcp`);
    const [first, second] = [`legacy-a-${server}`, `legacy-b-${server}`];
    void session.call("a", "tools/call", hang(server, first)).catch(() => undefined);
    void session.call("b", "tools/call", hang(server, second)).catch(() => undefined);
    const [one, other] = [await arrived(server, first), await arrived(server, second)];
    await session.say({ method: "notifications/cancelled", params: { requestId: "a", reason: "enough" } });
    await until(() => isCancelled(server, one));
    expect(isCancelled(server, other)).toBe(false);
    await session.end();
    await until(() => isCancelled(server, other));
  });

  test("a sessionless legacy POST that is closed has cancelled its call", async () => {
    const close = await abortable(`${gateway.url}/mcp`, `post-${server}`, server, false);
    const call = await arrived(server, `post-${server}-aborted`);
    close();
    await until(() => isCancelled(server, call));
  });

  test("MUST NOT: a dropped POST of a live session is no cancellation: the client may come back [2025-11-25 basic/transports]", async () => {
    const session = await openSession(`${gateway.url}/mcp`);
    const mark = `dropped-${server}`;
    const close = await abortable(`${gateway.url}/mcp`, mark, server, false, { "mcp-session-id": session.id });
    const call = await arrived(server, `${mark}-aborted`);
    close();
    // A later call of the same session has been answered: the drop was seen long before.
    const later = await session.call(2, "tools/call", {
      name: "execute_mcp_tool",
      arguments: { tool_path: `${server}:canary` },
    });
    await later.next((message) => message.id === 2);
    expect(isCancelled(server, call)).toBe(false);
    await session.end();
    await until(() => isCancelled(server, call));
  });
});

/** Starts a call that never ends; resolves to the function that closes its connection. */
async function abortable(
  url: string,
  mark: string,
  server: string,
  isModern: boolean,
  headers: Readonly<Record<string, string>> = {},
): Promise<() => void> {
  const meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  const params = { ...hang(server, `${mark}-aborted`), ...(isModern ? { _meta: meta } : {}) };
  const modern = { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": "execute_mcp_tool" };
  const request = httpRequest(url, {
    method: "POST",
    agent: false,
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      ...(isModern ? modern : {}),
      ...headers,
    },
  });
  request.on("error", () => undefined);
  request.end(JSON.stringify({ jsonrpc: "2.0", id: "aborted", method: "tools/call", params }));
  return () => void request.destroy();
}

test("SHOULD: a call that is not answered in time is cancelled upstream, and says so [basic/patterns/cancellation]", async () => {
  const file = join(four.directory, "timeout.jsonl");
  await using slow = await startGateway({
    config: { mcpServers: { slow: { ...badServer("--record", file), callTimeoutMs: 300 } } },
  });
  await until(async () => JSON.stringify(await execute(slow.url, "slow:canary")).includes("instance"));
  const result = await execute(slow.url, "slow:hang", { mark: "late" });
  expect(result.content[0].text).toContain("UPSTREAM_TIMEOUT");
  const call = await until(() => readRecord(file).find(({ message }) => message?.params?.arguments?.mark === "late"));
  await until(() =>
    readRecord(file).some(
      ({ message }) => message?.method === "notifications/cancelled" && message.params.requestId === call.message.id,
    ),
  );
});

test("SHOULD: a cancellation of something unknown, or of nothing, is ignored [basic/patterns/cancellation]", async () => {
  const session = await openSession(`${gateway.url}/mcp`);
  for (const params of [{ requestId: "nobody" }, {}, { requestId: null }])
    await session.say({ method: "notifications/cancelled", params });
  const ping = await session.call(1, "ping");
  expect(await ping.next((message) => message.id === 1)).toMatchObject({ result: {} });
  expect(
    (
      await openStream(`${gateway.url}/mcp`, {
        body: { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } },
      })
    ).status,
  ).toBe(202);
});

test("SHOULD: a maximum time holds, whatever progress comes [basic/patterns/cancellation]", async () => {
  await using slow = await startGateway({
    config: { mcpServers: { slow: { ...badServer(), callTimeoutMs: 2_000, maxCallTimeoutMs: 2_500 } } },
  });
  await until(async () => JSON.stringify(await execute(slow.url, "slow:canary")).includes("instance"));
  const session = await openSession(`${slow.url}/mcp`);
  const stream = await session.call(1, "tools/call", {
    name: "execute_mcp_tool",
    arguments: { tool_path: "slow:progress-for-ever" },
    _meta: { progressToken: 1 },
  });
  const answer = await stream.next(({ id }) => id === 1);
  expect(answer.result.content[0].text).toContain("UPSTREAM_TIMEOUT");
  expect(stream.messages.length).toBeGreaterThan(10);
  await session.end();
});

test.each(["legacy-stdio", "legacy-http"])(
  "a server that takes its question back: the client is told, and no answer goes up (%s)",
  async (server) => {
    const session = await openSession(`${gateway.url}/mcp`, { capabilities: { elicitation: {} } });
    const stream = await session.call(1, "tools/call", {
      name: "execute_mcp_tool",
      arguments: { tool_path: `${server}:elicit-and-take-back` },
    });
    await stream.next(({ id }) => id === 1);
    const asked = stream.messages.find(({ method }) => method === "elicitation/create");
    const cancelled = stream.messages.find(({ method }) => method === "notifications/cancelled");
    expect(cancelled.params.requestId).toBe(asked.id);
    await session.say({ id: asked.id, result: { action: "accept", content: { name: "late" } } });
    await execute(gateway.url, `${server}:canary`);
    const told = readRecord(fileOf(server)).filter(({ message }) => String(message?.id).startsWith("taken-back-"));
    expect(told).toEqual([]);
    await session.end();
  },
);
