import { request, type IncomingMessage } from "node:http";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createToken } from "../../src/people/identity/token.ts";
import { badServer, startGateway, type RunningGateway } from "../harness/gateway.ts";
import { get, post, run, untilOnline } from "../harness/rest.ts";
import { modernRpc, rpc, send } from "../harness/rpc.ts";
import { runCommand } from "../harness/command.ts";
import { until } from "../harness/until.ts";
import { openSse } from "../protocol/sse-client.ts";

const admin = createToken();
const alice = createToken();
const bob = createToken();
const as = (token: { readonly token: string }) => ({ authorization: `Bearer ${token.token}` });
const canary = "CANARY-5d41402abc4b2a76";
let gateway: RunningGateway;

beforeAll(async () => {
  gateway = await startGateway({
    config: {
      mcpServers: {
        all: { ...badServer("--behaviours=canary,env"), scope: "shared", env: { API_KEY: canary } },
        own: { ...badServer("--behaviours=canary,env"), scope: "user" },
      },
      toolyard: {
        principals: {
          admin: { tokenHash: admin.hash, roles: ["admin"] },
          alice: { tokenHash: alice.hash },
          bob: { tokenHash: bob.hash },
        },
      },
    },
  });
  for (const token of [admin, alice, bob]) await untilOnline(gateway.url, as(token));
});
afterAll(async () => await gateway[Symbol.asyncDispose]());

interface Message {
  readonly side: string;
  readonly way: string;
  readonly name: string | null;
  readonly principal: string | null;
  readonly instance: string | null;
  readonly kind: string;
  readonly method: string | null;
  readonly id: string | null;
  readonly ms: number | null;
  readonly bytes: number;
  readonly text: string;
  readonly cut: boolean;
}

interface Watching extends Disposable {
  readonly status: number;
  text(): string;
  readonly messages: readonly Message[];
  next(wanted: (message: Message) => boolean): Promise<Message>;
}

/** Follows messages; resolves when the stream has begun, or was refused. */
async function watch(token: { readonly token: string }, query = ""): Promise<Watching> {
  const asked = request(`${gateway.url}/api/protocol${query}`, { headers: as(token), agent: false });
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    asked.once("response", resolve);
    asked.once("error", reject);
    asked.end();
  });
  let text = "";
  response.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
  response.on("error", () => undefined);
  const messages = (): Message[] =>
    text
      .split("\n\n")
      .filter((block) => block.startsWith("event: message\n"))
      .map((block) => JSON.parse(block.slice(block.indexOf("data: ") + 6)) as Message);
  await until(() => text.includes("event: begin") || response.complete);
  return {
    status: response.statusCode ?? 0,
    text: () => text,
    get messages() {
      return messages();
    },
    next: async (wanted) => await until(() => messages().find(wanted)),
    [Symbol.dispose]: () => asked.destroy(),
  };
}

const answered = (side: string, method: string) => (message: Message) =>
  message.side === side && message.kind === "result" && message.method === method;

test("shows both sides of a call, over every transport, with the times, and without secrets", async () => {
  using watching = await watch(admin);
  using hers = await watch(alice);
  const call = { name: "execute_mcp_tool", arguments: { tool_path: "all:env", arguments: {} } };
  await modernRpc(`${gateway.url}/mcp`, "tools/call", call, {}, as(alice));
  const answer = await watching.next(answered("client", "tools/call"));
  expect(answer).toMatchObject({ way: "out", name: "test", principal: "alice", instance: null });
  const asked = watching.messages.filter(({ method }) => method === "tools/call");
  expect(asked.map(({ side, way, kind }) => `${side} ${way} ${kind}`)).toEqual([
    "client in request",
    "server out request",
    "server in result",
    "client out result",
  ]);
  expect(asked[1]).toMatchObject({ name: "all", instance: "all", principal: null });
  expect(asked.map(({ ms }) => ms === null)).toEqual([true, true, false, false]);
  expect(asked[3]?.ms).toBeGreaterThanOrEqual(asked[2]?.ms ?? Infinity);
  await hers.next(answered("client", "tools/call"));
  expect(hers.text()).toContain("[redacted]");
  for (const { text } of [hers, watching]) expect(text()).not.toContain(canary);
  // Contents are each person's own: an admin sees that others speak with servers, and how.
  expect(asked.map(({ text }) => text)).toEqual(["", "", "", ""]);
});

test("shows what legacy clients say in their sessions, over Streamable HTTP and HTTP+SSE", async () => {
  using watching = await watch(admin);
  const start = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "old-one", version: "1" } };
  const headers = { ...as(alice), accept: "application/json, text/event-stream" };
  const begun = await rpc(`${gateway.url}/mcp`, "initialize", start, headers);
  const session = String(begun.headers["mcp-session-id"]);
  await rpc(`${gateway.url}/mcp`, "tools/list", {}, { ...headers, "mcp-session-id": session });
  expect(await watching.next(answered("client", "initialize"))).toMatchObject({ name: "old-one", principal: "alice" });
  expect(await watching.next(answered("client", "tools/list"))).toMatchObject({ name: "old-one", way: "out" });
  const stream = await openSse(`${gateway.url}/sse`, as(bob));
  const info = { ...start, protocolVersion: "2024-11-05" };
  await stream.post({ jsonrpc: "2.0", id: 1, method: "initialize", params: info }, as(bob));
  await watching.next((message) => answered("client", "initialize")(message) && message.principal === "bob");
  stream.close();
});

test("what was said before is not shown, and a refusal is", async () => {
  await run(gateway.url, "all:canary", {}, as(alice));
  using watching = await watch(admin);
  await send(`${gateway.url}/mcp`, { headers: { "content-type": "application/json", ...as(alice) }, body: "{" });
  const refused = await watching.next(({ kind, way }) => kind === "error" && way === "out");
  expect(refused).toMatchObject({ side: "client", status: 400 });
  expect(watching.messages.map(({ side }) => side)).not.toContain("server");
});

test("FAULT 94: a member sees their own clients and instances, and nothing that another says or gets", async () => {
  using hers = await watch(alice);
  using all = await watch(admin);
  const call = async (who: typeof alice, path: string, mark: string): Promise<void> => {
    const given = { name: "execute_mcp_tool", arguments: { tool_path: path, arguments: { mark } } };
    await rpc(`${gateway.url}/mcp`, "tools/call", given, as(who));
  };
  for (const path of ["all:canary", "own:canary"]) {
    await call(bob, path, "of-bob");
    await call(alice, path, "of-alice");
  }
  await until(() => all.messages.filter(answered("client", "tools/call")).length === 4);
  await until(() => hers.messages.filter(answered("client", "tools/call")).length === 2);
  expect(hers.text()).not.toContain("bob");
  expect(hers.text()).toContain('"everybody":false');
  expect(all.text()).toContain('"everybody":true');
  expect(new Set(hers.messages.map(({ principal, instance }) => principal ?? instance))).toEqual(
    new Set(["alice", (await idsOf(alice)).find(({ server }) => server === "own")?.id]),
  );
});

async function idsOf(who: typeof alice): Promise<readonly { readonly id: string; readonly server: string }[]> {
  return (await get(`${gateway.url}/api/instances`, as(who))).json.instances;
}

test("a filter leaves the other side out, and one of a method all other messages", async () => {
  using ofServer = await watch(admin, "?server=all");
  using ofClient = await watch(admin, "?client=test");
  using ofMethod = await watch(admin, "?method=ping");
  await modernRpc(
    `${gateway.url}/mcp`,
    "tools/call",
    {
      name: "execute_mcp_tool",
      arguments: { tool_path: "all:canary", arguments: {} },
    },
    {},
    as(alice),
  );
  await rpc(`${gateway.url}/mcp`, "ping", {}, as(alice));
  await ofServer.next(answered("server", "tools/call"));
  await ofClient.next(answered("client", "tools/call"));
  await ofMethod.next(answered("client", "ping"));
  expect(new Set(ofServer.messages.map(({ name }) => name))).toEqual(new Set(["all"]));
  expect(new Set(ofClient.messages.map(({ name }) => name))).toEqual(new Set(["test"]));
  expect(new Set(ofMethod.messages.map(({ method }) => method))).toEqual(new Set(["ping"]));
});

test("the audit says who watched; without a credential no message is shown", async () => {
  using _watching = await watch(alice, "?server=own");
  const { json } = await get(`${gateway.url}/api/audit?limit=1`, as(admin));
  expect(json.entries[0]).toMatchObject({ actor: "alice", action: "protocol.watch", object: "own", outcome: "ok" });
  expect((await get(`${gateway.url}/api/protocol`)).status).toBe(401);
});

test("in a gateway that asks for no credential, a login at the dashboard or the owner's command sees messages", async () => {
  await using open = await startGateway({ config: { mcpServers: { bad: badServer("--behaviours=canary") } } });
  await untilOnline(open.url);
  expect((await get(`${open.url}/api/protocol`)).json).toMatchObject({ code: "FORBIDDEN" });
  const where = ["--config", open.configFile, "--data-dir", join(open.directory, "data")];
  const shown = runCommand(["protocol", "--json", "--server", "bad", ...where]);
  await until(async () => {
    await post(`${open.url}/execute/bad%3Acanary`, {});
    const audit = await runCommand(["audit", "--json", "--action", "protocol.watch", ...where]);
    return audit.stdout.includes('"owner"');
  });
  // What has passed is told a moment later.
  for (let times = 0; times < 5; times += 1) {
    await run(open.url, "bad:canary");
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  await open.stop();
  const { stdout, code } = await shown;
  expect(code).toBe(0);
  const messages = stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Message);
  expect(messages.map(({ name, side }) => `${side} ${name}`)).toContain("server bad");
});
