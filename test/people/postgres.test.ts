import { spawn } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { runCommand, type CommandResult } from "../harness/command.ts";
import { badServer, mainFile, startGateway, type RunningGateway } from "../harness/gateway.ts";
import { hasNoPostgres, startPostgres, type Postgres } from "../harness/postgres.ts";
import { get } from "../harness/rest.ts";
import { until } from "../harness/until.ts";

describe.skipIf(hasNoPostgres)("gateways for teams on PostgreSQL", () => {
  let postgres: Postgres;
  let directory: string;
  let url: string;
  let databases = 0;
  const gateways: RunningGateway[] = [];
  beforeAll(async () => void (postgres = await startPostgres()));
  afterAll(async () => await postgres[Symbol.asyncDispose]());
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), "toolyard-postgres-teams-"));
    databases += 1;
    url = await postgres.createDatabase(`yard_${databases}`);
  });
  afterEach(async () => {
    for (const gateway of gateways.splice(0)) await gateway[Symbol.asyncDispose]();
    await rm(directory, { recursive: true, force: true });
  });

  const key = Buffer.alloc(32, 1).toString("base64");
  const env = (): Record<string, string> => ({ YARD_DATABASE: url, TOOLYARD_KEY: key });

  async function start(name: string): Promise<RunningGateway> {
    await mkdir(join(directory, name));
    const gateway = await startGateway({
      directory: join(directory, name),
      config: {
        mcpServers: { own: { ...badServer("--behaviours=env"), scope: "user" } },
        toolyard: { team: true, database: "${env:YARD_DATABASE}" },
      },
      env: env(),
    });
    gateways.push(gateway);
    return gateway;
  }

  async function command(gateway: RunningGateway, ...words: string[]): Promise<CommandResult> {
    const where = ["--config", gateway.configFile, "--data-dir", join(gateway.directory, "data")];
    return await runCommand([...words, ...where], env());
  }

  /** The answer of a command that must succeed. */
  // oxlint-disable-next-line typescript/no-explicit-any -- tests look into whatever came back
  async function ask(gateway: RunningGateway, ...words: string[]): Promise<any> {
    const { code, stdout, stderr } = await command(gateway, ...words, "--json");
    expect([code, stderr]).toEqual([0, ""]);
    return JSON.parse(stdout);
  }

  const statusOf = async (gateway: RunningGateway, token: string): Promise<number> =>
    (await get(`${gateway.url}/api/servers`, { authorization: `Bearer ${token}` })).status;

  test("a token that one gateway made is good at the other, and revoked at one it is refused at both", async () => {
    const [first, second] = await Promise.all([start("first"), start("second")]);
    const { token } = (await ask(first, "user", "add", "ann", "--admin", "--team", "red")).made;
    await until(async () => (await statusOf(second, token)) === 200);
    const { tokens } = await ask(second, "token", "list", "--user", "ann");
    await ask(second, "token", "revoke", tokens[0].id);
    expect(await statusOf(second, token)).toBe(401);
    await until(async () => (await statusOf(first, token)) === 401);
    expect((await command(first, "audit")).stdout).toMatch(/token\.revoke[^]*user\.add|user\.add[^]*token\.revoke/);
    expect((await command(first, "audit", "verify")).stdout).toMatch(/entries, none changed or removed/);
  });

  test("while the database is away people are served, changes are refused, and the gateway says so until it is back", async () => {
    const gateway = await start("only");
    const { token } = (await ask(gateway, "user", "add", "ann", "--admin", "--team", "red")).made;
    await postgres.stop();
    try {
      const ready = async () => (await get(`${gateway.url}/readyz`)).json;
      await until(async () => (await ready()).records === "degraded");
      expect((await get(`${gateway.url}/readyz`)).status).toBe(200);
      expect(await statusOf(gateway, token)).toBe(200);
      const { code, stderr } = await command(gateway, "user", "add", "bob", "--team", "red");
      expect([code, stderr]).toEqual([1, expect.stringContaining("cannot be reached")]);
      expect((await command(gateway, "status")).stdout).toContain("cannot be reached");
    } finally {
      await postgres.start();
    }
    await until(() => gateway.stderr().includes("works again"));
    await ask(gateway, "user", "add", "bob", "--team", "red");
    expect(gateway.stderr()).toContain("cannot be reached");
  });

  test("the password is in no output and no file", async () => {
    const gateway = await start("only");
    const shown = await command(gateway, "config", "show");
    expect(shown.stdout).toContain("${env:YARD_DATABASE}");
    const outputs = [shown, await command(gateway, "status"), await command(gateway, "doctor")];
    const said = outputs.map(({ stdout, stderr }) => stdout + stderr).join("") + gateway.stderr();
    expect(said).not.toContain("pa55-of-test");
    const files = await readdir(join(directory, "only"), { recursive: true, withFileTypes: true });
    for (const file of files.filter((entry) => entry.isFile()))
      expect(await readFile(join(file.parentPath, file.name), "latin1")).not.toContain("pa55-of-test");
  });

  test("a gateway whose password is wrong does not start, and does not say it", async () => {
    url = url.replace("pa55-of-test", "wr0ng-pa55word");
    const failed = await start("only").then(
      () => "it started",
      (error: unknown) => String(error),
    );
    expect(failed).toContain("password authentication failed");
    expect(failed).not.toContain("wr0ng");
  });

  test("a gateway that is killed in the middle of a migration leaves nothing of it, and the next one starts", async () => {
    const database = `yard_${databases}`;
    const ask = async (sql: string) => await postgres.run(sql, database);
    const tables = async () =>
      await ask("select tablename from pg_tables where schemaname = 'toolyard_state' and tablename not like 'kysely%'");
    await ask("create schema toolyard_state authorization toolyard");
    // The step that makes this table waits for whoever made one of the same name before.
    const holder = new pg.Client({ connectionString: url });
    await holder.connect();
    await holder.query("begin; create table toolyard_state.pat (id text)");
    const folder = join(directory, "killed");
    await mkdir(folder);
    const configFile = join(folder, "toolyard.json");
    await writeFile(configFile, JSON.stringify({ toolyard: { team: true, port: 0, database: url } }));
    const words = [mainFile, "serve", "--config", configFile, "--data-dir", join(folder, "data")];
    const child = spawn(process.execPath, words, { env: { ...process.env, ...env() }, stdio: "ignore" });
    const waiting = "select pid from pg_stat_activity where application_name = 'toolyard' and wait_event_type = 'Lock'";
    await until(async () => (await ask(waiting)).length === 1);
    const ended = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGKILL");
    await ended;
    await holder.query("rollback");
    await holder.end();
    // The server goes on for a moment with what it was told, and notices then that nobody is there.
    const left = "select pid from pg_stat_activity where application_name = 'toolyard'";
    await until(async () => (await ask(left)).length === 0);
    expect(await tables()).toEqual([]);
    const gateway = await start("next");
    await ask("select seq from toolyard_state.audit");
    expect((await command(gateway, "db", "check")).code).toBe(0);
  });
});
