import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { badServer, startGateway, type RunningGateway } from "../harness/gateway.ts";
import { createToken } from "../../src/people/identity/token.ts";
import { execute, rpc, send } from "../harness/rpc.ts";
import { until } from "../harness/until.ts";
import { discover } from "../faults/servers/faulty-gateway.ts";
import { aliveIn, standingOf, startsIn } from "./observing.ts";

let directory: string;
let pids: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "toolyard-replicas-"));
  pids = join(directory, "pids");
});
afterEach(async () => await rm(directory, { recursive: true, force: true }));

const quick = { restartDelaysMs: [50, 100, 150], callRetryMs: 0, idleCheckMs: 100 };

interface Wanted {
  readonly flags?: readonly string[];
  readonly over?: object;
  readonly instances?: object;
}

function configOf({ flags = [], over = {}, instances = {} }: Wanted): object {
  const many = { ...badServer("--write-pid", pids, ...flags), replicas: 3, ...over };
  return { mcpServers: { many }, toolyard: { instances: { ...quick, ...instances } } };
}

async function start(wanted: Wanted = {}): Promise<RunningGateway> {
  const gateway = await startGateway({ config: configOf(wanted), directory, args: ["--log-level", "debug"] });
  await until(async () => (await replicasOf(gateway)).up === 3);
  return gateway;
}

interface Replicas {
  readonly of: number;
  readonly up: number;
  readonly inFlight: number;
}

// oxlint-disable-next-line typescript/no-explicit-any -- tests look into whatever came back
async function statusOf(gateway: RunningGateway): Promise<any> {
  const { json } = await send(`${gateway.url}/api/status`, { method: "GET" });
  return json.servers.find(({ server }: { server: string }) => server === "many");
}

const replicasOf = async (gateway: RunningGateway): Promise<Replicas> =>
  (await statusOf(gateway))?.replicas ?? { of: 0, up: 0, inFlight: 0 };

/** The process that answered a call. */
const pidOf = async (gateway: RunningGateway): Promise<number> =>
  JSON.parse((await execute(gateway.url, "many:pid")).content[0].text).pid;

async function pidsOf(gateway: RunningGateway, calls: number): Promise<readonly number[]> {
  const found: number[] = [];
  for (let at = 0; at < calls; at += 1) found.push(await pidOf(gateway));
  return found;
}

describe("several processes of one server", () => {
  test("share its calls; its lists are there once, and every process ends with the gateway", async () => {
    await using gateway = await start({ flags: ["--tools", "2", "--behaviours", "pid"] });
    expect(startsIn(pids)).toHaveLength(3);
    expect(new Set(await pidsOf(gateway, 60))).toEqual(new Set(startsIn(pids)));
    expect((await discover(gateway, { query: "" })).total_tools).toBe(3);
    expect(await statusOf(gateway)).toMatchObject({ status: "online", reason: "", replicas: { of: 3, up: 3 } });
    await gateway.stop();
    await until(() => aliveIn(pids).length === 0);
  });

  test("a slow one gets fewer calls than the others", async () => {
    await using gateway = await start();
    const [slow = 0] = startsIn(pids);
    // It is kept busy: calls that wait for a file are in flight there, and at the others as many.
    const file = join(directory, "until");
    const waiting = Array.from({ length: 9 }, async () => await execute(gateway.url, "many:slow", { until: file }));
    await until(async () => (await replicasOf(gateway)).inFlight === 9);
    process.kill(slow, "SIGSTOP");
    try {
      const calls = Array.from({ length: 60 }, async () => await pidOf(gateway));
      const stuck = Symbol("stuck");
      const answers = await Promise.all(
        calls.map(async (call) => await Promise.race([call, new Promise((done) => setTimeout(done, 3_000, stuck))])),
      );
      expect(answers.filter((answer) => answer === stuck).length).toBeLessThan(30);
    } finally {
      process.kill(slow, "SIGCONT");
    }
    await writeFile(file, "");
    await Promise.all(waiting);
  });

  test("kill -9 of one under load loses only the calls that were in it, and it comes back", async () => {
    await using gateway = await start({ over: { retry: false } });
    const [victim = 0] = startsIn(pids);
    const file = join(directory, "until");
    const waiting = Array.from({ length: 12 }, async () => await execute(gateway.url, "many:slow", { until: file }));
    await until(async () => (await replicasOf(gateway)).inFlight === 12);
    const before = await inFlightOf(gateway);
    process.kill(victim, "SIGKILL");
    await until(
      async () => /2 of 3 replicas are up/.test((await statusOf(gateway)).reason) || startsIn(pids).length > 3,
    );
    const others = await Promise.all(Array.from({ length: 20 }, async () => await pidOf(gateway)));
    expect(others).not.toContain(victim);
    expect((await statusOf(gateway)).status).toBe("online");
    await writeFile(file, "");
    const results = await Promise.all(waiting);
    const lost = results.filter(({ isError }) => isError === true);
    expect(lost).toHaveLength(before[0] ?? -1);
    for (const { content } of lost) expect(JSON.parse(content[0].text).code).toBe("UPSTREAM_CLOSED");
    await until(async () => (await replicasOf(gateway)).up === 3);
    expect(startsIn(pids)).toHaveLength(4);
    expect((await statusOf(gateway)).reason).toBe("");
  });

  test("when all are killed, it is started again as one process would be", async () => {
    await using gateway = await start();
    for (const pid of startsIn(pids)) process.kill(pid, "SIGKILL");
    await until(async () => startsIn(pids).length >= 6 && (await replicasOf(gateway)).up === 3);
    expect(await pidsOf(gateway, 5)).not.toContain(startsIn(pids)[0]);
    expect(aliveIn(pids)).toHaveLength(3);
    const { text } = await send(`${gateway.url}/metrics`, { method: "GET" });
    expect(text).toContain('toolyard_server_crashes_total{server="many"} 3');
  });

  test("all are stopped when idle, and a call starts them all", async () => {
    const config = configOf({ instances: { idleGraceMs: 0 }, over: { idleTimeoutMs: 300 } });
    await using gateway = await startGateway({ config, directory });
    await until(() => startsIn(pids).length > 0 && aliveIn(pids).length === 0);
    const waiting = execute(gateway.url, "many:slow", { until: join(directory, "until") });
    await until(async () => (await replicasOf(gateway)).up === 3);
    expect(aliveIn(pids)).toHaveLength(3);
    await writeFile(join(directory, "until"), "");
    await waiting;
  });

  test("another number is applied without a restart of those that stay", async () => {
    await using gateway = await start();
    const before = startsIn(pids);
    await writeFile(gateway.configFile, JSON.stringify(configOf({ over: { replicas: 5 } })));
    await until(async () => (await replicasOf(gateway)).up === 5);
    expect(startsIn(pids).slice(0, 3)).toEqual(before);
    expect(aliveIn(pids)).toHaveLength(5);
    await writeFile(gateway.configFile, JSON.stringify(configOf({ over: { replicas: 2 } })));
    await until(() => aliveIn(pids).length === 2);
    expect(await replicasOf(gateway)).toMatchObject({ of: 2, up: 2 });
    for (const pid of aliveIn(pids)) expect(before).toContain(pid);
    await writeFile(gateway.configFile, JSON.stringify(configOf({ over: { replicas: 1 } })));
    await until(() => aliveIn(pids).length === 0);
    expect([await pidOf(gateway)]).toEqual(aliveIn(pids));
    expect((await statusOf(gateway)).replicas).toBeNull();
  });

  test.each(["legacy", "modern"])("a change that each %s one announces is fetched; stderr names it", async (era) => {
    await using gateway = await start({ flags: ["--stderr-lines", "1", "--era", era] });
    await until(() => [1, 2, 3].every((at) => gateway.stderr().includes(`replica ${at}: stderr line 1`)));
    for (let at = 0; at < 30; at += 1) await execute(gateway.url, "many:rename", { to: "brand-new" });
    await until(async () =>
      (await discover(gateway, { query: "brand-new" })).tools.some(
        (tool: { tool_path: string }) => tool.tool_path === "many:brand-new",
      ),
    );
  });
});

test("each person with an instance of their own has as many processes", async () => {
  const people = { alice: createToken(), bob: createToken() };
  const principals = Object.fromEntries(
    Object.entries(people).map(([name, { hash }]) => [name, { tokenHash: hash, team: "acme" }]),
  );
  const many = { ...badServer("--write-pid", pids), scope: "user", replicas: 2 };
  const config = { mcpServers: { many }, toolyard: { instances: quick, principals } };
  await using gateway = await startGateway({ config, directory });
  const used: Set<number>[] = [];
  for (const { token } of Object.values(people)) {
    const params = { name: "execute_mcp_tool", arguments: { tool_path: "many:pid", arguments: {} } };
    const seen = new Set<number>();
    await until(async () => {
      const { json } = await rpc(`${gateway.url}/mcp`, "tools/call", params, { authorization: `Bearer ${token}` });
      return seen.add(JSON.parse(json.result.content[0].text).pid).size === 2;
    });
    used.push(seen);
  }
  expect(new Set(used.flatMap((pidsOfOne) => [...pidsOfOne]))).toEqual(new Set(startsIn(pids)));
  expect(startsIn(pids)).toHaveLength(4);
});

/** Calls in flight by replica, in the order of their starts. */
async function inFlightOf(gateway: RunningGateway): Promise<readonly number[]> {
  const { json } = await send(`${gateway.url}/api/servers/many`, { method: "GET" });
  const replicas: readonly { readonly pid: number; readonly inFlight: number }[] = json.replicas;
  return startsIn(pids).map((pid) => replicas.find((one) => one.pid === pid)?.inFlight ?? 0);
}

describe("an entry whose calls cannot be divided is refused, and says why", () => {
  const known = { command: "npx", args: ["-y", "@playwright/mcp"] };
  test.each([
    ["a server that keeps state", { command: "x", stateful: true, replicas: 2 }, /replicas.*keeps state/],
    ["one that is known for it", { ...known, replicas: 2 }, /replicas.*keeps state/],
    ["one for each client", { command: "x", scope: "client", replicas: 2 }, /replicas.*scope `client`/],
    ["several addresses of one", { urls: ["http://a.test/", "http://b.test/"], stateful: true }, /urls.*keeps state/],
    ["at every node what keeps state", { ...known, place: { everyNode: true } }, /everyNode.*keeps state/],
    [
      "at every node one alone",
      { command: "x", exclusive: true, place: { everyNode: true } },
      /everyNode.*`exclusive`/,
    ],
    ["at every node with files", { command: "x", files: "node", place: { everyNode: true } }, /everyNode.*one node/],
    [
      "at every node of some",
      { command: "x", place: { everyNode: true, labels: { gpu: "yes" } } },
      /everyNode.*place\.labels/,
    ],
    ["too many", { command: "x", replicas: 1e9 }, /replicas/],
    ["none", { command: "x", replicas: 0 }, /replicas/],
    ["a fraction", { command: "x", replicas: 1.5 }, /replicas/],
    ["url and urls", { url: "http://a.test/", urls: ["http://b.test/"] }, /either `url` or `urls`/],
    ["an address that is none", { urls: ["http://a.test/", "file:///etc/passwd"] }, /urls\[1\].*http/],
    ["an address twice", { urls: ["http://a.test", "http://a.test/"] }, /urls\[1\].*twice/],
    ["too many addresses", { urls: Array.from({ length: 33 }, (_, at) => `http://a${at}.test/`) }, /at most 32/],
  ])("%s", async (_what, entry, why) => {
    await using gateway = await startGateway({ config: { mcpServers: { many: entry } }, directory });
    expect(await standingOf(gateway.url, "many")).toMatchObject({
      status: "disabled",
      reason: expect.stringMatching(why) as string,
    });
    expect(gateway.stderr()).toMatch(why);
  });

  test("a server that is known for it can be said to keep nothing", async () => {
    await using gateway = await start({ over: { stateful: false } });
    expect(await replicasOf(gateway)).toMatchObject({ of: 3 });
  });
});
