import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { runCommand } from "../harness/command.ts";
import { startGateway, type RunningGateway } from "../harness/gateway.ts";
import { hasNoPostgres, startPostgres } from "../harness/postgres.ts";
import { get, post } from "../harness/rest.ts";
import { until } from "../harness/until.ts";

const users = 150;
const secrets = 60;

test.skipIf(hasNoPostgres)("changes that two gateways of one PostgreSQL make at once are all made", async () => {
  const directory = await mkdtemp(join(tmpdir(), "toolyard-at-once-"));
  onTestFinished(async () => await rm(directory, { recursive: true, force: true }));
  await using postgres = await startPostgres();
  const env = {
    YARD_DATABASE: await postgres.createDatabase("yard"),
    TOOLYARD_KEY: Buffer.alloc(32, 1).toString("base64"),
  };
  const start = async (folder: string): Promise<RunningGateway> => {
    await mkdir(join(directory, folder));
    const config = { mcpServers: {}, toolyard: { team: true, database: "${env:YARD_DATABASE}" } };
    return await startGateway({ directory: join(directory, folder), config, env });
  };
  await using first = await start("first");
  await using second = await start("second");
  const where = ["--config", first.configFile, "--data-dir", join(first.directory, "data"), "--json"];
  const { stdout } = await runCommand(["user", "add", "ann", "--admin", "--team", "red", ...where], env);
  const admin = { authorization: `Bearer ${JSON.parse(stdout).made.token}` };
  await until(async () => (await get(`${second.url}/api/me`, admin)).status === 200);
  const answers = await Promise.all(
    Array.from({ length: users }, async (_, at) => {
      const { url } = at % 2 === 0 ? first : second;
      return await post(`${url}/api/users`, { name: `user-${at}`, team: "red" }, admin);
    }),
  );
  expect(answers.filter(({ status }) => status >= 300).map(({ text }) => text)).toEqual([]);
  const found = 'select count(*)::int as users from toolyard_state."user"';
  expect(await postgres.run(found, "yard")).toEqual([{ users: users + 1 }]);
  for (const { url } of [first, second])
    await until(async () => (await get(`${url}/api/users?limit=200`, admin)).json.users.length === users + 1);
  // What has secrets in it is not told, and read each time.
  const headers = { ...admin, "content-type": "application/json" };
  const put = await Promise.all(
    Array.from({ length: secrets }, async (_, at) => {
      const { url } = at % 2 === 0 ? first : second;
      const body = JSON.stringify({ value: `secret-${at}` });
      return await fetch(`${url}/api/teams/red/secrets/S_${at}`, { method: "PUT", headers, body });
    }),
  );
  expect(put.map(({ status }) => status).filter((status) => status !== 200)).toEqual([]);
  const kept = "select count(*)::int as secrets from toolyard_state.secret";
  expect(await postgres.run(kept, "yard")).toEqual([{ secrets }]);
  const verified = await runCommand(["audit", "verify", ...where], env);
  expect([verified.code, verified.stdout]).toEqual([0, expect.stringContaining('"isWhole":true')]);
});
