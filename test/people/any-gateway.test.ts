import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { badServer, startGateway, type RunningGateway } from "../harness/gateway.ts";
import { askOwner } from "../harness/owner-door.ts";
import { hasNoPostgres, startPostgres, type Postgres } from "../harness/postgres.ts";
import { startRoundRobin, type RoundRobin } from "../harness/round-robin.ts";
import { modernRpc, rpc, send, type RawAnswer } from "../harness/rpc.ts";
import { until } from "../harness/until.ts";
import { everything } from "../protocol/clients.ts";
import { startBadHttp, type HttpServer } from "../protocol/servers.ts";
import { openSession, openStream } from "../protocol/stream.ts";

const key = Buffer.alloc(32, 1).toString("base64");
const newKey = Buffer.alloc(32, 2).toString("base64");
const folders = ["first", "second", "third"] as const;

// oxlint-disable-next-line typescript/no-explicit-any -- tests look into whatever came back
type Any = any;
type Headers = Readonly<Record<string, string>>;

describe.skipIf(hasNoPostgres)("three gateways of one PostgreSQL and one key, any of which a client may reach", () => {
  let postgres: Postgres;
  let directory: string;
  let env: Record<string, string>;
  let asking: HttpServer;
  let wide: HttpServer;
  const gateways = new Map<(typeof folders)[number], RunningGateway>();
  let balancer: RoundRobin;
  let bob: Headers;
  let bobAgain: Headers;
  let cid: Headers;

  async function start(folder: (typeof folders)[number], more: Record<string, string> = {}): Promise<RunningGateway> {
    await mkdir(join(directory, folder), { recursive: true });
    const gateway = await startGateway({
      directory: join(directory, folder),
      config: {
        mcpServers: {
          own: { ...badServer("--behaviours=canary,rename", "--tool-name=extra"), scope: "shared" },
          asking: { type: "http", url: asking.url },
          wide: { type: "http", url: wide.url },
        },
        toolyard: { team: true, database: "${env:YARD_DATABASE}" },
      },
      env: { ...env, ...more },
    });
    gateways.set(folder, gateway);
    return gateway;
  }

  const at = (folder: (typeof folders)[number]): string => (gateways.get(folder) as RunningGateway).url;
  const owner = async (method: string, path: string, body?: object): Promise<Any> =>
    JSON.parse((await askOwner(join(directory, "first", "data"), method, path, body)).text);
  const canary = { name: "execute_mcp_tool", arguments: { tool_path: "own:canary", arguments: {} } };
  const inSession = (id: string, headers = bob): Headers => ({ ...headers, "mcp-session-id": id });
  const call = async (folder: (typeof folders)[number], id: string, headers = bob): Promise<RawAnswer> =>
    await rpc(`${at(folder)}/mcp`, "tools/call", canary, inSession(id, headers));
  const hasRun = ({ json }: RawAnswer): boolean => JSON.stringify(json?.result ?? "").includes("instance");
  const endAt = async (folder: (typeof folders)[number], id: string): Promise<number> =>
    (await send(`${at(folder)}/mcp`, { method: "DELETE", headers: inSession(id) })).status;
  const codeOf = ({ json }: RawAnswer): string | undefined => json?.error?.data?.code ?? json?.code;

  beforeAll(async () => {
    postgres = await startPostgres();
    env = { YARD_DATABASE: await postgres.createDatabase("yard"), TOOLYARD_KEY: key };
    directory = await mkdtemp(join(tmpdir(), "toolyard-any-"));
    asking = await startBadHttp("--era", "modern", "--behaviours=elicit");
    wide = await startBadHttp("--tools", "2500", "--page-size", "500");
    await Promise.all(folders.map(async (folder) => await start(folder)));
    const made = async (user: string): Promise<{ readonly token: string }> =>
      await owner("POST", `/api/users/${user}/tokens`, {});
    await owner("POST", "/api/users", { name: "ann", admin: true, team: "red" });
    for (const name of ["bob", "cid"]) await owner("POST", "/api/users", { name, team: "red" });
    const [one, two, other] = [await made("bob"), await made("bob"), await made("cid")];
    const bearer = ({ token }: { readonly token: string }): Headers => ({ authorization: `Bearer ${token}` });
    [bob, bobAgain, cid] = [bearer(one), bearer(two), bearer(other)];
    for (const folder of folders)
      for (const tool of ["own:canary", "wide:tool-1"]) {
        const params = { name: "execute_mcp_tool", arguments: { tool_path: tool, arguments: {} } };
        await until(async () => (await rpc(`${at(folder)}/mcp`, "tools/call", params, bob)).json?.result !== undefined);
      }
    balancer = await startRoundRobin(...folders.map(at));
  });
  afterAll(async () => {
    await balancer?.[Symbol.asyncDispose]();
    await Promise.all([...gateways.values()].map(async (gateway) => await gateway[Symbol.asyncDispose]()));
    await Promise.all([asking, wide, postgres].map(async (one) => await one[Symbol.asyncDispose]()));
    await rm(directory, { recursive: true, force: true });
  });

  test("official clients behind a balancer lose no call in a session, also while the gateways restart in turn", async () => {
    const clients = await Promise.all(
      Array.from({ length: 4 }, async (_one, number) => {
        const client = new Client({ name: `client ${number}`, version: "1" }, { capabilities: {} });
        const transport = new StreamableHTTPClientTransport(new URL(`${balancer.url}/mcp`), {
          requestInit: { headers: bob },
        });
        await client.connect(transport as never);
        return { client, id: transport.sessionId };
      }),
    );
    const lost: unknown[] = [];
    let calls = 0;
    let isOver = false;
    const callAgain = async ({ client }: (typeof clients)[number]): Promise<void> => {
      while (!isOver) {
        calls += 1;
        const result = await client.callTool(canary).catch((error: unknown) => ({ lost: error }));
        if (!JSON.stringify(result).includes("instance")) lost.push(result);
      }
    };
    const calling = clients.map(callAgain);
    for (const folder of folders) {
      const before = calls;
      await until(() => calls > before + 20);
      const gateway = gateways.get(folder) as RunningGateway;
      await balancer.drain(gateway.url);
      await gateway.stop();
      const next = await start(folder);
      await until(async () => hasRun(await rpc(`${next.url}/mcp`, "tools/call", canary, bob)));
      balancer.add(next.url);
    }
    const before = calls;
    await until(() => calls > before + 20);
    isOver = true;
    await Promise.all(calling);
    expect(lost).toEqual([]);
    expect(balancer.given.size).toBe(6);
    for (const { client, id } of clients) {
      // The same session as at the beginning.
      expect((client.transport as StreamableHTTPClientTransport).sessionId).toBe(id);
      await client.close();
    }
  });

  test("a session goes on at each gateway, with what its client declared, and is nobody else's anywhere", async () => {
    const { id } = await openSession(`${at("first")}/mcp`, { headers: bob, capabilities: everything });
    expect(id).toMatch(/^tys1\.[\w-]+\.[\w-]{43}$/);
    for (const folder of folders) expect(hasRun(await call(folder, id))).toBe(true);
    const listed = await owner("GET", "/api/sessions");
    expect(JSON.stringify(listed)).toContain('"raw"');
    for (const folder of folders) {
      // The same person with another credential, and another person.
      for (const headers of [bobAgain, cid]) {
        const answer = await call(folder, id, headers);
        expect([answer.status, codeOf(answer)]).toEqual([404, "SESSION_UNKNOWN"]);
      }
      const elsewhere = await rpc(`${at(folder)}/mcp/flat`, "tools/list", {}, inSession(id));
      expect([elsewhere.status, codeOf(elsewhere)]).toEqual([404, "SESSION_UNKNOWN"]);
      expect((await rpc(`${at(folder)}/mcp`, "tools/call", canary, { "mcp-session-id": id })).status).toBe(401);
    }
  });

  test("what was changed in an id is unknown, wherever it is changed, and so is one of another key", async () => {
    const { id } = await openSession(`${at("first")}/mcp`, { headers: bob });
    const [mark, payload = "", sign = ""] = id.split(".");
    const content = JSON.parse(Buffer.from(payload, "base64url").toString("utf8")) as Record<string, unknown>;
    const altered = Object.keys(content).map((member) => {
      const text = JSON.stringify({ ...content, [member]: member === "k" ? everything : "x" });
      return `${mark}.${Buffer.from(text).toString("base64url")}.${sign}`;
    });
    expect(altered).toHaveLength(8);
    const others = [
      `${mark}.${payload}.${"A".repeat(43)}`,
      `${id}x`,
      `${mark}.${payload}`,
      `${id}${"A".repeat(4_000)}`,
    ];
    for (const one of [...altered, ...others]) expect((await call("second", one)).status, one.slice(0, 60)).toBe(404);
    expect(hasRun(await call("second", id))).toBe(true);
  });

  test("DELETE at one ends a session at all, where it is held and where it is not", async () => {
    const { id } = await openSession(`${at("first")}/mcp`, { headers: bob });
    expect(hasRun(await call("second", id))).toBe(true);
    const stream = await openStream(`${at("second")}/mcp`, {
      method: "GET",
      headers: { ...inSession(id), accept: "text/event-stream" },
    });
    expect(await endAt("first", id)).toBe(204);
    await until(() => stream.ended);
    for (const folder of folders) await until(async () => (await call(folder, id)).status === 404);
    expect(await endAt("third", id)).toBe(404);
    // At a gateway that never had it.
    const second = await openSession(`${at("first")}/mcp`, { headers: bob });
    expect(await endAt("third", second.id)).toBe(204);
    await until(async () => (await call("first", second.id)).status === 404);
  });

  test("it hears of changed lists at whichever gateway it listens", async () => {
    const { id } = await openSession(`${at("first")}/mcp/flat`, { headers: bob });
    const stream = await openStream(`${at("third")}/mcp/flat`, {
      method: "GET",
      headers: { ...inSession(id), accept: "text/event-stream" },
    });
    expect(stream.status).toBe(200);
    const rename = { tool_path: "own:rename", arguments: { from: "extra" } };
    await rpc(`${at("third")}/mcp`, "tools/call", { name: "execute_mcp_tool", arguments: rename }, bob);
    await until(() => stream.messages.length > 0);
    expect(JSON.stringify(stream.messages)).toContain("list_changed");
    stream.close();
  });

  test("a token that is revoked opens its sessions nowhere", async () => {
    const made = await owner("POST", "/api/users/bob/tokens", {});
    const headers = { authorization: `Bearer ${made.token}` };
    await until(async () => hasRun(await rpc(`${at("third")}/mcp`, "tools/call", canary, headers)));
    const { id } = await openSession(`${at("first")}/mcp`, { headers });
    expect(hasRun(await call("second", id, headers))).toBe(true);
    await owner("DELETE", `/api/tokens/${made.id}`);
    for (const folder of folders) await until(async () => (await call(folder, id, headers)).status === 401);
    // With another token of the same person, it is not theirs.
    for (const folder of folders) expect((await call(folder, id)).status).toBe(404);
  });

  test("a list of several pages is read at several gateways", async () => {
    const names = new Set<string>();
    let cursor: string | undefined;
    let pages = 0;
    do {
      const folder = folders[pages % folders.length] ?? "first";
      const params = cursor === undefined ? {} : { cursor };
      const { json } = await rpc(`${at(folder)}/mcp/server/wide`, "tools/list", params, bob);
      for (const { name } of json.result.tools as Any[]) names.add(name as string);
      cursor = json.result.nextCursor as string | undefined;
      pages += 1;
    } while (cursor !== undefined);
    expect([pages, names.size]).toEqual([3, 2_500]);
  });

  test("a question that one gateway passed on is answered at another, once over all", async () => {
    const params = { name: "execute_mcp_tool", arguments: { tool_path: "asking:elicit", arguments: {} } };
    const ask = async (folder: (typeof folders)[number], more: object = {}): Promise<RawAnswer> =>
      await modernRpc(`${at(folder)}/mcp`, "tools/call", { ...params, ...more }, everything, bob);
    const { requestState, inputRequests } = (await ask("first")).json.result;
    const inputResponses = Object.fromEntries(
      Object.keys(inputRequests as object).map((name) => [name, { action: "accept", content: { name: "Ada" } }]),
    );
    const answers = await Promise.all(
      folders.map(async (folder) => await ask(folder, { requestState, inputResponses })),
    );
    expect(answers.filter(({ json }) => JSON.stringify(json.result ?? "").includes("Ada"))).toHaveLength(1);
    const refused = answers.filter(({ json }) => json.error !== undefined);
    expect(refused.map(codeOf)).toEqual(["HANDLE_INVALID", "HANDLE_INVALID"]);
    expect(JSON.stringify(refused[0]?.json)).toContain("start the call again");
    const again = await ask("second", { requestState, inputResponses });
    expect(codeOf(again)).toBe("HANDLE_INVALID");
  });

  test("while the database is away, a session goes on at a gateway that did not have it", async () => {
    const { id } = await openSession(`${at("first")}/mcp`, { headers: bob });
    await postgres.stop();
    try {
      expect(hasRun(await call("second", id))).toBe(true);
      // What ends now is told when it is back.
      expect(await endAt("second", id)).toBe(204);
      expect((await call("second", id)).status).toBe(404);
    } finally {
      await postgres.start();
    }
    for (const folder of folders) await until(async () => (await call(folder, id)).status === 404);
  });

  test("the key can be changed while sessions go on", async () => {
    const { id } = await openSession(`${at("first")}/mcp`, { headers: bob });
    for (const folder of folders) {
      await gateways.get(folder)?.stop();
      await start(folder, { TOOLYARD_KEY: newKey, TOOLYARD_KEY_PREVIOUS: key });
    }
    for (const folder of folders) await until(async () => hasRun(await call(folder, id)));
    const { id: later } = await openSession(`${at("first")}/mcp`, { headers: bob });
    expect(hasRun(await call("second", later))).toBe(true);
  });

  test("what is remembered of ended sessions is forgotten when their ids have expired", async () => {
    const old = "insert into toolyard_state.claim values ('session', 'long ago', 0, 1)";
    await postgres.run(old, "yard");
    const { id } = await openSession(`${at("first")}/mcp`, { headers: bob });
    await endAt("first", id);
    const rows = "select count(*)::int as left from toolyard_state.claim where id = 'long ago'";
    await until(async () => (await postgres.run(rows, "yard"))[0]?.["left"] === 0);
  });
});

describe("a gateway alone", () => {
  test("gives out ids without content", async () => {
    await using gateway = await startGateway({
      config: { mcpServers: { own: badServer("--behaviours=canary") } },
      env: { TOOLYARD_KEY: key },
    });
    const { id } = await openSession(`${gateway.url}/mcp`);
    expect(id).toMatch(/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/);
    const unknown = await rpc(`${gateway.url}/mcp`, "tools/list", {}, { "mcp-session-id": "tys1.e30.AAAA" });
    expect([unknown.status, unknown.json.error.data.code]).toEqual([404, "SESSION_UNKNOWN"]);
  });
});
