import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { badServer, startGateway, type RunningGateway } from "../harness/gateway.ts";
import { admin, as, member } from "../harness/known-people.ts";
import { get, post, run, untilOnline } from "../harness/rest.ts";
import { rpc, send } from "../harness/rpc.ts";

describe("several people", () => {
  let gateway: RunningGateway;

  beforeAll(async () => {
    gateway = await startGateway({
      config: {
        mcpServers: {
          own: { ...badServer("--behaviours=canary,env"), scope: "user" },
          shared: { ...badServer("--behaviours=canary"), scope: "shared" },
        },
        toolyard: {
          principals: {
            alice: {
              ...member("alice"),
              servers: { own: { env: { CANARY: "of-alice" } } },
            },
            bob: member("bob"),
            root: admin("root"),
          },
        },
      },
    });
    for (const person of ["alice", "bob", "root"]) await untilOnline(gateway.url, as(person));
  });
  afterAll(async () => await gateway[Symbol.asyncDispose]());

  test("every route but the public documents needs a credential", async () => {
    for (const path of [
      "/namespaces",
      "/list/apps",
      "/list/apps/own/tools",
      "/api/tools",
      "/api/tools/own:canary",
      "/api/resources",
      "/api/resources/read?uri=x",
      "/api/servers",
      "/api/instances",
      "/api/namespaces/stats",
      "/api/status",
      "/api/calls",
      "/api/calls/1",
      "/api/logs",
      "/api/instances/shared/logs",
      "/api/status/debug",
      "/metrics",
      "/nowhere",
    ]) {
      const answer = await get(gateway.url + path);
      expect([path, answer.status, answer.headers["www-authenticate"], answer.headers["content-type"]]).toEqual([
        path,
        401,
        expect.stringContaining("resource_metadata="),
        "application/problem+json",
      ]);
    }
    for (const path of ["/execute/own:canary", "/api/instances/shared/stop", "/api/instances/shared/token"])
      expect((await post(gateway.url + path)).status).toBe(401);
    for (const path of ["/openapi.json", "/documentation", "/.well-known/oauth-protected-resource"])
      expect((await get(gateway.url + path)).status).toBe(200);
  });

  test("FAULT 94: another's instance is as unknown as a random id, to every route", async () => {
    const idOf = async (person: string): Promise<string> =>
      (await get(`${gateway.url}/api/instances`, as(person))).json.instances.find(
        (one: { server: string }) => one.server === "own",
      ).id;
    const [alices, bobs] = [await idOf("alice"), await idOf("bob")];
    expect(alices).not.toBe(bobs);
    const random = `own-none-alice-${"0".repeat(alices.length - "own-none-alice-".length)}`;
    expect((await get(`${gateway.url}/api/instances/${alices}`, as("alice"))).status).toBe(200);
    const ask = [
      async (id: string) => await get(`${gateway.url}/api/instances/${id}`, as("bob")),
      ...["restart", "stop", "refresh", "token"].map(
        (action) => async (id: string) => await post(`${gateway.url}/api/instances/${id}/${action}`, {}, as("bob")),
      ),
      async (id: string) =>
        await send(`${gateway.url}/api/instances/${id}/token`, {
          method: "DELETE",
          headers: { "content-type": "application/json", ...as("bob") },
        }),
    ];
    for (const one of ask) {
      const [foreign, unknown] = [await one(alices), await one(random)];
      expect([foreign.status, foreign.text]).toEqual([404, unknown.text]);
    }
    const token = (await post(`${gateway.url}/api/instances/${alices}/token`, {}, as("alice"))).json.token;
    expect(
      (await rpc(`${gateway.url}/i/${alices}/mcp`, "tools/call", { name: "env" }, { authorization: `Bearer ${token}` }))
        .text,
    ).toContain("of-alice");
    expect((await rpc(`${gateway.url}/i/${alices}/mcp`, "tools/list", {}, as("bob"))).status).toBe(401);
    expect(
      (await rpc(`${gateway.url}/i/${bobs}/mcp`, "tools/list", {}, { authorization: `Bearer ${token}` })).status,
    ).toBe(401);
  });

  test("FAULT 95: what a body claims of its sender changes nothing", async () => {
    const claims = { userId: "alice", teamId: "x", role: "admin", isAdmin: true, owner: "alice", scopes: ["*"] };
    expect((await post(`${gateway.url}/api/instances/shared/stop`, claims, as("bob"))).json).toMatchObject({
      status: 403,
      code: "FORBIDDEN",
    });
    expect((await run(gateway.url, "own:env", claims, as("bob"))).text).not.toContain("of-alice");
  });

  test("FAULT 96: each sees what is loaded and used by themselves; figures of all are for an admin", async () => {
    await get(`${gateway.url}/list/apps/own/tools`, as("alice"));
    const loadedOf = async (person: string): Promise<boolean> =>
      (await get(`${gateway.url}/namespaces`, as(person))).json.namespaces.find(
        (one: { name: string }) => one.name === "own",
      ).loaded;
    expect([await loadedOf("alice"), await loadedOf("bob")]).toEqual([true, false]);
    await run(gateway.url, "own:canary", {}, as("alice"));
    const stats = (await get(`${gateway.url}/api/namespaces/stats`, as("root"))).json;
    expect(JSON.stringify(stats)).not.toContain("canary");
    for (const path of ["/metrics"]) {
      expect((await get(gateway.url + path, as("bob"))).status).toBe(403);
      expect((await get(gateway.url + path, as("root"))).status).toBe(200);
    }
    expect((await get(`${gateway.url}/metrics`, as("root"))).text).not.toContain("alice");
  });

  test("each calls their own instance, and only an admin stops a shared one", async () => {
    const pidOf = async (person: string): Promise<number> =>
      (await run(gateway.url, "own:canary", {}, as(person))).json.result.structuredContent.pid;
    expect(await pidOf("alice")).not.toBe(await pidOf("bob"));
    expect((await post(`${gateway.url}/api/instances/shared/restart`, {}, as("bob"))).status).toBe(403);
    expect((await post(`${gateway.url}/api/instances/shared/restart`, {}, as("root"))).json).toMatchObject({
      status: "online",
    });
  });

  test("FAULT K: too many calls at once are 429 with Retry-After", async () => {
    await using limited = await startGateway({
      config: {
        mcpServers: { slow: badServer("--behaviours=slow,canary") },
        toolyard: { limits: { concurrentCalls: 1 } },
      },
    });
    await untilOnline(limited.url);
    const answers = await Promise.all(
      Array.from({ length: 4 }, async () => await run(limited.url, "slow:slow", { ms: 300 })),
    );
    const refused = answers.filter((answer) => answer.status === 429);
    expect(refused).toHaveLength(3);
    expect(refused[0]?.headers["retry-after"]).toBe("1");
    expect(refused[0]?.json.code).toBe("RATE_LIMITED");
  });
});
