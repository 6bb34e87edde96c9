import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { startGateway } from "../../test/harness/gateway.ts";
import { findPrometheus, startPrometheus, type Prometheus } from "../../test/harness/prometheus.ts";
import { untilOnline } from "../../test/harness/rest.ts";
import { drawPanels, type DrawnPanel, type Panel, type Series } from "./panels.ts";

/**
 * Draws docs/grafana.svg: what docs/grafana.json shows of a gateway in use. The gateway, its servers and the Prometheus
 * that scrapes it are real, and each panel's queries are evaluated by it; only the drawing is ours, because Grafana
 * itself takes 400 MB. `npm run bench bench/dashboard/run.ts [-- --seconds=60]`; Prometheus comes
 * from `node scripts/get-prometheus.mjs`.
 */
const seconds = Number(process.argv.find((argument) => argument.startsWith("--seconds="))?.slice(10) ?? 60);
/** One point for each pixel would be a picture of a megabyte. */
const points = 60;
/** Prometheus scrapes five times a second here; in production it is a minute. */
const rateInterval = "5s";

const root = fileURLToPath(new URL("../..", import.meta.url));
const npm = (name: string, ...args: string[]) => ({
  command: process.execPath,
  args: [join(root, "node_modules/@modelcontextprotocol", name, "dist/index.js"), ...args],
});

const program = findPrometheus();
if (program === undefined) throw new Error("there is no prometheus: run node scripts/get-prometheus.mjs");
const directory = await mkdtemp(join(tmpdir(), "toolyard-dashboard-"));
await writeFile(join(directory, "note.md"), "# Plan\n\n- call Ann\n".repeat(2_000));
try {
  await using gateway = await startGateway({
    directory,
    config: {
      mcpServers: {
        everything: npm("server-everything", "stdio"),
        files: npm("server-filesystem", directory),
        memory: { ...npm("server-memory"), env: { MEMORY_FILE_PATH: join(directory, "memory.json") } },
        // Ends when it is asked to: crashes and restarts are part of what the dashboard shows.
        flaky: { command: process.execPath, args: [join(root, "test/servers/bad-server.mjs")] },
      },
      toolyard: { results: { maxTokens: 2_000 } },
    },
  });
  await untilOnline(gateway.url);
  await using prometheus = await startPrometheus(program, new URL(gateway.url).host);
  await use(gateway.url, performance.now() + seconds * 1_000);
  const { title, panels } = JSON.parse(await readFile(join(root, "docs/grafana.json"), "utf8")) as {
    readonly title: string;
    readonly panels: readonly Panel[];
  };
  const drawn = await Promise.all(panels.map(async (panel) => await evaluate(prometheus, panel)));
  await writeFile(join(root, "docs/grafana.svg"), drawPanels({ title, panels: drawn, seconds }));
  const empty = drawn.filter(({ panel, series }) => panel.type !== "row" && series.length === 0);
  process.stdout.write(`${drawn.length - empty.length} of ${drawn.length} panels have data\n`);
  for (const { panel } of empty) process.stdout.write(`nothing in: ${panel.title}\n`);
} finally {
  await rm(directory, { recursive: true, force: true });
}

async function connect(url: string): Promise<Client> {
  const client = new Client({ name: "dashboard", version: "1" });
  await client.connect(new StreamableHTTPClientTransport(new URL(url)) as never);
  return client;
}

/** A few agents that search and call, now and then more of them at once; some of what they ask for goes wrong. */
async function use(url: string, untilMs: number): Promise<void> {
  const clients = await Promise.all(["/mcp", "/mcp", "/mcp/namespaces"].map(async (path) => await connect(url + path)));
  const [first, second, browsing] = clients;
  const execute = async (client: Client | undefined, path: string, args: object = {}) =>
    await client?.callTool({ name: "execute_mcp_tool", arguments: { tool_path: path, arguments: args } });
  const discover = async (query: string) =>
    await second?.callTool({ name: "discover_mcp_tools", arguments: { queries: [query] } });
  const whole = { path: join(directory, "note.md") };
  for (let round = 0; performance.now() < untilMs; round += 1) {
    const wave = 1 + Math.round(3 * (1 + Math.sin(round / 12)));
    const busy = Array.from(
      { length: wave },
      async () => await execute(first, "everything:echo", { message: "hello" }),
    );
    await Promise.all([
      ...busy,
      execute(second, "everything:get-sum", { a: round, b: 2 }),
      discover("read a text file"),
    ]);
    await execute(first, "memory:read_graph");
    if (round % 5 === 0) await execute(second, "files:read_text_file", whole);
    if (round % 7 === 0) void execute(first, "flaky:fail", { text: "not today" }).catch(() => undefined);
    if (round % 11 === 0) await browsing?.callTool({ name: "memory__list_tools", arguments: {} });
    if (round % 11 === 1) await browsing?.callTool({ name: "memory__read_graph", arguments: {} });
    if (round % 13 === 0) void execute(second, "flaky:twice").catch(() => undefined);
    // Not waited for: the next call of a server that has ended waits until it is there again.
    if (round % 60 === 30) void execute(first, "flaky:exit").catch(() => undefined);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  await Promise.all(clients.map(async (client) => await client.close()));
}

async function evaluate(prometheus: Prometheus, panel: Panel): Promise<DrawnPanel> {
  const found = await Promise.all((panel.targets ?? []).map(async (target) => await seriesOf(prometheus, target)));
  return { panel, series: found.flat().filter(({ values }) => values.some((value) => value !== null)) };
}

/** The variables are filled in as Grafana does for all gateways. */
async function seriesOf(
  prometheus: Prometheus,
  { expr, legendFormat = "" }: { readonly expr: string; readonly legendFormat?: string },
): Promise<readonly Series[]> {
  const expression = expr.replaceAll("$__rate_interval", rateInterval).replaceAll("$instance", ".*");
  const found = await prometheus.range(expression, { seconds, points });
  return found.map(({ metric, values }) => ({
    name: legendFormat.replaceAll(/\{\{(\w+)\}\}/g, (_, label: string) => metric[label] ?? ""),
    values,
  }));
}
