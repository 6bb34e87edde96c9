import { writeFile } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createToken } from "../../src/people/identity/token.ts";
import { badServer, startGateway, type RunningGateway } from "../harness/gateway.ts";
import { get, post, run, untilOnline } from "../harness/rest.ts";
import { send } from "../harness/rpc.ts";
import { until } from "../harness/until.ts";
import { readEvents, type EventReader } from "./event-reader.ts";

const admin = createToken();
const alice = createToken();
const bob = createToken();
const as = (token: { readonly token: string }) => ({ authorization: `Bearer ${token.token}` });
const canary = "CANARY-5d41402abc4b2a76";

const principals = {
  admin: { tokenHash: admin.hash, roles: ["admin"] },
  alice: { tokenHash: alice.hash, team: "acme" },
  bob: { tokenHash: bob.hash },
};
const configWith = (people: object): object => ({
  mcpServers: {
    all: { ...badServer("--resources"), scope: "shared", env: { API_KEY: canary }, disabledTools: ["hang"] },
    own: { ...badServer("--behaviours=canary,stderr"), scope: "user" },
  },
  toolyard: { principals: people, limits: { openStreams: 3, concurrentCalls: 2 } },
});

let gateway: RunningGateway;
const readers: EventReader[] = [];
const read = async (token: { readonly token: string }, query = "", headers = {}): Promise<EventReader> => {
  const reader = await readEvents(`${gateway.url}/api/events${query}`, { ...as(token), ...headers });
  readers.push(reader);
  return reader;
};
const call = async (token: { readonly token: string }, path: string, args: object = {}): Promise<number> =>
  (await run(gateway.url, path, args, as(token))).status;

/** Ends every reader, and waits until the gateway has noticed. */
async function closeAll(): Promise<void> {
  for (const reader of readers.splice(0)) reader.close();
  for (const token of [admin, alice, bob])
    await until(async () => {
      const probes = await Promise.all(
        [1, 2, 3].map(async () => await readEvents(`${gateway.url}/api/events`, as(token))),
      );
      for (const probe of probes) probe.close();
      return probes.every(({ status }) => status === 200);
    });
}

beforeAll(async () => {
  gateway = await startGateway({ config: configWith(principals) });
  for (const token of [admin, alice, bob]) await untilOnline(gateway.url, as(token));
});
afterAll(async () => await gateway[Symbol.asyncDispose]());

describe("GET /api/events", () => {
  test("sends what happens, with ids and the members that its schema names", async () => {
    const reader = await read(alice);
    expect(reader.headers["content-type"]).toBe("text/event-stream");
    await call(alice, "all:stderr", { text: "a line" });
    const line = await reader.next(({ data }) => data.type === "mcp.server.logs");
    expect(line).toMatchObject({
      event: "mcp.server.logs",
      id: expect.stringMatching(/^[0-9a-f]{12}-\d+$/),
      data: {
        type: "mcp.server.logs",
        time: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
        server: "all",
        instance: "all",
        installation: "all",
        principal: null,
        team: null,
        data: { level: "stderr", line: "a line" },
      },
    });
    expect(await reader.next(({ event }) => event === "mcp.request.logs")).toMatchObject({
      data: { principal: "alice", team: "acme", data: { method: "tools/call", name: "stderr", outcome: "ok" } },
    });
    await closeAll();
  });

  test("mcp.tools.discovered has exactly the members of its contract", async () => {
    const reader = await read(alice, "?types=mcp.tools.*&server=own");
    const { json } = await get(`${gateway.url}/api/instances`, as(alice));
    const { id } = (json.instances as { id: string; server: string }[]).find(({ server }) => server === "own") ?? {
      id: "",
    };
    await post(`${gateway.url}/api/instances/${id}/refresh`, {}, as(alice));
    const { data } = (await reader.next(({ event }) => event === "mcp.tools.discovered")).data;
    const described = { description: expect.any(String), input_schema: expect.objectContaining({ type: "object" }) };
    expect(data).toEqual({
      installation_id: id,
      installation_name: expect.any(String),
      team_id: "acme",
      server_slug: "own",
      tool_count: 2,
      total_tokens: expect.any(Number),
      tools: ["canary", "stderr"].map((tool) => ({
        tool_name: tool,
        tool_path: `own:${tool}`,
        ...described,
        token_count: expect.any(Number),
      })),
      discovered_at: expect.stringMatching(/Z$/),
    });
    const counts = (data.tools as { token_count: number }[]).map(({ token_count: tokens }) => tokens);
    expect(data.total_tokens).toBe(counts.reduce((sum, tokens) => sum + tokens));
    expect(Math.min(...counts)).toBeGreaterThan(10);
    await closeAll();
  });

  test("FAULT 94: everybody sees their own and what is shared; an admin sees that others call, not what", async () => {
    const [boss, one, other] = [await read(admin), await read(alice), await read(bob)];
    await call(alice, "all:canary");
    await call(alice, "own:stderr", { text: "private to alice" });
    await call(bob, "own:stderr", { text: "private to bob" });
    for (const [reader, name] of [
      [one, "alice"],
      [other, "bob"],
    ] as const)
      await reader.next(
        ({ event, data }) => event === "mcp.request.logs" && data.principal === name && data.server === "own",
      );
    await boss.next(({ event, data }) => event === "mcp.request.logs" && data.principal === "bob");
    await boss.next(({ event, data }) => event === "mcp.server.logs" && data.principal === "bob");
    expect(one.events.some(({ data }) => data.principal === "bob")).toBe(false);
    expect(other.events.some(({ data }) => data.principal === "alice")).toBe(false);
    expect(one.text()).toContain("private to alice");
    expect(boss.text()).not.toContain("private to");
    const foreign = boss.events.filter(({ event, data }) => event === "mcp.request.logs" && data.principal !== "admin");
    expect(foreign.length).toBeGreaterThanOrEqual(3);
    for (const { data } of foreign)
      expect(Object.keys(data.data as object)).not.toEqual(
        expect.arrayContaining([expect.stringMatching(/^(name|path)$/)]),
      );
    await closeAll();
  });

  test("only an admin sees what concerns the gateway", async () => {
    const [boss, one] = [await read(admin), await read(alice)];
    await get(`${gateway.url}/api/servers`, { authorization: "Bearer nobody" });
    await boss.next(({ event }) => event === "auth.denied");
    await call(alice, "all:canary");
    await one.next(({ event }) => event === "mcp.request.logs");
    expect(one.events.some(({ event }) => event === "auth.denied")).toBe(false);
    await closeAll();
  });

  test("whoever comes back gets what was missed, by header or by query, and nothing twice", async () => {
    const first = await read(alice, "?types=mcp.request.logs");
    await call(alice, "all:canary");
    const { id = "" } = await first.next(({ event }) => event === "mcp.request.logs");
    first.close();
    await call(alice, "all:echo");
    await call(alice, "all:pid");
    const wanted = ["echo", "pid"];
    for (const again of [
      await read(alice, "?types=mcp.request.logs", { "last-event-id": id }),
      await read(alice, `?types=mcp.request.logs&after=${id}`),
    ]) {
      await again.next(({ data }) => data.data.name === "pid");
      expect(again.events.map(({ data }) => data.data.name as string)).toEqual(wanted);
      expect(again.lastId()).not.toBe(id);
    }
    await closeAll();
  });

  test.each(["0123456789ab-7", "nonsense", "0123456789ab-99999999"])(
    "`reset` tells whoever comes back with %s that something is missing",
    async (position) => {
      const reader = await read(alice, "", { "last-event-id": position });
      expect(reader.events[0]?.event).toBe("reset");
      await call(alice, "all:canary");
      await reader.next(({ event }) => event === "mcp.request.logs");
      await closeAll();
    },
  );

  test("of more than ten events a second the rest is put together, and none is lost from the count", async () => {
    const reader = await read(alice, "?types=mcp.server.logs");
    await call(alice, "all:log", { times: 500, level: "emergency", text: "flood" });
    const lines = () => reader.events.filter(({ data }) => String(data.data.line).includes("flood"));
    const told = () => lines().reduce((sum, { data }) => sum + 1 + (data.coalesced ?? 0), 0);
    await until(() => told() >= 500);
    expect(told()).toBe(500);
    expect(lines().length).toBeLessThan(100);
    await closeAll();
  });

  test("FAULT 107: a secret of the configuration is in no event", async () => {
    const reader = await read(alice);
    await call(alice, "all:stderr", { text: `the key is ${canary} and more` });
    const line = await reader.next(({ data }) => String(data.data.line).includes("and more"));
    expect(line.data.data.line).toBe("the key is [redacted] and more");
    expect(reader.text()).not.toContain(canary);
    await closeAll();
  });

  test("filters by type, server and instance; a type that does not exist is refused", async () => {
    const [typed, served, instanced] = [
      await read(alice, "?types=search.done,mcp.request.*"),
      await read(bob, "?server=own"),
      await read(bob, "?instance=all&types=mcp.request.logs"),
    ];
    await call(alice, "all:stderr", { text: "x" });
    await call(bob, "all:canary");
    await call(bob, "own:canary");
    await typed.next(({ event }) => event === "mcp.request.logs");
    await served.next(({ event }) => event === "mcp.request.logs");
    await instanced.next(({ event }) => event === "mcp.request.logs");
    expect(new Set(typed.events.map(({ event }) => event))).toEqual(new Set(["mcp.request.logs"]));
    expect(new Set(served.events.map(({ data }) => data.server))).toEqual(new Set(["own"]));
    expect(instanced.events.map(({ data }) => data.instance)).toEqual(["all"]);
    expect((await get(`${gateway.url}/api/events?types=mcp.nothing`, as(alice))).json).toMatchObject({
      status: 400,
      code: "PARAMS_INVALID",
    });
    await closeAll();
  });

  test.each(["/api/events", "/api/calls?follow=true", "/api/logs?follow=true&newest=0"])(
    "as %s takes no place of a request that is answered, and has a limit of its own",
    async (path) => {
      const leaving = new AbortController();
      const { signal } = leaving;
      // Those that were closed before may still be counted for a moment.
      for (let at = 0; at < 3; at += 1)
        await until(async () => (await fetch(gateway.url + path, { headers: as(bob), signal })).status === 200);
      expect((await get(gateway.url + path, as(bob))).json).toMatchObject({ status: 429, code: "RATE_LIMITED" });
      // concurrentCalls is 2: with three open streams there would be no room for a call.
      expect(await Promise.all([call(bob, "all:canary"), call(bob, "all:echo")])).toEqual([200, 200]);
      leaving.abort();
      await closeAll();
    },
  );

  test("FAULT 26: a reader that does not read is left, and the others go on", async () => {
    const [lazy, busy] = [await read(alice, "?types=mcp.tools.*"), await read(admin, "?types=mcp.tools.*")];
    lazy.response.pause();
    lazy.response.socket.pause();
    let refreshes = 0;
    await until(async () => {
      await post(`${gateway.url}/api/instances/all/refresh`, {}, as(admin));
      refreshes += 1;
      const open = await readEvents(`${gateway.url}/api/events`, as(alice));
      const another = await readEvents(`${gateway.url}/api/events`, as(alice));
      const third = await readEvents(`${gateway.url}/api/events`, as(alice));
      for (const probe of [open, another, third]) probe.close();
      // Only when the lazy one is no longer counted is there room for three others.
      return third.status === 200;
    }, 100_000);
    expect(refreshes).toBeGreaterThan(1);
    expect(busy.ended).toBe(false);
    await closeAll();
  });

  test("a HEAD request gets the type and no stream", async () => {
    const { status, headers } = await send(`${gateway.url}/api/events`, { method: "HEAD", headers: as(alice) });
    expect([status, headers["content-type"]]).toEqual([200, "text/event-stream"]);
  });

  test("FAULT 98: it ends for whoever loses access, and for nobody else", async () => {
    const [one, other] = [await read(alice), await read(bob)];
    const { bob: _gone, ...left } = principals;
    await writeFile(gateway.configFile, JSON.stringify(configWith(left)));
    await until(() => other.ended);
    expect(one.ended).toBe(false);
    await call(alice, "all:canary");
    await one.next(({ event }) => event === "mcp.request.logs");
    expect((await get(`${gateway.url}/api/events`, as(bob))).status).toBe(401);
    one.close();
  });

  test("ends with the gateway, which does not wait for it", async () => {
    const reader = await read(admin);
    const stopped = gateway.stop();
    await reader.next(({ event }) => event === "gateway.stopping");
    expect(await stopped).toBe(0);
    await until(() => reader.ended);
  });
});
