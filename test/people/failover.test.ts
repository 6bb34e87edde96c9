import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runCommand } from "../harness/command.ts";
import { startGateway, type RunningGateway } from "../harness/gateway.ts";
import { hasNoPostgres, startPostgres, type Postgres, type Standby } from "../harness/postgres.ts";
import { get, post } from "../harness/rest.ts";
import { startSwitchProxy, type SwitchProxy } from "../harness/switch-proxy.ts";
import { until } from "../harness/until.ts";

const findBob = `select 1 from toolyard_state."user" where name = 'bob'`;
const key = Buffer.alloc(32, 1).toString("base64");

describe.skipIf(hasNoPostgres)("two gateways whose PostgreSQL fails over to a standby that lagged", () => {
  let postgres: Postgres;
  let standby: Standby;
  let proxy: SwitchProxy;
  let directory: string;
  let first: RunningGateway;
  let second: RunningGateway;
  let admin: Record<string, string>;

  beforeAll(async () => {
    postgres = await startPostgres();
    const url = new URL(await postgres.createDatabase("yard"));
    proxy = await startSwitchProxy(postgres.port);
    url.port = `${proxy.port}`;
    const env = { YARD_DATABASE: url.href, TOOLYARD_KEY: key };
    directory = await mkdtemp(join(tmpdir(), "toolyard-failover-"));
    const start = async (folder: string): Promise<RunningGateway> => {
      await mkdir(join(directory, folder));
      const config = { mcpServers: {}, toolyard: { team: true, database: "${env:YARD_DATABASE}" } };
      return await startGateway({ directory: join(directory, folder), config, env });
    };
    [first, second] = await Promise.all([start("first"), start("second")]);
    const where = ["--config", first.configFile, "--data-dir", join(first.directory, "data"), "--json"];
    const { stdout } = await runCommand(["user", "add", "ann", "--admin", "--team", "red", ...where], env);
    admin = { authorization: `Bearer ${JSON.parse(stdout).made.token}` };
    await until(async () => (await get(`${second.url}/api/me`, admin)).status === 200);
    standby = await postgres.standby();
  });
  afterAll(async () => {
    await first[Symbol.asyncDispose]();
    await second[Symbol.asyncDispose]();
    await proxy[Symbol.asyncDispose]();
    await standby[Symbol.asyncDispose]();
    await postgres[Symbol.asyncDispose]();
    await rm(directory, { recursive: true, force: true });
  });

  const gateways = (): readonly RunningGateway[] => [first, second];
  const add = async (gateway: RunningGateway, name: string): Promise<string> => {
    const { json, text } = await post(`${gateway.url}/api/users`, { name, team: "red" }, admin);
    if (json?.made?.token === undefined) throw new Error(text);
    return json.made.token;
  };
  const statusOf = async (gateway: RunningGateway, token: string): Promise<number> =>
    (await get(`${gateway.url}/api/me`, { authorization: `Bearer ${token}` })).status;
  const namesAt = async (gateway: RunningGateway): Promise<string> =>
    (await get(`${gateway.url}/api/users`, admin)).json.users.map(({ name }: { name: string }) => name).join(" ");

  test("what was lost is nowhere, and what is changed from then on is in force everywhere", async () => {
    const bob = await add(first, "bob");
    await until(async () => (await statusOf(second, bob)) === 200);
    await until(async () => (await standby.run(findBob, "yard")).length > 0);
    await standby.lag();
    // Both gateways know numbers that are given once more later.
    for (const name of ["cid", "dan", "eve"]) await add(first, name);
    await add(second, "fay");
    for (const gateway of gateways()) await until(async () => (await namesAt(gateway)).endsWith("eve fay"));
    await postgres.kill();
    await standby.promote();
    proxy.leadTo(standby.port);
    for (const gateway of gateways()) await until(async () => (await namesAt(gateway)) === "ann bob");
    const { id } = (await get(`${first.url}/api/users`, admin)).json.users.find(
      ({ name }: { name: string }) => name === "bob",
    );
    const headers = { ...admin, "content-type": "application/json" };
    const gone = await fetch(`${first.url}/api/users/${id}`, { method: "DELETE", headers });
    expect(gone.status).toBeLessThan(300);
    await until(async () => (await statusOf(second, bob)) === 401);
    await add(second, "gil");
    await until(async () => (await namesAt(first)) === "ann gil");
    expect(second.stderr() + first.stderr()).toContain("the database has lost changes");
  });
});
