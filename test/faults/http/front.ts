import { connect } from "node:net";
import { afterAll, afterEach, beforeAll, expect } from "vitest";
import { badServer, startGateway, type RunningGateway } from "../../harness/gateway.ts";
import { execute, send, type RawAnswer } from "../../harness/rpc.ts";
import { until } from "../../harness/until.ts";

/**
 * A gateway for the tests of one file, in front of the bad server as `bad`. After each of them it lives, answers, and
 * hid no fault.
 */
export function useGateway(settings: object = {}, flags: readonly string[] = []): () => RunningGateway {
  let gateway: RunningGateway;
  let looked = 0;
  beforeAll(async () => {
    gateway = await startGateway({ config: { mcpServers: { bad: badServer(...flags) }, toolyard: settings } });
    await until(async () => (await execute(gateway.url, "bad:echo")).isError === undefined);
  });
  afterEach(async () => {
    expect(gateway.process.exitCode).toBeNull();
    expect((await send(`${gateway.url}/healthz`, { method: "GET" })).status).toBe(200);
    const said = gateway.stderr().slice(looked);
    looked += said.length;
    expect(said).not.toMatch(/unhandled|internal error|TypeError|RangeError/i);
  });
  afterAll(async () => await gateway[Symbol.asyncDispose]());
  return () => gateway;
}

/** A body as it stands, posted to `/mcp` as JSON without a session. */
export async function post(
  url: string,
  body: string | Buffer,
  headers: Readonly<Record<string, string>> = {},
): Promise<RawAnswer> {
  return await send(url.includes("/mcp") ? url : `${url}/mcp`, {
    headers: { "content-type": "application/json", ...headers },
    body,
  });
}

/** The text of a call of `bad:echo` with arguments as they stand: what came back says byte for byte what went in. */
export function echoCall(args: string, id = "1"): string {
  return `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"execute_mcp_tool","arguments":{"tool_path":"bad:echo","arguments":${args}}}}`;
}

/** Writes bytes to the gateway's socket and resolves to everything that came back once the other end has closed. */
export async function rawExchange(url: string, bytes: string | Buffer): Promise<string> {
  const { hostname, port } = new URL(url);
  return await new Promise((resolve) => {
    let text = "";
    const socket = connect(Number(port), hostname, () => socket.write(bytes));
    socket.on("data", (chunk: Buffer) => (text += chunk.toString("latin1")));
    // A reset after the answer is a close too: the answer was read before.
    socket.on("error", () => undefined);
    socket.on("close", () => resolve(text));
  });
}

export function statusOf(text: string): number {
  return Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1] ?? 0);
}

/** Head of a raw POST to `/mcp`; what is given comes between its own headers and the empty line. */
export function rawPost(url: string, headers: string, body: string): string {
  return `POST /mcp HTTP/1.1\r\nHost: ${new URL(url).host}\r\nContent-Type: application/json\r\nConnection: close\r\n${headers}\r\n${body}`;
}

export const ping = '{"jsonrpc":"2.0","id":1,"method":"ping"}';
