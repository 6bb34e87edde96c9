import { mkdir, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { runCommand, type CommandResult } from "../harness/command.ts";
import { badServer, startGateway, type RunningGateway } from "../harness/gateway.ts";
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

  const key = "00".repeat(32);
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
    const actions = (await ask(first, "audit")) as unknown;
    expect(actions).toBeDefined();
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
});
