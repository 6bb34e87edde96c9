import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { loadDriver } from "../../src/store/sql/sqlite/sql-driver.ts";
import { onlyPlace } from "../harness/places.ts";
import { hasNoPostgres, startPostgres, type Postgres } from "../harness/postgres.ts";
import { createRandom } from "../harness/random.ts";
import { get } from "../harness/rest.ts";
import { until } from "../harness/until.ts";
import { callbackUrl, connectApp, refresh, type AppTokens } from "./app-client.ts";
import { createPageBrowser } from "./page-browser.ts";
import { password, startTeamWorld, type TeamWorld } from "./team-world.ts";

const seed = Number(process.env["TOOLYARD_TEST_SEED"] ?? 20_261_125);
/** In SQLite, and one less in PostgreSQL. More of them by hand. */
const kills = Number(process.env["TOOLYARD_TEST_KILLS"] ?? 3);
/** A user has twenty sessions at most: of more logins, the oldest are over. */
const mostSessions = 15;

type Row = Readonly<Record<string, string | number | null>>;
/** Reads the state while no gateway runs. */
type Select = (statement: string) => Promise<readonly Row[]>;

/** Nothing of these may be there without what it belongs to, and nothing without its entry in the audit. */
const halves = `select
  (select count(*) from oauth_item where grant_id is not null and grant_id not in (select id from oauth_grant)) as items,
  (select count(*) from oauth_grant where membership_id not in (select id from membership)) as grants,
  (select count(*) from oauth_grant) - (select count(*) from audit where action = 'app.consent') as consents,
  (select count(*) from browser_session where user_id not in (select id from "user")) as sessions`;

async function killAgainAndAgain(world: TeamWorld, select: Select, rounds: number): Promise<void> {
  const random = createRandom(seed);
  await world.ask("user", "add", "ann", "--admin", "--team", "red");
  const ann = await world.logIn("ann", { stopAt: callbackUrl });
  const statusOf = async (headers: Readonly<Record<string, string>>): Promise<number> =>
    (await get(`${world.url}/api/servers`, headers)).status;
  const app = await connectApp(world.url, ann);
  const renewed = [app.refresh_token];
  const consented: string[] = [];
  const loggedIn: string[] = [];
  let answers = 0;

  /** Ends with the gateway. */
  async function again(work: () => Promise<void>): Promise<void> {
    for (;;) {
      await work();
      answers += 1;
    }
  }

  for (let round = 0; round < rounds; round += 1) {
    const base = world.url;
    const last = renewed.at(-1) ?? "";
    const working = [
      // Eight at once, as clients do: of one token, because it is as good as new for a while.
      ...Array.from({ length: 8 }, async () => {
        const { status, json } = await refresh(base, app.clientId, last);
        if (status === 200) renewed.push((json as AppTokens).refresh_token);
        answers += 1;
      }),
      again(async () => void consented.push((await connectApp(base, ann)).access_token)),
      again(async () => {
        const browser = createPageBrowser();
        const page = await browser.open(`${base}/auth/login?next=/account`);
        await browser.submit(page, { name: "ann", password });
        const cookie = browser.cookies.get("ty_session");
        if (cookie !== undefined) loggedIn.push(cookie);
      }),
    ];
    const ended = Promise.allSettled(working);
    const [before, enough] = [answers, 9 + Math.floor(random() * 8)];
    // Once, each of them has been answered.
    const hasAll = (): boolean => round > 0 || (consented.length > 0 && loggedIn.length > 0);
    await until(() => answers >= before + enough && hasAll());
    await world.restart("SIGKILL", async () => {
      await ended;
      const [found] = await select(halves);
      expect(Object.entries(found ?? {}).filter(([, count]) => Number(count) > 0)).toEqual([]);
    });
  }
  for (const token of consented) expect(await statusOf({ authorization: `Bearer ${token}` })).toBe(200);
  for (const cookie of loggedIn.slice(-mostSessions))
    expect(await statusOf({ cookie: `ty_session=${cookie}` })).toBe(200);
  for (const token of renewed) {
    const { status, json } = await refresh(world.url, app.clientId, token);
    expect([status, json.error]).toEqual([200, undefined]);
  }
  expect((await world.command("audit", "verify")).stdout).toMatch(/none changed or removed/);
}

test(
  `FAULT 109: kill -9 at random in login, consent and renewal: what was answered is there, nothing is half (TOOLYARD_TEST_SEED=${seed})`,
  { timeout: 120_000 + kills * 30_000 },
  async () => {
    await using world = await startTeamWorld();
    const select: Select = async (statement) => {
      const database = loadDriver(tmpdir()).open(join(onlyPlace(join(world.directory, "data")), "state.db"));
      try {
        return await Promise.resolve(database.prepare(statement).all() as readonly Row[]);
      } finally {
        database.close();
      }
    };
    await killAgainAndAgain(world, select, kills);
  },
);

describe.skipIf(hasNoPostgres)("with the state in PostgreSQL", () => {
  let postgres: Postgres;
  beforeAll(async () => void (postgres = await startPostgres()));
  afterAll(async () => await postgres[Symbol.asyncDispose]());

  test(
    `FAULT 109: kill -9 at random in login, consent and renewal leaves nothing half there, either (TOOLYARD_TEST_SEED=${seed})`,
    { timeout: 120_000 + kills * 30_000 },
    async () => {
      await using world = await startTeamWorld({ settings: { database: await postgres.createDatabase("yard") } });
      await postgres.run("alter role postgres in database yard set search_path to toolyard_state");
      const select: Select = async (statement) => (await postgres.run(statement, "yard")) as readonly Row[];
      await killAgainAndAgain(world, select, kills - 1);
    },
  );
});
