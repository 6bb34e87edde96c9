import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { startGateway, type RunningGateway } from "../harness/gateway.ts";
import { execute, send } from "../harness/rpc.ts";
import { until } from "../harness/until.ts";
import { serveCounted, withStatus, type CountedServer } from "./counted-server.ts";

let directory: string;
beforeEach(async () => void (directory = await mkdtemp(join(tmpdir(), "toolyard-breakers-"))));
afterEach(async () => await rm(directory, { recursive: true, force: true }));

const quick = {
  probeIntervalMs: 1_000,
  idleCheckMs: 100,
  callRetryMs: 100,
  restartDelaysMs: [100, 200],
  breakerCalls: 10,
  breakerWaitMs: 200,
};

function configOf(entry: object, instances: object = {}): object {
  return { mcpServers: { many: entry }, toolyard: { instances: { ...quick, ...instances } } };
}

async function start(entry: object, instances: object = {}): Promise<RunningGateway> {
  const gateway = await startGateway({ config: configOf(entry, instances), directory });
  await until(async () => (await statusOf(gateway))?.status === "online");
  return gateway;
}

// oxlint-disable-next-line typescript/no-explicit-any -- tests look into whatever came back
async function statusOf(gateway: RunningGateway): Promise<any> {
  const { json } = await send(`${gateway.url}/api/status`, { method: "GET" });
  return json.servers.find(({ server }: { server: string }) => server === "many");
}

// oxlint-disable-next-line typescript/no-explicit-any -- tests look into whatever came back
async function detailsOf(gateway: RunningGateway): Promise<any> {
  return (await send(`${gateway.url}/api/servers/many`, { method: "GET" })).json;
}

/** The name of the server that answered, or the code of the failure. */
async function call(gateway: RunningGateway, tool = "one"): Promise<string> {
  const { isError, content } = await execute(gateway.url, `many:${tool}`);
  return isError === true ? JSON.parse(content[0].text).code : content[0].text;
}

async function callAll(gateway: RunningGateway, times: number, tool?: string): Promise<readonly string[]> {
  const answers: string[] = [];
  for (let at = 0; at < times; at += 1) answers.push(await call(gateway, tool));
  return answers;
}

const allUp = async (gateway: RunningGateway, of: number): Promise<boolean> => {
  const { replicas } = await statusOf(gateway);
  return replicas?.up === of && replicas.of === of;
};

async function metricsOf(gateway: RunningGateway): Promise<string> {
  return (await send(`${gateway.url}/metrics`, { method: "GET" })).text;
}

describe("several addresses of one server", () => {
  test("share its calls; a dead one costs none of them, and is used again when it is back", async () => {
    await using a = await serveCounted("a");
    await using b = await serveCounted("b");
    await using gateway = await start({ urls: [a.url, b.url] });
    await until(async () => await allUp(gateway, 2));
    expect(new Set(await callAll(gateway, 40))).toEqual(new Set(["a", "b"]));
    await a[Symbol.asyncDispose]();
    expect(new Set(await callAll(gateway, 40))).toEqual(new Set(["b"]));
    await until(async () => /1 of 2 replicas are up; address 1/.test((await statusOf(gateway)).reason));
    expect((await statusOf(gateway)).status).toBe("online");
    await using again = await serveCounted("a", a.port);
    await until(async () => await allUp(gateway, 2));
    expect(new Set(await callAll(gateway, 40))).toEqual(new Set(["a", "b"]));
    expect(again.calls).toBeGreaterThan(0);
  });

  test("one that was dead from the start, or accepts and says nothing, keeps none waiting", async () => {
    await using a = await serveCounted("a");
    await using dead = await serveCounted("dead");
    await dead[Symbol.asyncDispose]();
    await using hole = await serveCounted("hole");
    hole.isSilent = true;
    await using gateway = await start({ urls: [dead.url, hole.url, a.url] });
    expect(new Set(await callAll(gateway, 20))).toEqual(new Set(["a"]));
    expect(await statusOf(gateway)).toMatchObject({ status: "online", replicas: { of: 3, up: 1 } });
  });

  test("what was sent is not sent to another one, unless it may be repeated", async () => {
    await using a = await serveCounted("a");
    await using b = await serveCounted("b");
    await using gateway = await start({ urls: [a.url, b.url], breaker: false });
    await until(async () => await allUp(gateway, 2));
    const cut: CountedServer["fate"] = (tool, _response, request) => {
      if (tool !== "one") return false;
      request.socket.destroy();
      return true;
    };
    a.fate = b.fate = cut;
    expect(new Set(await callAll(gateway, 10))).toEqual(new Set(["UPSTREAM_CLOSED"]));
    expect(a.calls + b.calls).toBe(10);
  });

  test("when all are dead the server is offline, and one that is back brings it back", async () => {
    await using a = await serveCounted("a");
    await using b = await serveCounted("b");
    await using gateway = await start({ urls: [a.url, b.url] });
    await until(async () => await allUp(gateway, 2));
    await a[Symbol.asyncDispose]();
    await b[Symbol.asyncDispose]();
    expect(await call(gateway)).toMatch(/^(CONNECT_FAILED|SERVER_OFFLINE)$/);
    await until(async () => (await statusOf(gateway)).status === "offline");
    await using again = await serveCounted("b", b.port);
    await until(async () => (await statusOf(gateway)).status === "online");
    expect(await call(gateway)).toBe("b");
    expect(again.calls).toBe(1);
  });

  test("one that answers 500 gets next to no calls, and all are told of it", async () => {
    await using a = await serveCounted("a");
    await using b = await serveCounted("b");
    await using gateway = await start({ urls: [a.url, b.url] }, { breakerWaitMs: 60_000 });
    await until(async () => await allUp(gateway, 2));
    a.fate = withStatus(500);
    // One after the other, they go to the one that does not fail; at once, some go to both.
    expect((await callAll(gateway, 40)).filter((answer) => answer !== "b").length).toBeLessThan(10);
    const first: string[] = [];
    await until(async () => {
      first.push(...(await Promise.all(Array.from({ length: 60 }, async () => await call(gateway)))));
      return (await detailsOf(gateway)).replicas[0].breaker === "open";
    });
    const before = a.calls;
    expect(new Set(await callAll(gateway, 50))).toEqual(new Set(["b"]));
    expect(a.calls).toBe(before);
    expect(first).toContain("UPSTREAM_HTTP");
    const { reason, replicas } = await statusOf(gateway);
    expect(reason).toMatch(/^1 of 2 replicas are up; address 1 \(127\.0\.0\.1:\d+\): breaker: open, next try in .+$/);
    expect(replicas).toMatchObject({ of: 2, up: 1 });
    const metrics = await metricsOf(gateway);
    expect(metrics).toContain('toolyard_server_replicas{server="many",state="breaker_open"} 1');
    expect(metrics).toContain('toolyard_breaker_changes_total{server="many",state="open"} 1');
  });

  test("other addresses are applied by a hot reload", async () => {
    await using a = await serveCounted("a");
    await using b = await serveCounted("b");
    await using gateway = await start({ urls: [a.url] });
    expect(new Set(await callAll(gateway, 10))).toEqual(new Set(["a"]));
    await writeFile(gateway.configFile, JSON.stringify(configOf({ urls: [b.url] })));
    await until(async () => (await call(gateway)) === "b");
    await writeFile(gateway.configFile, JSON.stringify(configOf({ urls: [a.url, b.url], replicas: 2 })));
    await until(async () => await allUp(gateway, 4));
    expect(new Set(await callAll(gateway, 40))).toEqual(new Set(["a", "b"]));
  });
});

describe("a breaker", () => {
  const failing = (percent: number): CountedServer["fate"] => {
    let calls = 0;
    return (tool, response, request) => {
      if (tool.includes("/") || tool === "ping") return false;
      calls += 1;
      return Math.floor((calls * percent) / 100) > Math.floor(((calls - 1) * percent) / 100)
        ? withStatus(503)(tool, response, request)
        : false;
    };
  };

  test("opens under a server that fails 60 %, says so, and closes when it is well again", async () => {
    await using a = await serveCounted("a");
    await using gateway = await start({ url: a.url, breaker: true }, { breakerWaitMs: 1_000 });
    a.fate = failing(60);
    await until(async () => (await call(gateway)) === "BREAKER_OPEN");
    const refused = await execute(gateway.url, "many:one");
    expect(JSON.parse(refused.content[0].text)).toMatchObject({
      code: "BREAKER_OPEN",
      retryAfterMs: expect.any(Number) as number,
      hint: expect.any(String) as string,
    });
    expect(await statusOf(gateway)).toMatchObject({
      status: "online",
      reason: expect.stringMatching(/^breaker: open, next try in/) as string,
    });
    a.fate = () => false;
    await until(async () => (await detailsOf(gateway)).replicas[0].breaker === "half-open");
    expect(await callAll(gateway, 10)).not.toContain("BREAKER_OPEN");
    expect(await statusOf(gateway)).toMatchObject({ reason: "", replicas: { of: 1, up: 1 } });
  });

  test("waits longer each time that its try fails, and asks before it spends a call", async () => {
    await using a = await serveCounted("a");
    await using gateway = await start({ url: a.url, breaker: true });
    a.fate = withStatus(500);
    await until(async () => (await call(gateway)) === "BREAKER_OPEN");
    const { calls } = a;
    await until(() => a.methods.filter((method) => method === "ping").length >= 3);
    expect(a.calls).toBe(calls);
    expect((await detailsOf(gateway)).replicas[0].breaker).toBe("open");
  });

  test("errors that a server answers on purpose are no failures, nor are refusals of one call", async () => {
    await using a = await serveCounted("a");
    await using gateway = await start({ url: a.url, breaker: true });
    a.fate = withStatus(422, (tool) => !tool.includes("/"));
    expect(new Set(await callAll(gateway, 30))).toEqual(new Set(["UPSTREAM_HTTP"]));
  });

  test("one slow tool leaves the others be: beside calls that work, and alone where the server gives a sign of life", async () => {
    await using a = await serveCounted("a");
    const entry = { url: a.url, breaker: true, callTimeoutMs: 150 };
    await using gateway = await start(entry);
    a.fate = (tool) => tool === "two";
    const slow = async (times: number) =>
      await Promise.all(Array.from({ length: times }, async () => await call(gateway, "two")));
    expect(new Set(await slow(30))).toEqual(new Set(["UPSTREAM_TIMEOUT"]));
    expect(await call(gateway, "one")).toBe("a");
    await callAll(gateway, 10, "one");
    expect(new Set(await slow(40))).toEqual(new Set(["UPSTREAM_TIMEOUT"]));
    expect(new Set(await callAll(gateway, 10, "three"))).toEqual(new Set(["a"]));
  });

  test("a server that says nothing any more is given up after its timeouts", async () => {
    await using a = await serveCounted("a");
    await using gateway = await start({ url: a.url, breaker: true, callTimeoutMs: 150 });
    a.isSilent = true;
    await Promise.all(Array.from({ length: 12 }, async () => await call(gateway)));
    await until(async () => (await call(gateway)) === "BREAKER_OPEN");
    a.isSilent = false;
    await until(async () => (await call(gateway)) === "a");
  });

  test("is on for all servers where the settings say so, and off where its entry does", async () => {
    await using a = await serveCounted("a");
    await using gateway = await start({ url: a.url }, { breaker: true });
    a.fate = withStatus(500, (tool) => tool === "one");
    await until(async () => (await call(gateway)) === "BREAKER_OPEN");
    await writeFile(gateway.configFile, JSON.stringify(configOf({ url: a.url, breaker: false }, { breaker: true })));
    await until(async () => (await statusOf(gateway)).replicas === null);
    expect(new Set(await callAll(gateway, 20))).toEqual(new Set(["UPSTREAM_HTTP"]));
  });
});
