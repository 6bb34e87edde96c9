import { spawn, spawnSync } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { freePort } from "./free-port.ts";
import { until } from "./until.ts";

const docs = fileURLToPath(new URL("../../docs/team-database.md", import.meta.url));

const isThere = spawnSync("haproxy", ["-v"]).status === 0;
/** Where there is none, tests that need one are skipped; not in CI, which gets one. */
export const hasNoHaproxy = !isThere && process.env["CI"] === undefined;
if (hasNoHaproxy)
  console.warn("HAProxy is not installed: its test is skipped (`node scripts/get-haproxy.mjs` installs it)");

export interface Haproxy extends AsyncDisposable {
  readonly url: string;
  /** Of each server, in their order, whether it gets requests. */
  states(): Promise<readonly boolean[]>;
}

export interface HaproxyOptions {
  /** Default: as the page says. */
  readonly balance?: string;
  /** How often a request goes to another gateway where a port is closed. Default: never, so that nothing is hidden. */
  readonly retries?: number;
}

/** A HAProxy with the configuration of docs/team-database.md in front of the ports given, without TLS. */
export async function startHaproxy(
  ports: readonly number[],
  { balance, retries = 0 }: HaproxyOptions = {},
): Promise<Haproxy> {
  if (!isThere) throw new Error("HAProxy is not installed: `node scripts/get-haproxy.mjs` installs it");
  const written = /```haproxy\n([^`]+)```/.exec(await readFile(docs, "utf8"))?.[1] ?? "";
  const [port, statusPort] = [await freePort(), await freePort()];
  const servers = ports.map((one, at) => `  server g${at} 127.0.0.1:${one}`);
  const config = [
    written
      .replace(/^ *bind .*$/m, `  bind 127.0.0.1:${port}`)
      .replace(/^ *server .*\n/gm, "")
      .replace(/^ *balance .*$/m, (line) => (balance === undefined ? line : `  balance ${balance}`))
      .replace(/^ *hash-type .*\n/m, (line) => (balance === undefined ? line : ""))
      .trimEnd(),
    `  retries ${retries}`,
    ...servers,
    ...["frontend status", `  bind 127.0.0.1:${statusPort}`, "  stats enable", "  stats uri /", ""],
  ].join("\n");
  const folder = await mkdtemp(join(tmpdir(), "toolyard-haproxy-"));
  const file = join(folder, "haproxy.cfg");
  await writeFile(file, config);
  const child = spawn("haproxy", ["-db", "-f", file], { stdio: ["ignore", "ignore", "pipe"] });
  let stderr = "";
  let isGone = false;
  child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  const exited = new Promise<void>((resolve) => child.once("exit", () => resolve())).then(() => (isGone = true));

  async function states(): Promise<readonly boolean[]> {
    if (isGone) throw new Error(`haproxy ended:\n${stderr}`);
    const table = await (await fetch(`http://127.0.0.1:${statusPort}/;csv`)).text();
    const rows = table.split("\n").map((line) => line.split(","));
    const column = rows[0]?.indexOf("status") ?? 0;
    return ports.map((_, at) => rows.find((row) => row[1] === `g${at}`)?.[column] === "UP");
  }

  await until(async () => {
    if (isGone) throw new Error(`haproxy ended:\n${stderr}`);
    return await states().then(
      () => true,
      () => false,
    );
  });
  return {
    url: `http://127.0.0.1:${port}`,
    states,
    async [Symbol.asyncDispose]() {
      child.kill("SIGTERM");
      await exited;
      await rm(folder, { recursive: true, force: true });
    },
  };
}
