import { mkdtempSync, rmSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { startGateway } from "../test/harness/gateway.ts";
import { askOwner } from "../test/harness/owner-door.ts";
import { until } from "../test/harness/until.ts";

/**
 * How much longer a server takes to start in a sandbox, without a network and with hosts by name, than without one. The
 * three take turns in one run. `node scripts/run-bench.mjs bench/sandbox-start.ts [--starts=20]`.
 */
const starts = Number(process.argv.find((argument) => argument.startsWith("--starts="))?.slice(9) ?? 20);
const server = fileURLToPath(new URL("./servers/echo.mjs", import.meta.url));
const entry = { command: process.execPath, args: [server], env: { BENCH_TOOLS: "20" } };
const kinds = { bare: {}, closed: { sandbox: { network: [] } }, names: { sandbox: true } };

const directory = mkdtempSync(join(tmpdir(), "toolyard-sandbox-start-"));
const mcpServers = Object.fromEntries(Object.entries(kinds).map(([name, more]) => [name, { ...entry, ...more }]));
const main = fileURLToPath(new URL("../dist/cli/main.js", import.meta.url));
const gateway = await startGateway({ config: { mcpServers }, directory, main });
const ask = async (method: string, path: string) => await askOwner(join(directory, "data"), method, path);
const taken = new Map<string, number[]>(Object.keys(kinds).map((name) => [name, []]));
try {
  await until(async () => {
    const { text } = await ask("GET", "/api/status");
    const { servers } = JSON.parse(text) as { readonly servers: readonly { readonly status: string }[] };
    return servers.every(({ status }) => status === "online");
  });
  for (let round = 0; round < starts; round += 1)
    for (const [name, times] of taken) {
      const begunMs = performance.now();
      const { status, text } = await ask("POST", `/api/instances/${name}/restart`);
      if (status >= 300) throw new Error(`${name} was not restarted: ${status} ${text}`);
      times.push(performance.now() - begunMs);
    }
} finally {
  await gateway[Symbol.asyncDispose]();
  rmSync(directory, { recursive: true, force: true });
}
const share = (times: readonly number[], of: number): number =>
  times.toSorted((one, other) => one - other)[Math.floor((times.length - 1) * of)] ?? 0;
const bare = share(taken.get("bare") ?? [], 0.5);
for (const [name, times] of taken) {
  const [least, middle, most] = [0, 0.5, 0.9].map((of) => share(times, of).toFixed(1));
  const more = (share(times, 0.5) - bare).toFixed(1);
  console.log(`${name.padEnd(8)} stop and start: least ${least}, median ${middle}, p90 ${most} ms (+${more} ms)`);
}
console.log(`load ${loadavg()[0]?.toFixed(1)}`);
