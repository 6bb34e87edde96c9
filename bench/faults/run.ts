/**
 * What faults cost the others: times and event-loop lag that no test may assert (docs/faults.md). Each figure stands
 * beside a quiet one of the same run. Run on an idle machine: `npm run bench bench/faults/run.ts [-- "--only=15 MB"]`
 */
import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { Agent, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createToken } from "../../src/people/identity/token.ts";
import { startGateway, type RunningGateway } from "../../test/harness/gateway.ts";
import { rpc } from "../../test/harness/rpc.ts";
import { until } from "../../test/harness/until.ts";
import { childrenOf } from "../../test/instances/observing.ts";
import { printTable, quantile } from "../instances/table.ts";

const badServerFile = fileURLToPath(new URL("../../test/servers/bad-server.mjs", import.meta.url));
const bad = (...flags: string[]) => ({ command: process.execPath, args: [badServerFile, ...flags], scope: "shared" });
/** The one who disturbs is a process of its own: what we measure with must not be what is slow. */
const noiseOf = process.env["TOOLYARD_BENCH_NOISE"];
const noisy = noiseOf === undefined ? createToken() : { token: process.env["TOOLYARD_BENCH_TOKEN"] ?? "", hash: "" };
const victim = createToken();
const bearer = ({ token }: { readonly token: string }) => ({ authorization: `Bearer ${token}` });
const rows: (string | number)[][] = [];
/** Part of the name of a disturbance, to measure that one alone. */
const only = process.argv.find((argument) => argument.startsWith("--only="))?.slice(7) ?? "";

interface Disturbance {
  readonly name: string;
  readonly begin: (url: string) => Promise<void>;
}

/** One call after the other, without end. */
async function loop(url: string, headers: Readonly<Record<string, string>>, body: string): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  for (;;) await post(url, headers, body, agent).catch(() => undefined);
}

async function post(
  url: string,
  headers: Readonly<Record<string, string>>,
  body: string,
  agent: Agent,
): Promise<number> {
  return await new Promise((resolve, reject) => {
    const asked = request(
      `${url}/mcp`,
      {
        method: "POST",
        agent,
        headers: { "content-type": "application/json", "content-length": Buffer.byteLength(body), ...headers },
      },
      (response) => {
        response.resume();
        response.on("end", () => resolve(response.statusCode ?? 0));
        response.on("error", reject);
      },
    );
    asked.on("error", reject);
    asked.end(body);
  });
}

const call = (tool: string, args: object = {}): string =>
  JSON.stringify({
    jsonrpc: "2.0",
    id: 1,
    method: "tools/call",
    params: { name: "execute_mcp_tool", arguments: { tool_path: tool, arguments: args } },
  });

async function many(count: number, work: () => Promise<void>): Promise<void> {
  await Promise.all(Array.from({ length: count }, work));
}

const disturbances: readonly Disturbance[] = [
  {
    name: "one user calls as fast as it can, 32 at a time",
    begin: async (url) => await many(32, async () => await loop(url, bearer(noisy), call("other:echo", { a: 1 }))),
  },
  {
    name: "one user opens 1,000 streams, again and again",
    begin: async (url) => await many(1_000, async () => await listenForever(url)),
  },
  {
    name: "one user has 200 hung calls",
    begin: async (url) => await many(200, async () => await hang(url, call("other:hang"))),
  },
  {
    name: "one user fetches results of 15 MB",
    begin: async (url) =>
      await many(2, async () => await loop(url, bearer(noisy), call("other:big", { bytes: 15_000_000 }))),
  },
  {
    name: "one user fetches results of 20 MB, beyond the limit",
    begin: async (url) =>
      await many(2, async () => await loop(url, bearer(noisy), call("other:big", { bytes: 20_000_000 }))),
  },
  {
    name: "a server floods stderr",
    begin: async (url) => await loop(url, bearer(noisy), call("other:flood-stderr")),
  },
  {
    name: "a server announces changes 1,000 times a second",
    begin: async (url) => await loop(url, bearer(noisy), call("other:storm", { perSecond: 1_000, ms: 2_000 })),
  },
];

/** A subscription (2026-07-28), opened again whenever it ends or is refused. */
async function listenForever(url: string): Promise<void> {
  const version = "2026-07-28";
  const body = JSON.stringify({
    jsonrpc: "2.0",
    id: 1,
    method: "subscriptions/listen",
    params: {
      _meta: {
        "io.modelcontextprotocol/protocolVersion": version,
        "io.modelcontextprotocol/clientInfo": { name: "bench", version: "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
      },
      notifications: { toolsListChanged: true },
    },
  });
  const headers = {
    ...bearer(noisy),
    accept: "application/json, text/event-stream",
    "mcp-protocol-version": version,
    "mcp-method": "subscriptions/listen",
  };
  const agent = new Agent({ keepAlive: true });
  for (;;) {
    await post(url, headers, body, agent).catch(() => undefined);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

async function hang(url: string, body: string): Promise<void> {
  await new Promise<void>((resolve) => {
    const asked = request(
      `${url}/mcp`,
      { method: "POST", agent: false, headers: { "content-type": "application/json", ...bearer(noisy) } },
      (response) => void response.resume(),
    );
    asked.on("error", () => resolve());
    asked.on("close", () => resolve());
    asked.end(body);
  });
}

/** Latencies of the victim's calls, a hundred a second, for `seconds`. */
async function victimLatencies(
  { url }: RunningGateway,
  seconds: number,
): Promise<{ readonly latencies: readonly number[]; readonly failed: number }> {
  const agent = new Agent({ keepAlive: true });
  const latencies: number[] = [];
  let failed = 0;
  const endMs = performance.now() + seconds * 1_000;
  while (performance.now() < endMs) {
    const sentMs = performance.now();
    if ((await post(url, bearer(victim), call("mine:echo", { a: 1 }), agent).catch(() => 0)) !== 200) failed += 1;
    latencies.push(performance.now() - sentMs);
    await new Promise((resolve) => setTimeout(resolve, 8));
  }
  agent.destroy();
  return { latencies, failed };
}

/** Quiet and disturbed take turns; what is told is the middle one of the ratios. */
const roundsEach = 5;
const roundS = 5;

async function disturbed(gateway: RunningGateway, name: string): ReturnType<typeof victimLatencies> {
  const noise = fork(process.argv[1] ?? "", {
    env: {
      ...process.env,
      TOOLYARD_BENCH_NOISE: name,
      TOOLYARD_BENCH_URL: gateway.url,
      TOOLYARD_BENCH_TOKEN: noisy.token,
    },
  });
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  const loud = await victimLatencies(gateway, roundS);
  noise.kill("SIGKILL");
  await once(noise, "exit");
  await new Promise((resolve) => setTimeout(resolve, 500));
  return loud;
}

async function neighbours(gateway: RunningGateway): Promise<void> {
  await victimLatencies(gateway, 2);
  for (const { name } of disturbances.filter((one) => one.name.includes(only))) {
    const rounds: { before: number; during: number; ratio: number }[] = [];
    let failed = 0;
    for (let round = 0; round < roundsEach; round += 1) {
      const quiet = await victimLatencies(gateway, roundS);
      const loud = await disturbed(gateway, name);
      failed += loud.failed;
      const [before, during] = [quantile(quiet.latencies, 0.99), quantile(loud.latencies, 0.99)];
      rounds.push({ before, during, ratio: during / before });
    }
    const middle = (pick: (round: (typeof rounds)[number]) => number): string =>
      quantile(rounds.map(pick), 0.5).toFixed(1);
    rows.push([name, middle((one) => one.before), middle((one) => one.during), middle((one) => one.ratio), failed]);
  }
  printTable(
    `FAULT K: p99 of another user's calls, ms; medians of ${roundsEach} rounds of ${roundS} s`,
    ["disturbance", "quiet", "during", "ratio", "failed"],
    rows,
  );
}

/** FAULT 108, 74: how long ends take. */
async function ends(config: object, directory: string): Promise<void> {
  const times: (string | number)[][] = [];
  const gateway = await startGateway({ config, directory });
  await ready(gateway);
  const [, pid = 0] =
    /"pid":(\d+)/.exec(
      (
        await rpc(
          `${gateway.url}/mcp`,
          "tools/call",
          { name: "execute_mcp_tool", arguments: { tool_path: "other:canary", arguments: {} } },
          bearer(noisy),
        )
      ).text.replaceAll("\\", ""),
    ) ?? [];
  const pending = rpc(
    `${gateway.url}/mcp`,
    "tools/call",
    { name: "execute_mcp_tool", arguments: { tool_path: "other:hang", arguments: {} } },
    bearer(noisy),
  );
  await new Promise((resolve) => setTimeout(resolve, 300));
  const killedMs = performance.now();
  process.kill(Number(pid), "SIGKILL");
  await pending;
  times.push(["FAULT 74: server killed, until the pending call is told", (performance.now() - killedMs).toFixed(0)]);
  const askedMs = performance.now();
  const calls = Array.from(
    { length: 200 },
    async () =>
      await rpc(
        `${gateway.url}/mcp`,
        "tools/call",
        { name: "execute_mcp_tool", arguments: { tool_path: "mine:slow", arguments: { ms: 2_000 } } },
        bearer(victim),
      ).catch(() => undefined),
  );
  await new Promise((resolve) => setTimeout(resolve, 500));
  const code = await gateway.stop("SIGTERM");
  const answers = await Promise.all(calls);
  times.push([
    `FAULT 108: SIGTERM with 200 calls of 2 s (${answers.filter((answer) => answer?.status === 200).length} answered, exit code ${code})`,
    (performance.now() - askedMs - 500).toFixed(0),
  ]);
  const restartedMs = performance.now();
  await using again = await startGateway({ config, directory });
  times.push(["FAULT 109: start after that, until it answers", (performance.now() - restartedMs).toFixed(0)]);
  const children = childrenOf(again.process.pid).length;
  times.push(["processes under it then", children]);
  printTable("How long ends and starts take, ms", ["what", "ms"], times);
}

async function ready(gateway: RunningGateway): Promise<void> {
  for (const server of ["mine", "other"]) {
    await until(
      async () =>
        (await rpc(`${gateway.url}/mcp/server/${server}`, "tools/list", {}, bearer(victim))).json.result?.tools
          ?.length > 0,
    );
  }
}

if (noiseOf !== undefined) {
  await disturbances.find(({ name }) => name === noiseOf)?.begin(process.env["TOOLYARD_BENCH_URL"] ?? "");
  process.exit(0);
}
const directory = await mkdtemp(join(tmpdir(), "toolyard-faults-"));
const config = {
  mcpServers: { mine: bad(), other: bad() },
  toolyard: { principals: { noisy: { tokenHash: noisy.hash }, victim: { tokenHash: victim.hash } }, logLevel: "error" },
};
try {
  {
    await using gateway = await startGateway({ config, directory });
    await ready(gateway);
    await neighbours(gateway);
  }
  await ends(config, directory);
} finally {
  await rm(directory, { recursive: true, force: true });
}
