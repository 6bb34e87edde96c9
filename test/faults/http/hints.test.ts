import { expect, test } from "vitest";
import { execute, rpc, send } from "../../harness/rpc.ts";
import { failureOf } from "../servers/faulty-gateway.ts";
import { ping, post, rawExchange, useGateway } from "./front.ts";

const limits = {
  requestBodyBytes: 5_120,
  bodyTimeoutMs: 1_500,
  jsonDepth: 9,
  sessions: 1,
  resultBytes: 4_096,
  contentBlocks: 3,
  openStreams: 1,
};
const gateway = useGateway({ limits, instances: { callTimeoutMs: 700 } });

const initialize = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } };

test("a request that is too large or too deep is told the limits in force", async () => {
  const large = await post(gateway().url, ping.padEnd(limits.requestBodyBytes + 1));
  expect(large.json.error.data).toMatchObject({
    code: "BODY_TOO_LARGE",
    hint: "Send less at once, or raise limits.requestBodyBytes, now 5 KiB.",
  });
  const deep = await rpc(gateway().url + "/mcp", "ping", `{"a":${"[".repeat(10)}${"]".repeat(10)}}`);
  const hint = "Nest the JSON less deeply, or raise limits.jsonDepth, now 9.";
  expect(deep.json.error.data).toMatchObject({ code: "BODY_TOO_DEEP", hint });
  const body = `{"a":${"[".repeat(10)}${"]".repeat(10)}}`;
  const headers = { "content-type": "application/json" };
  const rest = await send(`${gateway().url}/execute/bad.echo`, { headers, body });
  expect(rest.json).toMatchObject({ code: "BODY_TOO_DEEP", hint });
});

test("a request that does not arrive in time is told how long it had", async () => {
  const head = `POST /mcp HTTP/1.1\r\nHost: ${new URL(gateway().url).host}\r\nContent-Type: application/json\r\n`;
  const answer = await rawExchange(gateway().url, `${head}Content-Length: 100\r\n\r\n{`);
  expect(answer).toContain("limits.bodyTimeoutMs, now 1.5 s");
});

test("a session or a stream too many is told how many there may be", async () => {
  const first = await rpc(`${gateway().url}/mcp`, "initialize", initialize);
  const id = String(first.headers["mcp-session-id"]);
  const stream = new AbortController();
  try {
    const held = await fetch(`${gateway().url}/mcp`, {
      headers: { accept: "text/event-stream", "mcp-session-id": id },
      signal: stream.signal,
    });
    const second = await rpc(`${gateway().url}/mcp`, "initialize", initialize);
    expect(second.json.error.data).toMatchObject({
      code: "SESSION_LIMIT",
      hint: "End sessions with DELETE, or raise limits.sessions, now 1.",
    });
    const sse = await fetch(`${gateway().url}/sse`, { headers: { accept: "text/event-stream" } });
    expect(await sse.text()).toContain("limits.openStreams, now 1");
    // A stream that nothing refers to any more is closed whenever memory is collected.
    expect(held.bodyUsed).toBe(false);
  } finally {
    stream.abort();
  }
});

test("a result that is too large, and a call that takes too long, are told what to raise", async () => {
  const call = async (tool: string, args: object) => failureOf(await execute(gateway().url, `bad:${tool}`, args));
  expect(await call("big", { blocks: 1, bytes: 10_000 })).toMatchObject({
    code: "RESULT_TOO_LARGE",
    hint: "Ask the tool for less (a page, a range, a filter), or raise limits.resultBytes, now 4 KiB.",
  });
  expect((await call("big", { blocks: 4, bytes: 16 })).hint).toContain("limits.contentBlocks, now 3.");
  expect(await call("hang", {})).toMatchObject({
    code: "UPSTREAM_TIMEOUT",
    hint: "Look at the server's log, or raise callTimeoutMs, now 0.7 s, for this server.",
  });
});
