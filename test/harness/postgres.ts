import { execFile, execFileSync, spawn, type ChildProcess } from "node:child_process";
import { chmodSync, existsSync, readdirSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import pg from "pg";
import { freePort } from "./free-port.ts";
import { until } from "./until.ts";

/** Where Debian's package has it, which `scripts/get-postgres.mjs` installs. */
const root = "/usr/lib/postgresql";
const oldest = 15;

/** The folder of the programs of a PostgreSQL; undefined on a machine without one. */
export function findPostgres(): string | undefined {
  const versions = existsSync(root) ? readdirSync(root).filter((name) => Number(name) >= oldest) : [];
  return versions.map((name) => join(root, name, "bin")).find((bin) => existsSync(join(bin, "initdb")));
}

/** Where there is none, tests that need one are skipped; not in CI, which gets one. */
export const hasNoPostgres = findPostgres() === undefined && process.env["CI"] === undefined;
if (hasNoPostgres)
  console.warn("PostgreSQL 15 is not installed: its tests are skipped (`node scripts/get-postgres.mjs` installs it)");

export interface Postgres extends AsyncDisposable {
  /** A URL for a new, empty database of an ordinary user. */
  createDatabase(name: string): Promise<string>;
  /** Runs statements as superuser. */
  run(sql: string, database?: string): Promise<readonly Record<string, unknown>[]>;
  start(): Promise<void>;
  /** As an administrator does. */
  stop(): Promise<void>;
  /** As the system does when there is no memory left. */
  kill(): Promise<void>;
  readonly port: number;
  /** A standby of it, which follows it as fast as it can. */
  standby(): Promise<Standby>;
}

export interface Standby extends AsyncDisposable, Pick<Postgres, "port" | "run"> {
  /** It hears of nothing that is written from now on. */
  lag(): Promise<void>;
  /** Makes it the server. The other one has to be gone. */
  promote(): Promise<void>;
}

const password = "pa55-of-test";

/** A server of our own on a free port, with a folder of its own, which is on the disk of `place`. */
export async function startPostgres(place = tmpdir()): Promise<Postgres> {
  const bin = findPostgres();
  if (bin === undefined) throw new Error("PostgreSQL 15 is not installed: `node scripts/get-postgres.mjs` installs it");
  const folder = await mkdtemp(join(place, "toolyard-postgres-"));
  const data = join(folder, "data");
  await writeFile(join(folder, "password"), password);
  chmodSync(folder, 0o755);
  // It refuses to run as root.
  const isRoot = process.getuid?.() === 0;
  const as = isRoot ? ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"] : [];
  if (isRoot) execFileSync("chown", ["-R", "nobody:nogroup", folder]);
  const words = (program: string, args: readonly string[]): [string, string[]] => {
    const [first = "", ...rest] = [...as, join(bin, program), ...args];
    return [first, rest];
  };
  const about = ["-D", data, "-U", "postgres", "-A", "scram-sha-256", "--pwfile", join(folder, "password")];
  execFileSync(...words("initdb", [...about, "-E", "UTF8", "--locale=C", "--no-sync"]), { stdio: "pipe", cwd: folder });
  const server = await createServer(data, (args) => words("postgres", args));
  const { port, run } = server;

  async function standby(): Promise<Standby> {
    const copy = join(folder, `standby-${Date.now()}`);
    const from = `host=127.0.0.1 port=${port} user=postgres password=${password}`;
    // A test may have proxies, which go on meanwhile.
    const [program, args] = words("pg_basebackup", ["-d", from, "-D", copy, "-R", "-X", "stream", "-c", "fast"]);
    await promisify(execFile)(program, args, { cwd: folder });
    const follower = await createServer(copy, (args) => words("postgres", args));
    await follower.start();
    return {
      port: follower.port,
      run: follower.run,
      lag: async () => await follower.end("SIGINT"),
      async promote() {
        await follower.start();
        await follower.run("select pg_promote()");
        await until(async () => (await follower.run("select pg_is_in_recovery() as is"))[0]?.["is"] === false);
      },
      [Symbol.asyncDispose]: async () => await follower.end("SIGQUIT"),
    };
  }

  const { start, end } = server;
  await start();
  await run(`create role toolyard login password '${password}'`);
  return {
    async createDatabase(name) {
      await run(`create database ${name} owner toolyard`);
      return urlOf(port, "toolyard", name);
    },
    port,
    standby,
    run,
    start,
    stop: async () => await end("SIGINT"),
    kill: async () => await end("SIGKILL"),
    async [Symbol.asyncDispose]() {
      await end("SIGQUIT");
      await until(async () => {
        await rm(folder, { recursive: true, force: true });
        return true;
      });
    },
  };
}

/** One process of a server that has its folder, on a port that it keeps. */
async function createServer(data: string, words: (args: readonly string[]) => [string, string[]]) {
  const port = await freePort();
  let server: ChildProcess | undefined;

  async function run(sql: string, database = "postgres"): Promise<readonly Record<string, unknown>[]> {
    const client = new pg.Client({ connectionString: urlOf(port, "postgres", database) });
    client.on("error", () => undefined);
    try {
      await client.connect();
      return (await client.query(sql)).rows as Record<string, unknown>[];
    } finally {
      await client.end().catch(() => undefined);
    }
  }

  async function start(): Promise<void> {
    const options = ["listen_addresses=127.0.0.1", `port=${port}`, "unix_socket_directories=", "fsync=off"];
    const limits = ["shared_buffers=16MB", "max_connections=40"];
    // After a kill, what it has started may hold its memory for a moment.
    await until(async () => {
      const args = ["-D", data, ...[...options, ...limits].flatMap((one) => ["-c", one])];
      const child = spawn(...words(args), { stdio: "ignore", cwd: dirname(data) });
      server = child;
      return await until(async () => {
        if (child.exitCode !== null) return "ended" as const;
        return await run("select 1").then(
          () => "up" as const,
          () => undefined,
        );
      }).then((state) => state === "up");
    });
  }

  async function end(signal: NodeJS.Signals): Promise<void> {
    const child = server;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const gone = new Promise((resolve) => child.once("exit", resolve));
    child.kill(signal);
    await gone;
  }

  return { port, run, start, end };
}

function urlOf(port: number, user: string, database: string): string {
  return `postgres://${user}:${password}@127.0.0.1:${port}/${database}`;
}
