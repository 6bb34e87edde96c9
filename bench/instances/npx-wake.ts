import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startGateway } from "../../test/harness/gateway.ts";
import { execute } from "../../test/harness/rpc.ts";
import { until } from "../../test/harness/until.ts";
import { packageName, startNpmRegistry } from "../../test/runners/npm-registry.ts";
import { standingOf } from "../../test/instances/observing.ts";
import { percentile } from "../measure/load.ts";

/**
 * How long a call waits for a server that sleeps, when npx starts it and when it is started from the folder that npx
 * installed. The registry is on this machine and answers at once: a real one adds its own time to the first row. `npm
 * run bench bench/instances/npx-wake.ts`
 */
const wakes = 15;

const rows: (readonly [string, readonly number[]])[] = [];
for (const npxFromFolder of [false, true])
  rows.push([npxFromFolder ? "from the folder" : "by npx", await measure(npxFromFolder)]);
process.stdout.write("| a call that wakes a server | median ms | worst ms |\n|---|---|---|\n");
for (const [how, times] of rows)
  process.stdout.write(`| ${how} | ${percentile(times, 0.5).toFixed(0)} | ${percentile(times, 1).toFixed(0)} |\n`);

async function measure(npxFromFolder: boolean): Promise<readonly number[]> {
  const directory = await mkdtemp(join(tmpdir(), "toolyard-npx-wake-"));
  await using registry = await startNpmRegistry(directory);
  try {
    const server = { command: "npx", args: ["-y", packageName], env: registry.env };
    const instances = { idleGraceMs: 0, idleCheckMs: 100, idleTimeoutMs: 200, npxFromFolder };
    await using gateway = await startGateway({
      config: { mcpServers: { server }, toolyard: { instances } },
      directory,
    });
    const times: number[] = [];
    for (let wake = 0; wake <= wakes; wake += 1) {
      await until(async () => (await standingOf(gateway.url, "server")).status === "dormant");
      const startedMs = performance.now();
      await execute(gateway.url, "server:pid");
      // The first one may still be npx's.
      if (wake > 0) times.push(performance.now() - startedMs);
    }
    return times.toSorted((a, b) => a - b);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
