import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Era } from "../../src/kernel/call/call-context.ts";
import { badServer, badServerFile, startGateway, type RunningGateway } from "../harness/gateway.ts";
import { modernRpc, rpc } from "../harness/rpc.ts";
import { until } from "../harness/until.ts";
import { connectClient, type AnsweringClient } from "./clients.ts";
import { readRecord, startBadHttp, startHttpServer, type HttpServer } from "./servers.ts";
import { openSession } from "./stream.ts";

const servers = ["legacy-stdio", "modern-stdio", "legacy-http", "modern-http", "sse"] as const;
const eras: readonly Era[] = ["legacy", "modern"];
/** `own-` stands before those of which each client has an instance. */
const combinations = eras.flatMap((era) => servers.map((server) => ({ era, server })));

let gateway: RunningGateway;
let directory: string;
const upstreams: HttpServer[] = [];
const tools = ["--behaviours", "roots,remember,recall,unknown-notification"];
const fileOf = (server: string): string => join(directory, `${server}.jsonl`);

async function entryOf(server: string, kind: string): Promise<object> {
  const record = [...tools, "--record", fileOf(server)];
  if (kind.endsWith("stdio")) return badServer("--era", kind.replace("-stdio", ""), ...record);
  const upstream =
    kind === "sse"
      ? await startHttpServer(badServerFile, "--sse", ...record)
      : await startBadHttp("--session", "--http-sse-answers", "--era", kind.replace("-http", ""), ...record);
  upstreams.push(upstream);
  return { type: kind === "sse" ? "sse" : "http", url: upstream.url };
}

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "toolyard-roots-eras-"));
  const mcpServers: Record<string, object> = {};
  for (const server of servers) {
    mcpServers[server] = await entryOf(server, server);
    mcpServers[`own-${server}`] = { ...(await entryOf(`own-${server}`, server)), scope: "client" };
  }
  gateway = await startGateway({ config: { mcpServers } });
  await until(async () => {
    const { text } = await rpc(`${gateway.url}/mcp/flat`, "tools/list");
    return Object.keys(mcpServers).every((server) => text.includes(`"${server}-roots"`));
  });
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  for (const upstream of upstreams) await upstream[Symbol.asyncDispose]();
  await rm(directory, { recursive: true, force: true });
});

async function textOf({ client }: AnsweringClient, tool_path: string, args: object = {}): Promise<string> {
  const answer = await client.callTool({ name: "execute_mcp_tool", arguments: { tool_path, arguments: args } });
  return (answer as { content: readonly { text: string }[] }).content[0]?.text ?? "";
}

describe.each(combinations)("a $era client in front of $server", ({ era, server }) => {
  test("a shared server is told of no roots, however it asks", async () => {
    await using person = await connectClient(`${gateway.url}/mcp`, era);
    await using direct = await connectClient(`${gateway.url}/mcp/server/${server}`, era);
    expect(await textOf(person, `${server}:roots`)).toMatch(/no roots were declared|is not told|has not declared/);
    const plain = JSON.stringify(await direct.client.callTool({ name: "roots", arguments: {} }).catch(String));
    expect(plain).not.toContain("file:///work");
    expect([...person.asked, ...direct.asked]).toEqual([]);
    const received = readRecord(fileOf(server));
    expect(received.length).toBeGreaterThan(0);
    expect(JSON.stringify(received)).not.toMatch(/\\?"roots\\?":\{/);
  });

  test("a server with an instance per client gets the roots of each", async () => {
    const first = { "roots/list": { roots: [{ uri: "file:///first" }] } };
    const second = { "roots/list": { roots: [{ uri: "file:///second" }] } };
    await using one = await connectClient(`${gateway.url}/mcp`, era, { answers: first });
    await using two = await connectClient(`${gateway.url}/mcp`, era, { answers: second });
    const [ofOne, ofTwo] = [await textOf(one, `own-${server}:roots`), await textOf(two, `own-${server}:roots`)];
    if (era === "modern" && (server.startsWith("legacy") || server === "sse")) {
      // Such a server keeps what it is told, and the client has no connection that would tell it from another.
      for (const text of [ofOne, ofTwo]) expect(text).toContain("no roots were declared");
      return;
    }
    expect(ofOne).toContain("file:///first");
    expect(ofTwo).toContain("file:///second");
    expect(ofOne).not.toContain("second");
  });
});

test("answers about roots that nobody asked for reach no shared server", async () => {
  const volunteered = { answer: { roots: [{ uri: "file:///volunteered" }] }, other: { action: "accept" } };
  const params = { name: "roots", arguments: {}, inputResponses: volunteered };
  for (const server of ["modern-stdio", "modern-http"]) {
    await modernRpc(`${gateway.url}/mcp/server/${server}`, "tools/call", params, { roots: {}, elicitation: {} });
    const received = JSON.stringify(readRecord(fileOf(server)));
    expect(received).toContain("accept");
    expect(received).not.toContain("volunteered");
  }
});

test("what one client's instance remembers and says is nothing to another", async () => {
  await using one = await connectClient(`${gateway.url}/mcp`, "legacy");
  const other = await openSession(`${gateway.url}/mcp/server/own-legacy-stdio`);
  const stream = await other.listen();
  const mine = await openSession(`${gateway.url}/mcp/server/own-legacy-stdio`);
  const heard = await mine.listen();
  await textOf(one, "own-legacy-stdio:remember", { value: "a secret" });
  expect(await textOf(one, "own-legacy-stdio:recall")).toContain("a secret");
  const call = async (session: typeof mine, name: string, args: object = {}): Promise<string> => {
    const answer = await session.call(name, "tools/call", { name, arguments: args });
    return JSON.stringify(await answer.next(({ id }) => id === name));
  };
  expect(await call(other, "recall")).not.toContain("a secret");
  await call(mine, "unknown-notification");
  await heard.next(({ method }) => method === "notifications/never/heard/of");
  expect(await call(other, "recall")).not.toContain("a secret");
  expect(stream.messages).toEqual([]);
  for (const session of [mine, other]) await session.end();
});

test("programs of 2026-07-28 over HTTP are told apart by the name that they give themselves", async () => {
  const named = (name: string): object => ({
    _meta: {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientInfo": { name, version: "1" },
      "io.modelcontextprotocol/clientCapabilities": {},
    },
  });
  const call = async (program: string, tool: string, args: object = {}): Promise<string> => {
    const params = { name: "execute_mcp_tool", arguments: { tool_path: tool, arguments: args }, ...named(program) };
    return (
      await rpc(`${gateway.url}/mcp`, "tools/call", params, {
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": "tools/call",
        "mcp-name": "execute_mcp_tool",
      })
    ).text;
  };
  await call("editor", "own-legacy-stdio:remember", { value: "a secret" });
  expect(await call("editor", "own-legacy-stdio:recall")).toContain("a secret");
  expect(await call("browser", "own-legacy-stdio:recall")).not.toContain("a secret");
});
