import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { schemaOf } from "../../src/store/sql/postgres/postgres-migrate.ts";
import { loadDriver } from "../../src/store/sql/sqlite/sql-driver.ts";
import { badServer } from "../harness/gateway.ts";
import { hasNoPostgres, startPostgres, type Postgres } from "../harness/postgres.ts";
import { get, run } from "../harness/rest.ts";
import { until } from "../harness/until.ts";
import { startTeamWorld, type TeamWorld } from "./team-world.ts";

const key = (byte: number): string => Buffer.alloc(32, byte).toString("base64");
const bearer = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` });
const texts = { red: "mail-of-red-1f7a", other: "other-of-red-92cc", blue: "mail-of-blue-04be" };

type Rows = readonly Record<string, unknown>[];

/** A gateway with secrets of two teams, and its database as somebody sees it who has that and not the key. */
interface Vaulted extends AsyncDisposable {
  readonly world: TeamWorld;
  readonly red: string;
  /** Starts it again with another environment, after `sql` was run. */
  again(env: Readonly<Record<string, string>>, ...sql: string[]): Promise<void>;
  rows(): Promise<Rows>;
}

async function startVaulted(postgres?: Postgres): Promise<Vaulted> {
  const env: Record<string, string> = { TOOLYARD_KEY: key(1) };
  const settings = postgres === undefined ? {} : { database: await postgres.createDatabase("vaulted") };
  const world = await startTeamWorld({ env, settings });
  const red = (await world.ask("user", "add", "ann", "--admin", "--team", "red")).made.token as string;
  await world.ask("team", "add", "blue");
  const blue = (await world.ask("user", "add", "cid", "--team", "blue", "--role", "owner")).made.token as string;
  const file = join(world.directory, "template.json");
  const entry = { ...badServer("--behaviours=env"), env: { MAIL: "${secret:MAIL}", OTHER: "${secret:OTHER}" } };
  await writeFile(file, JSON.stringify({ entry }));
  await world.ask("template", "add", "mail", "--file", file);
  await world.ask("install", "mail", "--team", "red");
  for (const [token, path, value] of [
    [red, "red/secrets/MAIL", texts.red],
    [red, "red/secrets/OTHER", texts.other],
    [blue, "blue/secrets/MAIL", texts.blue],
  ] as const)
    expect((await put(world, token, path, value)).status).toBe(200);

  async function query(sql: string): Promise<Rows> {
    if (postgres !== undefined) return await postgres.run(inSchema(sql), "vaulted");
    const data = join(world.directory, "data");
    const name = (await readdir(data, { recursive: true })).find((one) => one.endsWith("state.db")) ?? "";
    const database = loadDriver(world.directory).open(join(data, name));
    try {
      return database.prepare(sql).all();
    } finally {
      database.close();
    }
  }
  return {
    world,
    red,
    rows: async () => [
      ...(await query("select id, team_id, field, sealed, key_id, version from secret order by id")),
      ...(await query("select id, team_id, wrapped from data_key order by id")),
    ],
    async again(next, ...sql) {
      await world.restart(undefined, async () => {
        for (const name of Object.keys(env)) delete env[name];
        Object.assign(env, next);
        for (const one of sql) await query(one);
      });
    },
    [Symbol.asyncDispose]: async () => await world[Symbol.asyncDispose](),
  };
}

/** Tables of the state are in a schema of their own. */
const inSchema = (sql: string): string =>
  sql.replaceAll(/(?<=\b(?:from|update) )(secret|data_key|team)\b/g, `${schemaOf.state}.$1`);

async function put(world: TeamWorld, token: string, path: string, value: string): Promise<Response> {
  const headers = { ...bearer(token), "content-type": "application/json" };
  return await fetch(`${world.url}/api/teams/${path}`, { method: "PUT", headers, body: JSON.stringify({ value }) });
}

/** What a call of red's server is answered with, and whatever the gateway says of itself. */
async function told({ world, red }: Vaulted): Promise<{ readonly status: number; readonly text: string }> {
  const { status, text } = await until(async () => {
    const called = await run(world.url, "mail:env", {}, bearer(red));
    return !called.text.includes("SERVER_STARTING") && called;
  });
  return { status, text: text + (await world.command("status")).stdout + world.gateway.stderr() };
}

async function expectOpen(vaulted: Vaulted): Promise<void> {
  const { status, text } = await told(vaulted);
  expect([status, text.includes(texts.red), text.includes(texts.other)]).toEqual([200, true, true]);
}

/** No server gets a value, in whatever place it stands; the gateway says why, and serves everything else. */
async function expectShut(vaulted: Vaulted, why: RegExp): Promise<void> {
  const { status, text } = await told(vaulted);
  expect([status === 200, text]).toEqual([false, expect.stringMatching(why)]);
  for (const value of Object.values(texts)) expect([value, text.includes(value)]).toEqual([value, false]);
  expect((await get(`${vaulted.world.url}/healthz`)).status).toBe(200);
  expect((await get(`${vaulted.world.url}/api/me`, bearer(vaulted.red))).status).toBe(200);
}

test("a key that is wrong, or that a command does not give, opens and changes nothing, and the gateway says why", async () => {
  await using vaulted = await startVaulted();
  await expectOpen(vaulted);
  const before = await vaulted.rows();
  const half = key(1).slice(0, 20);
  for (const [env, why] of [
    [{ TOOLYARD_KEY: key(2) }, /another key/],
    [{ TOOLYARD_KEY: "" }, /missing|does not exist|another key/],
  ] as const) {
    await vaulted.again(env);
    await expectShut(vaulted, why);
    const { status } = await put(vaulted.world, vaulted.red, "red/secrets/NEW", "new");
    expect([env, status >= 400, await vaulted.rows()]).toEqual([env, true, before]);
  }
  // Without any key it does not start: it could not even write down what happens.
  for (const [command, why] of [
    [`echo ${half}`, "it did not print 32 bytes in base64"],
    [`yes ${half}`, "it printed more than a key"],
    [`echo ${key(1)}; exit 1`, "it ended with 1"],
    ["sleep 1000", "it did not end within 15 s"],
  ] as const) {
    const said = await vaulted.again({ TOOLYARD_KEY_COMMAND: command }).then(
      () => "started",
      (error: Error) => error.message,
    );
    expect(said).toContain(`the command of TOOLYARD_KEY_COMMAND gave no key: ${why}`);
    expect([command, said.includes(half), await vaulted.rows()]).toEqual([command, false, before]);
  }
  await vaulted.again({ TOOLYARD_KEY: key(1) });
  await expectOpen(vaulted);
});

const value = (row: string, column = "sealed"): string => `(select ${column} from secret s
  where s.team_id = (select id from team where slug = '${row.split(" ")[0] ?? ""}') and s.field = '${row.split(" ")[1] ?? ""}')`;
const mail = `id = ${value("red MAIL", "s.id")}`;
const redTeam = "(select id from team where slug = 'red')";
const blueTeam = "(select id from team where slug = 'blue')";

describe.each([
  ["SQLite", false],
  ["PostgreSQL", true],
])("rows of secrets that somebody moves in %s", (_name, isPostgres) => {
  let postgres: Postgres | undefined;
  let vaulted: Vaulted;
  const isSkipped = isPostgres && hasNoPostgres;
  beforeAll(async () => {
    if (isSkipped) return;
    postgres = isPostgres ? await startPostgres() : undefined;
    vaulted = await startVaulted(postgres);
  });
  afterAll(async () => {
    await vaulted?.[Symbol.asyncDispose]();
    await postgres?.[Symbol.asyncDispose]();
  });

  const changed = /it was changed, or belongs elsewhere/;
  test.skipIf(isSkipped).each([
    ["another row's value", `update secret set sealed = ${value("red OTHER")} where ${mail}`, changed],
    ["another team's value", `update secret set sealed = ${value("blue MAIL")} where ${mail}`, changed],
    ["another version", `update secret set version = version + 1 where ${mail}`, changed],
    [
      "the name of another",
      `update secret set field = case field when 'MAIL' then 'OTHER' else 'MAIL' end where team_id = ${redTeam}`,
      changed,
    ],
    [
      "another team's value and key",
      `update secret set sealed = ${value("blue MAIL")}, key_id = ${value("blue MAIL", "key_id")} where ${mail}`,
      changed,
    ],
    [
      "another team's wrapped key",
      `update data_key set wrapped = (select wrapped from data_key where team_id = ${blueTeam}) where team_id = ${redTeam}`,
      /its team's key was changed/,
    ],
  ])("%s opens nothing, and opens again where it is put back", async (_what, sql, why) => {
    const env = { TOOLYARD_KEY: key(1) };
    await vaulted.again(env);
    await expectOpen(vaulted);
    const rows = await vaulted.rows();
    await vaulted.again(env, sql);
    await expectShut(vaulted, why);
    const back = rows.map(({ id, ...columns }) => {
      const set = Object.entries(columns).map(([name, one]) => `${name} = '${String(one)}'`);
      return `update ${"wrapped" in columns ? "data_key" : "secret"} set ${set.join(", ")} where id = '${String(id)}'`;
    });
    await vaulted.again(env, ...back);
    await expectOpen(vaulted);
  });
});
