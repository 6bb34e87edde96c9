import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { GatewayEvent } from "../../src/kernel/events/event.ts";
import type { PublishedType } from "../../src/kernel/events/published-events.ts";
import { createToken } from "../../src/people/identity/token.ts";
import { startBadHttpServer, type BadHttpServer } from "../instances/bad-http-server.ts";
import { startsIn } from "../instances/observing.ts";
import { createWorld, executeSoon, untilLoginIsWanted } from "../oauth/world.ts";
import { openSse } from "../protocol/sse-client.ts";
import { badServer, startGateway, type RunningGateway } from "../harness/gateway.ts";
import { askOwner } from "../harness/owner-door.ts";
import { get, post, run } from "../harness/rest.ts";
import { execute, rpc, send } from "../harness/rpc.ts";
import { until } from "../harness/until.ts";
import { openDefined, type Defined } from "../safety/defined.ts";
import { insideServer } from "../safety/inside.ts";
import { startWebhookReceiver, webhookSettings, type WebhookReceiver, type WrittenEvent } from "./webhook-receiver.ts";

const alice = createToken();
const bearer = { authorization: `Bearer ${alice.token}` };

let directory: string;
let changing: Defined;
let receiver: WebhookReceiver;
let remote: BadHttpServer;
let gateway: RunningGateway;
let config: { mcpServers: Record<string, object>; toolyard: object };
/** Written while a server is to crash at its start. */
let broken: string;
let pids: string;
/** Of the file, before it was broken. */
let configText: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "toolyard-events-"));
  broken = join(directory, "broken");
  pids = join(directory, "pids");
  changing = await openDefined();
  receiver = await startWebhookReceiver();
  remote = await startBadHttpServer(0, "--session");
  const bad = badServer("--resources");
  config = {
    mcpServers: {
      bad,
      fragile: badServer("--write-pid", pids, "--crash-while-exists", broken),
      sleeper: { ...badServer("--behaviours=echo"), idleTimeoutMs: 300 },
      remote: { type: "http", url: remote.url },
      failing: { type: "http", url: remote.url, breaker: true },
      twins: badServer("--duplicate", "--behaviours", "none"),
      asker: { ...badServer("--behaviours=echo"), tools: { ask: ["echo"] } },
      changing: changing.entry,
      caged: {
        command: process.execPath,
        args: [insideServer],
        scope: "shared",
        sandbox: { network: ["api.example.com"] },
      },
      dead: { ...badServer("--behaviours=dead"), command: join(directory, "missing") },
      hers: { ...badServer("--behaviours=canary"), scope: "user" },
    },
    toolyard: {
      principals: { alice: { tokenHash: alice.hash, roles: ["admin"], team: "acme" } },
      instances: {
        restartDelaysMs: [50, 100, 150],
        callRetryMs: 0,
        failedRetryMs: 600_000,
        idleGraceMs: 0,
        idleCheckMs: 100,
        breakerCalls: 2,
      },
      approvals: { waiting: 1, holdMs: 0 },
      namespaces: { maxLoaded: 1 },
      events: webhookSettings(receiver),
    },
  };
  for (const name of ["bad", "fragile", "sleeper", "remote", "failing", "twins", "dead", "asker", "changing"])
    config.mcpServers[name] = { ...config.mcpServers[name], scope: "shared" };
  gateway = await startGateway({ config, directory });
  await until(async () => (await get(`${gateway.url}/api/servers`, bearer)).status === 200);
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await receiver[Symbol.asyncDispose]();
  await remote[Symbol.asyncDispose]();
  await changing[Symbol.asyncDispose]();
  await rm(directory, { recursive: true, force: true });
});

const call = async (path: string, args: object = {}): Promise<void> => {
  await run(gateway.url, path, args, bearer);
};
const tools = async (app: string): Promise<void> => {
  await get(`${gateway.url}/list/apps/${app}/tools`, bearer);
};
const isOnline = async (server: string): Promise<boolean> => {
  const { json } = await get(`${gateway.url}/api/servers`, bearer);
  return (json.servers as { name: string; slug: string; status: string }[]).some(
    (one) => JSON.stringify(one).includes(`"${server}"`) && one.status === "online",
  );
};
const came = async (type: PublishedType, after = 0): Promise<WrittenEvent> =>
  await until(() => receiver.events.slice(after).find((event) => event.type === type));
const asOwner = async (method: string, path: string, body?: object): Promise<unknown> =>
  JSON.parse((await askOwner(join(directory, "data"), method, path, body)).text);
const decideLast = async (decision: object): Promise<void> => {
  const { approvals } = (await asOwner("GET", "/api/approvals?state=waiting")) as { approvals: { id: string }[] };
  await asOwner("POST", `/api/approvals/${approvals[0]?.id}`, decision);
};
const nothing = async (): Promise<void> => await Promise.resolve();

interface Row {
  /** What makes it happen for real. */
  readonly cause: () => Promise<void>;
  /** Which of the events of this type is meant. */
  readonly which?: (event: WrittenEvent) => boolean;
  readonly event: object;
}

const ofShared = (server: string): object => ({
  server,
  instance: server,
  installation: server,
  principal: null,
  team: null,
});
const ofAlice = { principal: "alice", team: "acme" };

/** Those of a cluster have a test with several nodes (test/cluster/operating.test.ts). */
type Elsewhere = "auth.login" | "gateway.stopping" | "approvals.changed" | "instance.moved" | `node.${string}`;

/** Every type that leaves the gateway: a type without a row here is no valid program. */
const rows: Readonly<Record<Exclude<PublishedType, Elsewhere>, Row>> = {
  "gateway.listening": { cause: nothing, event: { server: null, data: { address: expect.stringMatching(/^http:/) } } },
  "config.changed": {
    cause: nothing,
    event: { data: { file: expect.any(String), added: 11, changed: 0, removed: 0 } },
  },
  "mcp.server.started": {
    cause: nothing,
    which: ({ server }) => server === "bad",
    event: { ...ofShared("bad"), data: { pid: expect.any(Number), duration_ms: expect.any(Number) } },
  },
  "mcp.server.status_changed": {
    cause: nothing,
    which: ({ server, data }) => server === "bad" && data.to === "online",
    event: { ...ofShared("bad"), data: { from: expect.any(String), to: "online", reason: expect.any(String) } },
  },
  "mcp.tools.discovered": {
    cause: nothing,
    which: ({ server }) => server === "sleeper",
    event: { ...ofShared("sleeper"), data: { server_slug: "sleeper", tool_count: 1 } },
  },
  "catalog.changed": { cause: nothing, event: { data: { kinds: ["tools", "resources", "prompts"] } } },
  "catalog.item_skipped": {
    cause: nothing,
    event: { ...ofShared("twins"), data: { kind: "tool", name: "twin", reason: expect.stringContaining("twice") } },
  },
  "mcp.server.dormant": {
    cause: async () => await call("sleeper:echo"),
    event: { ...ofShared("sleeper"), data: { idle_ms: expect.any(Number) } },
  },
  "approval.requested": {
    cause: async () => await call("asker:echo", {}),
    event: { ...ofAlice, data: { tool: "asker:echo", by: "alice", through: "client" } },
  },
  "approval.expired": {
    cause: async () => await call("asker:echo", { another: 1 }),
    event: { ...ofAlice, data: { tool: "asker:echo", by: "gateway" } },
  },
  "approval.decided": {
    cause: async () => await decideLast({ decision: "allow", for: "always" }),
    event: { ...ofAlice, data: { verdict: "always", by: "local", through: "owner" } },
  },
  "approval.revoked": {
    cause: async () => {
      const { grants } = (await asOwner("GET", "/api/grants")) as { grants: { id: string }[] };
      await asOwner("DELETE", `/api/grants/${grants[0]?.id}`);
    },
    event: { ...ofAlice, data: { tool: "asker:echo", through: "owner" } },
  },
  "sandbox.denied": {
    cause: async () => await call("caged:run", { code: 'await dns.lookup("evil.test").catch(() => undefined)' }),
    event: { ...ofShared("caged"), data: { host: "evil.test", why: "it is not in sandbox.network" } },
  },
  "definition.changed": {
    cause: async () => {
      await until(async () => await isOnline("changing"));
      changing.list([{ name: "plain", description: "Other words" }]);
    },
    event: { ...ofShared("changing"), data: { tools: ["plain"], by: "gateway", through: "gateway" } },
  },
  "definition.held": {
    cause: async () => changing.list([{ name: "plain", description: "Other words" }, { name: "delete_all" }]),
    event: {
      ...ofShared("changing"),
      data: { tools: ["delete_all"], page: expect.stringMatching(/\/ui\/servers\/changing$/) },
    },
  },
  "definition.decided": {
    cause: async () => {
      await came("definition.held");
      const { servers } = (await asOwner("GET", "/api/definitions?state=held")) as { servers: { hash: string }[] };
      await asOwner("POST", "/api/definitions/changing/approve", { hash: servers[0]?.hash });
    },
    event: { ...ofShared("changing"), data: { tools: ["delete_all"], verdict: "approve", through: "owner" } },
  },
  "mcp.server.respawned": {
    cause: async () => {
      await came("mcp.server.dormant");
      await call("sleeper:echo");
    },
    event: { ...ofShared("sleeper"), data: { duration_ms: expect.any(Number) } },
  },
  "mcp.server.logs": {
    cause: async () => await call("bad:stderr", { text: "from afar" }),
    which: ({ data }) => data.line === "from afar",
    event: { ...ofShared("bad"), data: { level: "stderr" } },
  },
  "mcp.request.logs": {
    cause: async () => await call("hers:canary"),
    event: { ...ofAlice, server: expect.any(String), data: { method: "tools/call", outcome: expect.any(String) } },
    which: ({ server }) => server === "hers",
  },
  "catalog.announced": {
    cause: async () => await call("bad:list-changed"),
    event: { ...ofShared("bad"), data: { kinds: ["tools"] } },
    which: ({ server }) => server === "bad",
  },
  "resource.updated": {
    cause: async () => await call("bad:resource-updated", { uri: "bad://text" }),
    event: { ...ofShared("bad"), data: { uri: "bad://text" } },
  },
  "result.schema_mismatch": {
    cause: async () => {
      await call("bad:structured-mismatch");
      await until(async () => {
        await call("bad:structured-mismatch");
        return receiver.events.some(({ type }) => type === "result.schema_mismatch");
      });
    },
    event: { ...ofShared("bad"), data: { tool: "bad:structured-mismatch", reason: expect.any(String) } },
  },
  "upstream.oddity": {
    cause: async () => await call("bad:not-json"),
    event: { ...ofShared("bad"), data: { kind: expect.any(String), detail: expect.any(String) } },
  },
  "server.session_replaced": {
    cause: async () => {
      await until(async () => await isOnline("remote"));
      await call("remote:expire-session");
      await call("remote:echo");
    },
    event: { ...ofShared("remote"), data: {} },
  },
  "tool.bare_name": {
    cause: async () => await call("twin"),
    event: { principal: "alice", data: { path: expect.any(String), migrated: false } },
  },
  "search.done": {
    cause: async () => {
      const params = { name: "discover_mcp_tools", arguments: { query: "an echo" } };
      await rpc(`${gateway.url}/mcp`, "tools/call", params, bearer);
    },
    event: { ...ofAlice, server: null, data: { engine: expect.any(String), results: expect.any(Number) } },
  },
  "namespace.loaded": {
    cause: async () => await tools("bad"),
    which: ({ server }) => server === "bad",
    event: { ...ofAlice, server: "bad", data: { namespace: "bad", why: "asked" } },
  },
  "namespace.used": {
    cause: async () => {
      await tools("bad");
      await call("bad:echo");
    },
    which: ({ server }) => server === "bad",
    event: { ...ofAlice, data: { namespace: "bad" } },
  },
  "namespace.evicted": {
    cause: async () => {
      await tools("bad");
      await tools("sleeper");
    },
    event: { ...ofAlice, data: { why: "room" } },
  },
  "namespace.load_failed": {
    cause: async () => await tools("dead"),
    event: { ...ofAlice, server: "dead", data: { code: expect.any(String) } },
  },
  "auth.denied": {
    cause: async () => void (await get(`${gateway.url}/api/servers?token=wrong`, { authorization: "Bearer wrong" })),
    event: { principal: null, data: { address: "127.0.0.1", method: "GET", path: "/api/servers", more: 0 } },
  },
  "auth.token.issued": {
    cause: async () => void (await post(`${gateway.url}/api/instances/bad/token`, {}, bearer)),
    event: { ...ofAlice, server: "bad", instance: "bad", data: {} },
  },
  "auth.token.revoked": {
    cause: async () => {
      await came("auth.token.issued");
      const headers = { "content-type": "application/json", ...bearer };
      await send(`${gateway.url}/api/instances/bad/token`, { method: "DELETE", headers });
    },
    event: { ...ofAlice, server: "bad", data: { tokens: 1 } },
  },
  "config.refused": {
    cause: async () => {
      configText = await readFile(gateway.configFile, "utf8");
      await writeFile(gateway.configFile, "{");
    },
    event: { data: { file: expect.any(String), reason: expect.any(String) } },
  },
  "config.mended": {
    cause: async () => await writeFile(gateway.configFile, configText),
    event: { data: { file: expect.any(String) } },
  },
  "mcp.server.crashed": {
    cause: async () => {
      await until(async () => await isOnline("fragile"));
      await writeFile(broken, "");
      process.kill(startsIn(pids).at(-1) ?? 0, "SIGKILL");
    },
    event: { ...ofShared("fragile"), data: { signal: "SIGKILL", crashes: 1 } },
  },
  "mcp.server.restarted": { cause: nothing, event: { ...ofShared("fragile"), data: { reason: expect.any(String) } } },
  "mcp.server.breaker": {
    cause: async () => {
      await until(async () => await isOnline("failing"));
      for (let at = 0; at < 2; at += 1) await call("failing:http-error");
    },
    event: {
      ...ofShared("failing"),
      data: { replica: "the server", state: "open", reason: "failed in 2 of its last 2 calls" },
    },
  },
  "mcp.server.permanently_failed": {
    cause: nothing,
    event: { ...ofShared("fragile"), data: { reason: expect.any(String) } },
  },
};

describe("every type of event is emitted by what it is about, and says whose it is", () => {
  test.each(Object.keys(rows) as (keyof typeof rows)[])("%s", async (type) => {
    const { cause, which = () => true, event } = rows[type];
    await cause();
    const found = await until(() => receiver.events.find((one) => one.type === type && which(one)));
    expect(found).toMatchObject(event);
    expect(Math.abs(Date.parse(found.time) - Date.now())).toBeLessThan(600_000);
  });

  test("a person's own instance is named with its owner and team", async () => {
    const found = await until(() =>
      receiver.events.find(({ type, server }) => type === "mcp.server.started" && server === "hers"),
    );
    expect(found).toMatchObject(ofAlice);
    expect(found.instance).toBe(found.installation);
  });

  test("gateway.stopping, as the last that is sent", async () => {
    await gateway.stop();
    expect(receiver.events.find(({ type }) => type === "gateway.stopping")?.data).toEqual({
      reason: expect.any(String),
    });
  });

  test("auth.login", async () => {
    await using world = await createWorld();
    await using hook = await startWebhookReceiver();
    const mcpServers = { vault: { type: "http", url: world.server.url } };
    await using local = await world.gateway({ config: { mcpServers, toolyard: { events: webhookSettings(hook) } } });
    await untilLoginIsWanted(local.url);
    await world.logIn();
    await executeSoon(local.url, "vault:headers");
    expect(await until(() => hook.events.find(({ type }) => type === "auth.login"))).toMatchObject({
      ...ofShared("vault"),
      data: {},
    });
  });

  test("server.notification, which goes to the server's clients only", async () => {
    const type: GatewayEvent["type"] = "server.notification";
    await using hook = await startWebhookReceiver();
    const toolyard = { events: webhookSettings(hook) };
    await using local = await startGateway({ config: { mcpServers: { bad: badServer() }, toolyard } });
    const stream = await openSse(`${local.url}/sse/server/bad`);
    await stream.initialize();
    await execute(local.url, "bad:unknown-notification");
    await until(() => stream.messages.find((message) => message.method === "notifications/never/heard/of"));
    await local.stop();
    expect(hook.events.map((event) => event.type)).toContain("mcp.request.logs");
    expect(hook.events.map((event) => event.type)).not.toContain(type);
    stream.close();
  });
});
