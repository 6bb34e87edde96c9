import { loadavg } from "node:os";
import { fileURLToPath } from "node:url";
import { callAt, startNodes } from "../../test/cluster/nodes.ts";
import { load, percentile } from "../measure/load.ts";
import { cpuMicros } from "../measure/process.ts";

/**
 * What a call costs at a node that passes it to the one that runs the server, beside the same call at that one: CPU of
 * both gateways, without the server's. The two take turns in one run.
 * `node scripts/run-bench.mjs bench/cluster/wire.ts [--rounds=7] [--calls=8000]`
 */
const option = (name: string, fallback: number): number =>
  Number(process.argv.find((argument) => argument.startsWith(`--${name}=`))?.slice(name.length + 3) ?? fallback);
const rounds = option("rounds", 7);
const calls = option("calls", 8_000);
const text = "x".repeat(300);

const meta = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": { name: "bench", version: "1" },
  "io.modelcontextprotocol/clientCapabilities": {},
};
const params = {
  name: "execute_mcp_tool",
  arguments: { tool_path: "effects:size", arguments: { text } },
  _meta: meta,
};
const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params });
const headers = { "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "execute_mcp_tool" };

// The bundle lies in this folder.
const server = fileURLToPath(new URL("../../test/servers/effects-server.mjs", import.meta.url));
const nodes = await startNodes({ effects: { command: process.execPath, args: [server] } });
try {
  const owner = await nodes.start("owner");
  await callAt(owner, "count");
  const other = await nodes.start("other");
  await callAt(other, "count");
  const pids = [owner, other].map(({ process: { pid } }) => pid ?? 0);
  const spent = (): number => pids.reduce((sum, pid) => sum + cpuMicros(pid), 0);
  for (const connections of [1, 32]) {
    const found = new Map<string, { micros: number[]; middle: number[] }>();
    for (let round = 0; round < rounds + 2; round += 1)
      for (const [name, { url }] of [
        ["local", owner],
        ["forwarded", other],
      ] as const) {
        const before = spent();
        const { latencies, requests } = await load(url, body, { connections, requests: calls, headers, path: "/mcp" });
        // The first rounds warm up.
        if (round < 2) continue;
        const figures = found.get(name) ?? { micros: [], middle: [] };
        found.set(name, figures);
        figures.micros.push((spent() - before) / requests);
        figures.middle.push(percentile(latencies, 0.5));
      }
    const middle = (values: readonly number[] = []): number =>
      percentile(
        [...values].sort((a, b) => a - b),
        0.5,
      );
    const [local, forwarded] = ["local", "forwarded"].map((name) => middle(found.get(name)?.micros));
    for (const [name, { micros, middle: ms }] of found)
      console.log(
        `c=${connections} ${name.padEnd(9)} CPU ${middle(micros).toFixed(1)} us, p50 ${middle(ms).toFixed(2)} ms`,
      );
    console.log(`c=${connections} ratio ${((forwarded ?? 0) / (local ?? 1)).toFixed(2)} (target 2)`);
  }
  console.log(`load ${loadavg()[0]?.toFixed(1)}`);
} finally {
  await nodes[Symbol.asyncDispose]();
}
