import { execFileSync, spawn, spawnSync } from "node:child_process";
import { chmodSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "./free-port.ts";
import { until } from "./until.ts";

const isThere = spawnSync("pgbouncer", ["--version"]).status === 0;
/** Where there is none, tests that need one are skipped; not in CI, which gets one. */
export const hasNoPgbouncer = !isThere && process.env["CI"] === undefined;
if (hasNoPgbouncer)
  console.warn("PgBouncer is not installed: its test is skipped (`node scripts/get-pgbouncer.mjs` installs it)");

export type PoolMode = "session" | "transaction" | "statement";

export interface Pgbouncer extends AsyncDisposable {
  /** The database's URL, by way of the pooler. */
  readonly url: string;
}

/** A PgBouncer in front of the database of that URL, with what its package sets by default, but for the mode. */
export async function startPgbouncer(database: string, mode: PoolMode): Promise<Pgbouncer> {
  if (!isThere) throw new Error("PgBouncer is not installed: `node scripts/get-pgbouncer.mjs` installs it");
  const behind = new URL(database);
  const port = await freePort();
  const folder = await mkdtemp(join(tmpdir(), "toolyard-pgbouncer-"));
  const [users, file] = [join(folder, "userlist.txt"), join(folder, "pgbouncer.ini")];
  const config = [
    ...["[databases]", `* = host=127.0.0.1 port=${behind.port}`],
    ...["[pgbouncer]", "listen_addr = 127.0.0.1", `listen_port = ${port}`, "unix_socket_dir ="],
    ...["auth_type = scram-sha-256", `auth_file = ${users}`, `pool_mode = ${mode}`, ""],
  ];
  await writeFile(users, `"${behind.username}" "${behind.password}"\n`);
  await writeFile(file, config.join("\n"));
  chmodSync(folder, 0o755);
  // It refuses to run as root.
  const isRoot = process.getuid?.() === 0;
  if (isRoot) execFileSync("chown", ["-R", "nobody:nogroup", folder]);
  const as = isRoot ? ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"] : [];
  const [program, ...args] = [...as, "pgbouncer", file];
  const child = spawn(program, args, { stdio: ["ignore", "ignore", "pipe"] });
  let stderr = "";
  child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  const exited = new Promise((resolve) => child.once("exit", resolve));
  await until(async () => {
    if (child.exitCode !== null) throw new Error(`pgbouncer ended:\n${stderr}`);
    return await isOpen(port);
  });
  const url = new URL(database);
  url.port = String(port);
  return {
    url: url.href,
    async [Symbol.asyncDispose]() {
      // At once: gateways may still be connected.
      child.kill("SIGTERM");
      await exited;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function isOpen(port: number): Promise<boolean> {
  return await new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
}
