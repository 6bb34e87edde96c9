import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { loadDriver } from "../src/store/sql/sqlite/sql-driver.ts";
import { startMeasured, type Measured } from "./measure/process.ts";

export type StoreSetting = "off" | "sqlite";

/** A call of the tool that every server of these gateways has. */
export const call =
  '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"execute_mcp_tool","arguments":{"tool_path":"s0:echo","arguments":{"message":"hello"}}}}';

/** Gone with `removeDirectory`. */
export const directory = mkdtempSync(join(tmpdir(), "toolyard-bench-"));

export function removeDirectory(): void {
  rmSync(directory, { recursive: true, force: true });
}

/** Of a file of bench/, or below it. */
export const here = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

export const pause = async (ms: number): Promise<void> => await new Promise((resolve) => setTimeout(resolve, ms));

export interface Gateway extends Measured {
  /** Of its own; the databases are somewhere in it. */
  readonly data: string;
}

export async function startGateway(
  store: StoreSetting,
  { servers = 1, tools = 0, env = {} }: { servers?: number; tools?: number; env?: Record<string, string> } = {},
): Promise<Gateway> {
  const data = mkdtempSync(join(directory, `${store}-`));
  const entry = { command: process.execPath, args: [here("./servers/echo.mjs")], env: { BENCH_TOOLS: `${tools}` } };
  const mcpServers = Object.fromEntries(Array.from({ length: servers }, (_, index) => [`s${index}`, entry]));
  const config = join(data, "toolyard.json");
  writeFileSync(config, JSON.stringify({ mcpServers, toolyard: { records: { store } } }));
  const options = ["--config", config, "--port", "0", "--data-dir", join(data, "data"), "--log-level", "error"];
  return { ...(await startMeasured([here("../dist/cli/main.js"), "serve", ...options], env)), data };
}

export async function post(gateway: Measured, path: string, body: string): Promise<string> {
  const headers = { "content-type": "application/json" };
  return await (await fetch(`${gateway.url}${path}`, { method: "POST", headers, body })).text();
}

export async function untilCallable(gateway: Measured): Promise<void> {
  for (let attempt = 0; attempt < 400; attempt += 1) {
    if ((await post(gateway, "/mcp", call)).includes("Echo: hello")) return;
    await pause(50);
  }
  throw new Error("the echo tool did not come up");
}

/** Rows of calls in what a stopped gateway left, sorted or as they came in a burst, and the bytes of its file. */
export async function readLeft({ data }: Gateway): Promise<{ readonly rows: number; readonly bytes: number }> {
  const gateways = join(data, "data", "gateways");
  const path = join(gateways, readdirSync(gateways)[0] ?? "", "records.db");
  const database = loadDriver(tmpdir()).open(path);
  const sorted = Number(database.prepare("select count(*) as rows from request_log").get()?.["rows"]);
  const unsorted = Number(database.prepare("select sum(rows) as rows from request_backlog").get()?.["rows"] ?? 0);
  const rows = sorted + unsorted;
  database.close();
  return { rows, bytes: statSync(path).size };
}
