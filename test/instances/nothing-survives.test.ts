import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { badServer, startGateway } from "../harness/gateway.ts";
import { createRandom } from "../harness/random.ts";
import { execute, rpc } from "../harness/rpc.ts";
import { until } from "../harness/until.ts";
import { onlyPlace } from "../harness/places.ts";
import { findSurvivors } from "../processes/survivors.ts";
import { aliveIn, discover } from "./observing.ts";

const linux = process.platform === "linux";
const seed = Number(process.env["TOOLYARD_TEST_SEED"] ?? Date.now() % 1_000_000);
/** The seed is another one in each run: these forty are other moments each time, and more say little more at once. */
const cycles = Number(process.env["TOOLYARD_TEST_CYCLES"] ?? 40);
/** Gateways at a time, each with a data directory of its own. */
const lanes = 4;
const tokenStart = `survivor-${process.pid}-${seed}`;

/**
 * A server that forks, double-forks and calls setsid as soon as it is there, all deaf to SIGTERM; `token` is in all
 * of their command lines.
 */
const forking = `
trap '' TERM HUP
t=$0
sh -c 'trap "" TERM; while :; do sleep 1; done' $t-child &
setsid sh -c 'while :; do sleep 1; done' $t-setsid </dev/null >/dev/null 2>&1 &
( ( setsid sh -c 'while :; do sleep 1; done' $t-daemon </dev/null >/dev/null 2>&1 & ) & )
while IFS= read -r line; do
  id=\${line#*\\"id\\":} id=\${id%%[,\\}]*}
  case $line in
    *'"initialize"'*) echo '{"jsonrpc":"2.0","id":'"$id"',"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"f","version":"1"}}}' ;;
    *'"tools/list"'*) echo '{"jsonrpc":"2.0","id":'"$id"',"result":{"tools":[{"name":"who","inputSchema":{"type":"object"}}]}}' ;;
    *'"tools/call"'*) echo '{"jsonrpc":"2.0","id":'"$id"',"result":{"content":[{"type":"text","text":"'"$$"'"}]}}' ;;
    *'"id"'*) echo '{"jsonrpc":"2.0","id":'"$id"',"error":{"code":-32601,"message":"no"}}' ;;
  esac
done
while :; do sleep 1; done`;

describe.runIf(linux)("nothing survives the gateway", () => {
  test(
    `FAULT 78, FAULT 109: kill -9 at random moments, ${cycles} times (TOOLYARD_TEST_SEED=${seed})`,
    { timeout: 60_000 + cycles * 10_000 },
    async () => {
      const directory = await mkdtemp(join(tmpdir(), "toolyard-kill-"));
      const counts = await Promise.all(
        Array.from(
          { length: lanes },
          async (_value, lane) => await killAgainAndAgain(lane, join(directory, String(lane))),
        ),
      );
      expect(Math.max(...counts)).toBeGreaterThan(3);
      console.info(
        `kill -9: seed ${seed}, ${cycles} cycles, at most ${Math.max(...counts)} server processes of one gateway before, ${findSurvivors(tokenStart).length} after`,
      );
      await rm(directory, { recursive: true, force: true });
    },
  );

  /**
   * One gateway after another on the same data directory; resolves to the most processes that were seen before a
   * kill.
   */
  async function killAgainAndAgain(lane: number, directory: string): Promise<number> {
    const random = createRandom(seed + lane);
    const token = `${tokenStart}-${lane}`;
    await mkdir(directory);
    const config = {
      mcpServers: {
        one: { command: "/bin/sh", args: ["-c", forking, `${token}-one`] },
        two: { command: "/bin/sh", args: ["-c", forking, `${token}-two`] },
      },
    };
    let most = 0;
    for (let cycle = lane; cycle < cycles; cycle += lanes) {
      await using gateway = await startGateway({ config, directory });
      // With kept catalogs nothing runs before it is called.
      const call = execute(gateway.url, random() < 0.5 ? "one:who" : "two:who").catch(() => undefined);
      if (random() < 0.5) await call;
      else await new Promise((resolve) => setTimeout(resolve, random() * 60));
      most = Math.max(most, findSurvivors(token).length);
      await gateway.stop("SIGKILL");
      await until(() => findSurvivors(token).length === 0);
    }
    // Whatever was being written: the next life reads it, and finds every server.
    await using last = await startGateway({ config, directory });
    await until(async () => (await discover(last.url, { query: "" })).total_tools === 2);
    expect(
      (await readdir(join(onlyPlace(join(directory, "data")), "catalog"))).filter((name) => name.endsWith(".json")),
    ).toHaveLength(2);
    await last.stop();
    expect(findSurvivors(token)).toEqual([]);
    return most;
  }

  test(`servers killed at random under calls and reloads: every call is answered, no process is left over (TOOLYARD_TEST_SEED=${seed})`, async () => {
    const random = createRandom(seed + 1);
    const directory = await mkdtemp(join(tmpdir(), "toolyard-random-"));
    const pids = join(directory, "pids");
    const names = ["a", "b", "c"];
    const config = (generation: number): object => ({
      mcpServers: Object.fromEntries(
        names.map((name, index) => [
          name,
          {
            ...badServer(
              "--write-pid",
              pids,
              ...(generation % names.length === index ? ["--tool-name", `g${generation}`, "--behaviours", "all"] : []),
            ),
          },
        ]),
      ),
      toolyard: {
        instances: {
          restartDelaysMs: [10, 10, 10, 10, 10, 10, 10, 10, 10, 10],
          callRetryMs: 0,
          failedRetryMs: 1_000,
        },
      },
    });
    await using gateway = await startGateway({ config: config(0), directory });
    let answered = 0;
    const done = new AbortController();
    const callers = Array.from({ length: 10 }, async () => {
      while (!done.signal.aborted) {
        const kind = ["echo", "fork", "setsid", "exit", "crash-self"][Math.floor(random() * 5)] ?? "echo";
        const name = names[Math.floor(random() * 3)] ?? "a";
        const answer = await rpc(`${gateway.url}/mcp`, "tools/call", {
          name: "execute_mcp_tool",
          arguments: { tool_path: `${name}:${kind}`, arguments: {} },
        });
        expect(answer.status).toBe(200);
        expect(answer.json.result ?? answer.json.error).toBeDefined();
        answered += 1;
      }
    });
    for (let round = 0; round < 40; round += 1) {
      const alive = aliveIn(pids);
      const victim = alive[Math.floor(random() * alive.length)];
      if (victim !== undefined && random() < 0.7) kill(victim);
      else await writeFile(gateway.configFile, JSON.stringify(config(round)));
      await new Promise((resolve) => setTimeout(resolve, random() * 100));
    }
    done.abort();
    await Promise.all(callers);
    expect(answered).toBeGreaterThan(0);
    expect((await rpc(`${gateway.url}/mcp`, "tools/list")).json.result.tools).toHaveLength(4);
    expect(await gateway.stop()).toBe(0);
    expect(aliveIn(pids)).toEqual([]);
    await rm(directory, { recursive: true, force: true });
  });
});

/** It may have ended between the look and the kill. */
function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // Gone already.
  }
}
