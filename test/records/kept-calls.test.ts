import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { RecordStore } from "../../src/store/record-store.ts";
import { createSqlStore } from "../../src/store/sql/client/sql-store.ts";
import { systemClock } from "../../src/kernel/runtime/clock.ts";
import { badServer, startGateway, type RunningGateway } from "../harness/gateway.ts";
import { get, run, untilOnline } from "../harness/rest.ts";
import { until } from "../harness/until.ts";

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "toolyard-records-"));
});
afterEach(async () => await rm(directory, { recursive: true, force: true }));

const start = async (toolyard: object = {}, env: Record<string, string> = {}): Promise<RunningGateway> =>
  await startGateway({
    directory,
    env,
    config: {
      mcpServers: {
        plain: badServer(),
        full: { ...badServer(), requestLogging: "full" },
        silent: { ...badServer(), settings: { request_logging_enabled: false } },
      },
      toolyard,
    },
  });

async function placeOf(): Promise<string> {
  const gateways = join(directory, "data", "gateways");
  const [place = ""] = await readdir(gateways);
  return join(gateways, place);
}

/** What a gateway left, read as the next one would. */
async function openLeft(): Promise<RecordStore> {
  return createSqlStore({
    folder: await placeOf(),
    auditKey: new Uint8Array(32),
    clock: systemClock,
    redact: (_kind, row) => row,
    workerFile: pathToFileURL(join(import.meta.dirname, "../../dist/cli/sql-worker.js")),
  });
}

describe("a gateway records what happens", () => {
  test("calls, as much of each server's as its entry says, and what servers write, over the end of the gateway", async () => {
    const gateway = await start();
    await untilOnline(gateway.url);
    await run(gateway.url, "plain:echo", { word: "private" });
    await run(gateway.url, "full:echo", { word: "kept" });
    await run(gateway.url, "full:fail", { text: "no" });
    await run(gateway.url, "silent:echo", { word: "nobody" });
    await run(gateway.url, "plain:stderr", { text: "WARN: something" });
    expect(await gateway.stop()).toBe(0);
    const store = await openLeft();
    const { rows } = await store.calls({ limit: 100 });
    expect(rows.map(({ name, outcome, hasBody, via, principal }) => [name, outcome, hasBody, via, principal])).toEqual([
      ["plain:stderr", "ok", false, "rest", "local"],
      ["full:fail", "tool_error", true, "rest", "local"],
      ["full:echo", "ok", true, "rest", "local"],
      ["plain:echo", "ok", false, "rest", "local"],
    ]);
    const echo = await store.call(rows[2]?.id ?? 0);
    expect(echo?.body?.arguments).toBe('{"word":"kept"}');
    expect(echo?.body?.result).toContain("kept");
    const { rows: lines } = await store.logs({ limit: 10 });
    expect(lines).toMatchObject([{ server: "plain", level: "warning", line: "WARN: something" }]);
    await store.close(5_000);
  });

  test("events, without secrets, and what tools a server offers", async () => {
    const gateway = await start();
    await untilOnline(gateway.url);
    await run(gateway.url, "plain:exit", {});
    await until(() => /"operation":"crash/.test(gateway.stderr()) || /crashed/.test(gateway.stderr()));
    expect(await gateway.stop()).toBe(0);
    const store = await openLeft();
    const { rows } = await store.events({ limit: 1_000 });
    const types = new Set(rows.map(({ type }) => type));
    for (const type of [
      ...["gateway.listening", "config.changed", "mcp.server.status_changed", "mcp.server.started"],
      ...["mcp.tools.discovered", "mcp.server.crashed", "gateway.stopping"],
    ])
      expect(types).toContain(type);
    expect(types).not.toContain("mcp.request.logs");
    const discovered = rows.find(({ type, server }) => type === "mcp.tools.discovered" && server === "plain");
    expect(discovered).toMatchObject({ instance: "plain", installation: "plain", team: null });
    expect(JSON.parse(discovered?.detail ?? "{}")).toMatchObject({ server_slug: "plain", installation_id: "plain" });
    const tools = await store.tools("plain");
    expect(tools.find(({ path }) => path === "plain:echo")).toMatchObject({
      description: "Returns its arguments, byte for byte, as text and as structuredContent",
      schemaHash: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    expect(tools.every(({ tokens }) => tokens > 10)).toBe(true);
    await store.close(5_000);
  });

  test("nothing, and loads no SQL, where that is switched off", async () => {
    const loaded = join(directory, "modules.txt");
    const recorder = pathToFileURL(join(import.meta.dirname, "../harness/record-modules.mjs")).href;
    const env = { NODE_OPTIONS: `--import ${recorder}`, LOADED_MODULES: loaded };
    const gateway = await start({ records: { store: "off" } }, env);
    await untilOnline(gateway.url);
    await run(gateway.url, "plain:echo", {});
    expect(await gateway.stop()).toBe(0);
    expect((await readdir(await placeOf())).filter((name) => name.includes(".db"))).toEqual([]);
    const modules = await readFile(loaded, "utf8");
    expect(modules).toContain("main.js");
    expect(modules).not.toMatch(/sql|kysely/i);
  });

  test("nothing while its files cannot be written, and serves calls all the same", async () => {
    const first = await start();
    await untilOnline(first.url);
    await first.stop();
    const place = await placeOf();
    for (const name of (await readdir(place)).filter((file) => file.startsWith("state.db")))
      await writeFile(join(place, name), "this is no database".repeat(1_000));
    await using gateway = await start();
    await untilOnline(gateway.url);
    expect((await run(gateway.url, "plain:echo", { n: 1 })).json.success).toBe(true);
    const ready = await until(async () => {
      const answer = await get(`${gateway.url}/readyz`);
      return answer.status === 503 && answer;
    });
    expect(ready.json.reason).toMatch(/state\.db/);
    expect((await get(`${gateway.url}/healthz`)).status).toBe(200);
    expect(gateway.stderr()).toMatch(/state\.db/);
  });
});
