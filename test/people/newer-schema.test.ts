import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runCommand } from "../harness/command.ts";
import { startGateway, type RunningGateway } from "../harness/gateway.ts";
import { hasNoPostgres, startPostgres, type Postgres } from "../harness/postgres.ts";
import { get, post } from "../harness/rest.ts";
import { until } from "../harness/until.ts";

const key = Buffer.alloc(32, 1).toString("base64");

describe.skipIf(hasNoPostgres)(
  "gateways beside a newer version that has changed the tables of their PostgreSQL",
  () => {
    let postgres: Postgres;
    let directory: string;
    let env: Record<string, string>;
    let first: RunningGateway;
    let admin: Record<string, string>;

    const run = async (sql: string): Promise<readonly Record<string, unknown>[]> => await postgres.run(sql, "yard");
    const start = async (folder: string): Promise<RunningGateway> => {
      await mkdir(join(directory, folder), { recursive: true });
      const config = { mcpServers: {}, toolyard: { team: true, database: "${env:YARD_DATABASE}" } };
      return await startGateway({ directory: join(directory, folder), config, env });
    };
    const command = async (gateway: RunningGateway, ...words: string[]) =>
      await runCommand(
        [...words, "--config", gateway.configFile, "--data-dir", join(gateway.directory, "data"), "--json"],
        env,
      );
    const readiness = async (gateway: RunningGateway): Promise<unknown> => (await get(`${gateway.url}/readyz`)).json;
    const namesAt = async (gateway: RunningGateway): Promise<string> =>
      (await get(`${gateway.url}/api/users`, admin)).json.users.map(({ name }: { name: string }) => name).join(" ");
    const add = async (gateway: RunningGateway, name: string): Promise<number> =>
      (await post(`${gateway.url}/api/users`, { name, team: "red" }, admin)).status;
    /** Of all gateways: each looks at the tables again when it has connected again. */
    const breakConnections = async (): Promise<unknown> =>
      await run("select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'toolyard'");

    beforeAll(async () => {
      postgres = await startPostgres();
      env = { YARD_DATABASE: await postgres.createDatabase("yard"), TOOLYARD_KEY: key };
      directory = await mkdtemp(join(tmpdir(), "toolyard-newer-"));
      first = await start("first");
      const { stdout } = await command(first, "user", "add", "ann", "--admin", "--team", "red");
      admin = { authorization: `Bearer ${JSON.parse(stdout).made.token}` };
      await run(`create table toolyard_state.later (id text primary key, what text not null);
      alter table toolyard_state."user" add column shoe_size bigint;
      insert into toolyard_state.kysely_migration values ('0999', 'then');
      update toolyard_state."user" set shoe_size = 43 where name = 'ann'`);
      await breakConnections();
    });
    afterAll(async () => {
      await first[Symbol.asyncDispose]();
      await postgres[Symbol.asyncDispose]();
      await rm(directory, { recursive: true, force: true });
    });

    test("one that runs goes on, one that starts is ready, and what they change leaves the rest as it is", async () => {
      await until(async () => (await add(first, "bob")) < 300);
      await using second = await start("second");
      expect(await readiness(second)).toEqual({ status: "ready" });
      expect(await readiness(first)).toEqual({ status: "ready" });
      await until(async () => (await namesAt(second)) === "ann bob");
      const [ann] = (await get(`${second.url}/api/users`, admin)).json.users;
      const renamed = await fetch(`${second.url}/api/users/${ann.id}`, {
        method: "PATCH",
        headers: { ...admin, "content-type": "application/json" },
        body: JSON.stringify({ name: "anna" }),
      });
      expect([renamed.status, await renamed.text()]).toEqual([200, expect.stringContaining("anna")]);
      expect(await run(`select shoe_size::int from toolyard_state."user" where name = 'anna'`)).toEqual([
        { shoe_size: 43 },
      ]);
      await until(async () => (await namesAt(first)) === "anna bob");
      for (const task of ["check", "migrate"]) {
        const { code, stdout } = await command(first, "db", task);
        expect([code, JSON.parse(stdout).databases[0].steps.at(-1)]).toEqual([0, "0999"]);
      }
    });

    test("what a newer version announces in its own way is read", async () => {
      await run(`begin;
      insert into toolyard_state."user" select (jsonb_populate_record(u, '{"id": "u_zoe", "name": "zoe"}')).*
        from toolyard_state."user" u where name = 'bob';
      insert into toolyard_state.change (seq, at_ms, origin, kind, detail)
        select max(seq) + 1, 1, 'a newer one', 'changeShoes', '{"sizes": [43]}' from toolyard_state.change;
      commit`);
      await until(async () => (await namesAt(first)).includes("zoe"));
      expect(await add(first, "cid")).toBeLessThan(300);
      expect(await add(first, "zoe")).toBe(409);
    });

    test("where older versions must not use the tables, they say so and what to do, and change nothing", async () => {
      await run("update toolyard_state.meta set value = '0999' where key = 'reads_from'");
      await breakConnections();
      const why = /newer version of Toolyard.*it can be used from schema 0999 on, and this version knows \d+/;
      await until(async () => why.test(JSON.stringify(await readiness(first))));
      expect(await add(first, "dan")).toBe(503);
      await expect(start("third")).rejects.toThrow(why);
      const { code, stdout } = await command(first, "db", "check");
      expect([code, stdout]).toEqual([1, expect.stringMatching(why)]);
      expect(await run(`select 1 from toolyard_state."user" where name = 'dan'`)).toEqual([]);
    });
  },
);
