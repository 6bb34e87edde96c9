import { readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { askOwner } from "../harness/owner-door.ts";
import { createVault } from "../../src/people/installations/vault.ts";
import { randomId } from "../../src/kernel/ids.ts";
import { openKeyRing } from "../../src/store/files/safe/key-ring-file.ts";
import { seal, unseal } from "../../src/store/files/safe/sealing.ts";
import { loadDriver } from "../../src/store/sql/sqlite/sql-driver.ts";
import { badServer } from "../harness/gateway.ts";
import { onlyPlace } from "../harness/places.ts";
import { hasNoPostgres, startPostgres, type Postgres } from "../harness/postgres.ts";
import { createRandom } from "../harness/random.ts";
import { run } from "../harness/rest.ts";
import { until } from "../harness/until.ts";
import { startTeamWorld, type TeamWorld } from "./team-world.ts";

const seed = Number(process.env["TOOLYARD_TEST_SEED"] ?? 20_261_123);
/** In SQLite, and half as many in PostgreSQL. More of them by hand: each takes about two seconds of a processor. */
const kills = Number(process.env["TOOLYARD_TEST_KILLS"] ?? 2);

type Row = Readonly<Record<string, string | number | null>>;
/** Reads the state while no gateway runs. */
type Select = (statement: string) => Promise<readonly Row[]>;

/** What was answered with yes, and what was on its way when the gateway was killed. */
interface Asked {
  readonly done: boolean;
  readonly value: string;
}

const newest = (all: readonly Asked[]): number => all.findLastIndex(({ done }) => done);

/** Changes one after the other until the gateway is gone, and notes what became of each. */
async function repeat(notes: Asked[], change: (value: string) => Promise<void>): Promise<void> {
  for (;;) {
    const value = `value-${notes.length}`;
    const at = notes.push({ done: false, value }) - 1;
    await change(value);
    notes[at] = { done: true, value };
  }
}

/** Whatever was answered last, or something later that was not answered any more. */
function expectKept(notes: readonly Asked[], kept: unknown): void {
  const from = newest(notes);
  const possible = notes.slice(Math.max(from, 0)).map(({ value }) => value);
  if (from < 0) possible.push("");
  expect(possible).toContain(kept);
}

async function killAgainAndAgain(world: TeamWorld, select: Select, kills: number): Promise<void> {
  const random = createRandom(seed);
  const { token } = (await world.ask("user", "add", "ann", "--admin", "--team", "red")).made;

  // A token alone brings in no program.
  const { cookies } = await world.logIn("ann");
  const cookie = `ty_session=${cookies.get("ty_session") ?? ""}`;

  async function must(method: string, path: string, body: object): Promise<Row> {
    const who = path.startsWith("/api/templates") ? { cookie } : { authorization: `Bearer ${token as string}` };
    const headers = { ...who, "content-type": "application/json" };
    const sent = method === "GET" ? {} : { body: JSON.stringify(body) };
    const answer = await fetch(`${world.url}${path}`, { method, headers, ...sent });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path}: ${text}`);
    return JSON.parse(text) as Row;
  }

  const { id: template } = await must("POST", "/api/templates", {
    slug: "mail",
    entry: { ...badServer("--behaviours=env"), env: { CANARY: "Bearer ${secret:KEPT}" } },
    fields: [
      { path: "env.REGION", tier: "team" },
      { path: "env.KEY", tier: "user", type: "secret" },
    ],
  });
  await must("POST", "/api/teams/red/installations", { template, slug: "first" });
  const values: Asked[] = [];
  const versions: Asked[] = [];
  const secrets: Asked[] = [];
  const installs: Asked[] = [];
  const firsts: Asked[] = [];
  let [answers, rotations] = [0, 0];
  const counted = async (work: Promise<unknown>): Promise<void> => {
    await work;
    answers += 1;
  };

  /** As `toolyard key rotate` asks it, without a process for each. */
  async function rotate(isDeep: boolean): Promise<void> {
    const dataDir = join(world.directory, "data");
    const { status, text } = await askOwner(dataDir, "POST", "/api/system/keys/rotate", { data: isDeep });
    if (status !== 200) throw new Error(text);
    rotations += 1;
  }

  for (let round = 0; round < kills; round += 1) {
    const { url } = world;
    const at = "/api/teams/red";
    const working = [
      repeat(values, (value) =>
        counted(must("PATCH", `${at}/installations/first/config/team`, { values: { "env.REGION": value } })),
      ),
      repeat(versions, (value) =>
        counted(
          must("PATCH", `/api/templates/${String(template)}`, {
            entry: {
              ...badServer("--behaviours=env"),
              env: { CANARY: "Bearer ${secret:KEPT}", VERSION_OF_TEMPLATE: value },
            },
          }),
        ),
      ),
      repeat(secrets, (value) => counted(must("PUT", `${at}/secrets/KEPT`, { value: `kept-${value}` }))),
      repeat(installs, (value) =>
        counted(
          must("POST", `${at}/installations`, { template, slug: value, values: { "env.REGION": `of-${value}` } }),
        ),
      ),
      // A team's first secret makes its key.
      repeat(firsts, async (value) => {
        await must("POST", "/api/teams", { slug: `team-${value}` });
        await counted(must("PUT", `/api/teams/team-${value}/secrets/FIRST`, { value: `first-${value}` }));
      }),
      (async () => {
        for (;;) await rotate(random() < 0.3);
      })(),
    ];
    // None of them ends before the gateway does.
    const ended = Promise.allSettled(working);
    const [enough, rotated] = [answers + 5 + Math.floor(random() * 40), rotations + Math.floor(random() * 3)];
    await until(() => answers >= enough && rotations >= rotated);
    await world.restart("SIGKILL", async () => {
      await ended;
      await expectWhole(world, select);
    });
    expect(world.url).toBe(url);
    // A rotation that was interrupted is finished by itself.
    await until(() => !readdirSync(onlyPlace(join(world.directory, "data"))).includes("vault.key.next"));
  }

  expectKept(values, (await fieldOf(must, "env.REGION")) ?? "");
  const shown = await until(async () => {
    const { status, text } = await run(world.url, "first:env", {}, { authorization: `Bearer ${token as string}` });
    return status === 200 && text;
  });
  expectKept(versions, /(value-\d+)/.exec(shown.slice(shown.indexOf("VERSION_OF_TEMPLATE")))?.[1]);
  expectKept(secrets, /Bearer kept-(value-\d+)/.exec(shown)?.[1]);
  const { installations } = (await must("GET", "/api/teams/red/installations", {})) as unknown as {
    installations: { slug: string }[];
  };
  const slugs = new Set(installations.map(({ slug }) => slug));
  for (const { done, value } of installs) if (done) expect(slugs).toContain(value);
  await world.gateway.stop();
  const opened = await openSecrets(world, select);
  for (const { done, value } of firsts) if (done) expect([...opened.values()]).toContain(`first-${value}`);
  for (const notes of [values, versions, secrets, installs, firsts]) expect(newest(notes)).toBeGreaterThan(-1);
  expect(rotations).toBeGreaterThan(0);
}

async function fieldOf(
  must: (method: string, path: string, body: object) => Promise<Row>,
  path: string,
): Promise<string | undefined> {
  const { fields } = (await must("GET", "/api/teams/red/installations/first/config/team", {})) as unknown as {
    fields: { path: string; value?: string }[];
  };
  return fields.find((field) => field.path === path)?.value;
}

/** Every row belongs to a change that is in the audit, and every secret opens. */
async function expectWhole(world: TeamWorld, select: Select): Promise<void> {
  const [rows] = await select(`select
    (select count(*) from installation) as installations,
    (select count(*) from audit where action = 'server.install' and outcome = 'ok') as installed,
    (select count(*) from installation where template_id not in (select id from template)
      or team_id not in (select id from team)) as lost,
    (select count(*) from secret where key_id not in (select id from data_key)) as keyless,
    (select count(*) from installation where slug <> 'first'
      and config not like '%of-' || slug || '%') as half`);
  expect(Object.values(rows ?? {}).map(Number)).toEqual([
    Number(rows?.["installed"]),
    Number(rows?.["installed"]),
    0,
    0,
    0,
  ]);
  await openSecrets(world, select);
}

/** All secrets by their ids, opened as a gateway does that starts in this folder. */
async function openSecrets(world: TeamWorld, select: Select): Promise<ReadonlyMap<string, string>> {
  const folder = onlyPlace(join(world.directory, "data"));
  const openRing = async (mayCreate: boolean) => await openKeyRing(folder, {}, mayCreate);
  const vault = createVault({ sealing: { seal, unseal }, openRing, newId: randomId, now: () => 0 });
  const dataKeys = (await select("select * from data_key")).map((row) => ({
    ...{ id: String(row["id"]), teamId: String(row["team_id"]), wrapped: String(row["wrapped"]) },
    ...{ kek: String(row["kek"]), createdAtMs: Number(row["created_at_ms"]) },
  }));
  vault.apply({ dataKeys });
  expect(await vault.unlock()).toBeUndefined();
  const found = (await select("select * from secret")).map((row): [string, string] => {
    const { id, team_id: teamId, field, sealed, key_id: keyId, version } = row;
    const place = { id: String(id), teamId: String(teamId), field: String(field), version: Number(version) };
    const owner = { installationId: null, membershipId: null, createdAtMs: 0, updatedAtMs: 0, usedAtMs: null };
    return [place.id, vault.open({ ...place, ...owner, sealed: String(sealed), keyId: String(keyId) })];
  });
  return new Map(found);
}

test(
  `FAULT 109: kill -9 at random in installing, upgrading and rotating keys: what was answered is there, nothing is half (TOOLYARD_TEST_SEED=${seed})`,
  { timeout: 120_000 + kills * 20_000 },
  async () => {
    await using world = await startTeamWorld();
    const select: Select = async (statement) => {
      const database = loadDriver(tmpdir()).open(join(onlyPlace(join(world.directory, "data")), "state.db"));
      try {
        return await Promise.resolve(database.prepare(statement).all() as Row[]);
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
    `FAULT 109: kill -9 at random in installing, upgrading and rotating keys leaves nothing half there, either (TOOLYARD_TEST_SEED=${seed})`,
    { timeout: 120_000 + kills * 20_000 },
    async () => {
      await using world = await startTeamWorld({ settings: { database: await postgres.createDatabase("yard") } });
      await postgres.run("alter role postgres in database yard set search_path to toolyard_state");
      const select: Select = async (statement) => (await postgres.run(statement, "yard")) as readonly Row[];
      await killAgainAndAgain(world, select, Math.ceil(kills / 2));
    },
  );
});
