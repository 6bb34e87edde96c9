import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { hasNoPostgres, startPostgres, type Postgres } from "../../../test/harness/postgres.ts";
import {
  createTestStore,
  entryOf,
  eventOf,
  lineOf,
  requestOf,
  usageOf,
  whenOpened,
  type TestStoreOptions,
} from "../../../test/harness/records.ts";
import { until } from "../../../test/harness/until.ts";
import type { PeopleRows, PeopleWrites } from "../people-rows.ts";
import type { RecordStore } from "../record-store.ts";
import { defaultRetention } from "./retention-limits.ts";

const people: PeopleRows = {
  users: [{ id: "u_1", name: "ann", role: "admin", status: "active", createdAtMs: 1, revision: 1 }],
  teams: [
    { id: "t_2", slug: "blue", title: "", limits: {}, createdAtMs: 2, revision: 1 },
    { id: "t_1", slug: "red", title: "Red", limits: { members: 9 }, createdAtMs: 1_800_000_000_000, revision: 2 },
  ],
  memberships: [{ id: "m_1", teamId: "t_1", userId: "u_1", role: "owner", createdAtMs: 3, revision: 1 }],
  pats: [
    {
      ...{ id: "p_1", membershipId: "m_1", name: "", hash: "a", createdAtMs: 4, expiresAtMs: 5, usedAtMs: null },
      ...{ scopes: ["mcp:read"], only: null },
    },
  ],
  invites: [],
};

describe.skipIf(hasNoPostgres)("records and state in PostgreSQL", () => {
  let postgres: Postgres;
  let folder: string;
  let url: string;
  let stores: RecordStore[];
  let databases = 0;
  beforeAll(async () => void (postgres = await startPostgres()));
  afterAll(async () => await postgres[Symbol.asyncDispose]());
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "toolyard-postgres-store-"));
    databases += 1;
    url = await postgres.createDatabase(`test_${databases}`);
    stores = [];
  });
  afterEach(async () => {
    for (const store of stores) await store.close(10_000);
    await rm(folder, { recursive: true, force: true });
  });

  async function open(options: TestStoreOptions = {}): Promise<RecordStore> {
    const store = createTestStore(folder, { database: url, ...options });
    stores.push(store);
    return await whenOpened(store);
  }
  const ask = async (sql: string) => await postgres.run(sql, `test_${databases}`);

  test("what is recorded is read as from SQLite", async () => {
    const store = await open();
    expect(store.health()).toEqual({ status: "ready", problems: [] });
    const body = { arguments: '{"a":"\0"}', areArgumentsCut: false, result: "r", isResultCut: true };
    const call = requestOf(store, { body, traceId: "t", durationMs: 1.25, team: "red" });
    const failed = requestOf(store, { outcome: "error", code: "TIMEOUT" });
    store.append("request", call);
    store.append("request", failed);
    store.append("log", lineOf(store, { line: "one" }));
    store.append("event", eventOf(store));
    for (let at = 0; at < 3; at += 1) store.append("usage", usageOf({ durationMsMax: at }));
    const spent = { dayMs: 0, life: "a", principal: "p", sinceMs: 1, answers: 1, answerTokens: 2, wrappedCalls: 3 };
    store.append("spent", { ...spent, wrappingTokens: 4 });
    store.append("spent", { ...spent, wrappingTokens: 5 });
    await store.flush();
    expect(store.figures()).toMatchObject({ writtenRows: 9, droppedRows: { row: 0, database: 0 } });
    const { rows } = await store.calls({ limit: 10 });
    expect(rows.map(({ id, hasBody, durationMs }) => [id, hasBody, durationMs])).toEqual([
      [failed.id, false, 1.5],
      [call.id, true, 1.25],
    ]);
    expect(await store.call(call.id)).toEqual({
      ...call,
      installation: call.instance,
      body: { ...body, arguments: '{"a":"\uFFFD"}' },
    });
    expect((await store.calls({ limit: 10, failed: true })).rows.map(({ id }) => id)).toEqual([failed.id]);
    expect((await store.calls({ limit: 10, team: "red" })).rows.map(({ id }) => id)).toEqual([call.id]);
    expect((await store.logs({ limit: 10 })).rows).toMatchObject([{ line: "one", level: "info" }]);
    expect((await store.events({ limit: 10 })).rows).toHaveLength(1);
    expect(await store.usage({ fromMs: 0, toMs: 1, by: ["server", "day"], limit: 9 })).toMatchObject([
      { group: ["files", "0"], calls: 3, errors: 0, durationMsSum: 9, durationMsMax: 2 },
    ]);
    expect(await store.finding({ fromMs: 0, dayMs: 0, exposure: "meta" })).toMatchObject({
      spent: [{ ...spent, wrappingTokens: 5 }],
    });
  });

  test("calls and usage are found by the installation of their instances", async () => {
    const store = await open();
    const [own, theirs] = ["mail-red-m_1-ab", "mail-red-m_2-cd"];
    const started = (instance: string) => eventOf(store, { instance, installation: "i_1", server: "mail", atMs: 1 });
    for (const instance of [own, own, theirs]) {
      store.append("event", started(instance));
      store.append("request", requestOf(store, { instance, server: "mail" }));
      store.append("usage", usageOf({ instance, server: "mail" }));
    }
    store.append("request", requestOf(store));
    store.append("usage", usageOf());
    await store.flush();
    const { rows } = await store.calls({ limit: 9 });
    expect(rows.map(({ installation }) => installation)).toEqual(["files", "i_1", "i_1", "i_1"]);
    expect((await store.calls({ limit: 9, installation: "i_1" })).rows).toHaveLength(3);
    expect((await store.calls({ limit: 9, installation: "files", server: "files" })).rows).toHaveLength(1);
    expect((await store.calls({ limit: 9, installation: "i_2" })).rows).toEqual([]);
    expect(await store.call(rows[1]?.id ?? 0)).toMatchObject({ installation: "i_1", instance: theirs });
    const usage = { fromMs: 0, toMs: 1, limit: 9 };
    expect(
      (await store.usage({ ...usage, by: ["installation"] })).map(({ group, calls }) => [...group, calls]),
    ).toEqual([
      ["i_1", 3],
      ["files", 1],
    ]);
    expect(await store.usage({ ...usage, by: ["instance"], installation: "i_1" })).toMatchObject([
      { group: [own], calls: 2 },
      { group: [theirs], calls: 1 },
    ]);
  });

  test("a row that the database refuses takes no other along", async () => {
    const store = await open();
    const twice = requestOf(store);
    for (const row of [requestOf(store), twice, twice, requestOf(store)]) store.append("request", row);
    await store.flush();
    expect(store.figures().droppedRows.row).toBe(1);
    expect((await store.calls({ limit: 9 })).rows).toHaveLength(3);
  });

  test("what is too old or too much goes", async () => {
    const retention = { ...defaultRetention, bodies: 2, requests: 5, logLines: 3 };
    const store = await open({ limits: { retention, retentionMs: 5 } });
    const body = { arguments: "{}", areArgumentsCut: false, result: "r", isResultCut: false };
    for (let at = 0; at < 2_000; at += 1) store.append("request", requestOf(store, { body: at < 9 ? body : null }));
    for (let at = 0; at < 9; at += 1) store.append("log", lineOf(store));
    await store.flush();
    await until(async () => (await store.calls({ limit: 1_000 })).rows.length === 5);
    expect((await store.logs({ limit: 100 })).rows).toHaveLength(3);
  });

  test("people and the chain of the audit are as in SQLite, and stay together", async () => {
    const store = await open();
    expect(await store.people.change(people, entryOf({}))).toMatchObject({ seq: 1 });
    expect(await store.people.read()).toEqual(people);
    await store.people.use([{ id: "p_1", usedAtMs: 3_600_000 }]);
    expect((await store.people.read()).pats[0]?.usedAtMs).toBe(3_600_000);
    const king = { memberships: [{ ...people.memberships[0], role: "king" }], gonePats: ["p_1"] };
    await expect(store.people.change(king as unknown as PeopleWrites, entryOf({}))).rejects.toMatchObject({
      code: "INTERNAL",
    });
    expect((await store.people.read()).pats).toHaveLength(1);
    await store.people.change({ goneMemberships: ["m_1"] }, entryOf({ detail: "\0 \ud800", team: "red" }));
    expect(await store.people.read()).toMatchObject({ memberships: [], pats: [] });
    await store.auditAll(Array.from({ length: 1_200 }, () => entryOf({})));
    expect(await store.verifyAudit()).toMatchObject({ kind: "whole", entries: 1_202 });
    await ask("update toolyard_state.audit set outcome = 'denied' where seq = 3");
    expect(await store.verifyAudit()).toMatchObject({ kind: "broken", brokenAt: 3 });
  });

  test("a transaction sees its team only, nothing where none was named, and leaves nothing on the connection", async () => {
    const store = await open();
    await store.people.change(people, entryOf({ team: "red" }));
    store.append("request", requestOf(store, { team: "red" }));
    await store.flush();
    const counts = `select (select count(*) from toolyard_state.membership) as members,
      (select count(*) from toolyard_state.pat) as pats, (select count(*) from toolyard_state.team) as teams,
      (select count(*) from toolyard_state.audit) as audits,
      (select count(*) from toolyard_records.request_log) as calls`;
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    const as = async (team?: string): Promise<string> => {
      await client.query("begin");
      if (team !== undefined) await client.query("select set_config('toolyard.team', $1, true)", [team]);
      const [row] = (await client.query(counts)).rows as Record<string, string>[];
      await client.query("commit");
      return Object.values(row ?? {}).join(" ");
    };
    try {
      expect(await as()).toBe("0 0 0 0 0");
      expect(await as("*")).toBe("1 1 2 1 1");
      expect(await as("t_1")).toBe("1 1 1 0 0");
      expect(await as("t_2")).toBe("0 0 1 0 0");
      expect(await as("red")).toBe("0 0 0 1 1");
      expect(await as("blue")).toBe("0 0 0 0 0");
      // As a connection is that somebody else used before.
      expect(await as()).toBe("0 0 0 0 0");
    } finally {
      await client.end();
    }
  });

  const toldOf = (store: RecordStore): (PeopleWrites | undefined)[] => {
    const told: (PeopleWrites | undefined)[] = [];
    store.people.onChange((writes) => told.push(writes));
    return told;
  };

  test("what one gateway changes the other is told, in order and once, and the one that changed it is not", async () => {
    const first = await open();
    const second = await open();
    const [ofFirst, ofSecond] = [toldOf(first), toldOf(second)];
    await Promise.all([first.people.read(), second.people.read()]);
    await first.people.change(people, entryOf({}));
    await first.people.change({ gonePats: ["p_1"] }, entryOf({}));
    await until(() => ofSecond.length === 2);
    expect(ofSecond).toEqual([people, { gonePats: ["p_1"] }]);
    await second.people.change({ goneMemberships: ["m_1"] }, entryOf({}));
    await until(() => ofFirst.length === 1);
    expect([ofFirst, ofSecond.length]).toEqual([[{ goneMemberships: ["m_1"] }], 2]);
    expect(await second.verifyAudit()).toMatchObject({ kind: "whole", entries: 3 });
  });

  test("a change that was planned without what another gateway wrote is refused", async () => {
    const first = await open();
    const second = await open();
    await Promise.all([first.people.read(), second.people.read()]);
    // At the same moment: one of them is second, whoever it is.
    const named = (id: string): PeopleWrites => ({
      teams: [{ id, slug: id, title: "", limits: {}, createdAtMs: 1, revision: 1 }],
    });
    const both = await Promise.allSettled([
      first.people.change(named("t_1"), entryOf({})),
      second.people.change(named("t_2"), entryOf({})),
    ]);
    const refused = both.filter((one) => one.status === "rejected");
    expect(refused).toMatchObject([{ reason: { code: "STORE_BEHIND" } }]);
    expect(await first.verifyAudit()).toMatchObject({ entries: 1 });
  });

  test("gateways that record at the same time take no id from each other", async () => {
    const several = await Promise.all([open(), open(), open()]);
    for (const store of several)
      for (let at = 0; at < 1_000; at += 1) store.append("request", requestOf(store, { principal: `${at}` }));
    await Promise.all(several.map(async (store) => await store.flush()));
    expect(several.map((store) => store.figures().writtenRows)).toEqual([1_000, 1_000, 1_000]);
  });

  test("gateways that start together make the tables once", async () => {
    const several = await Promise.all([open(), open(), open(), open()]);
    for (const store of several) expect(store.health().status).toBe("ready");
    await Promise.all(several.map(async (store) => await store.audit(entryOf({}))));
    expect(await several[0]?.verifyAudit()).toMatchObject({ kind: "whole", entries: 4 });
  });

  const goesAway = async (how: "stop" | "kill"): Promise<void> => {
    const store = await open();
    const told = toldOf(store);
    await store.people.change(people, entryOf({}));
    await postgres[how]();
    try {
      await until(() => store.health().problems[0]?.kind === "away");
      const [problem] = store.health().problems;
      expect(problem?.message).toMatch(/^PostgreSQL at 127\.0\.0\.1:\d+\/test_\d+ cannot be reached: /);
      await expect(store.people.change({ gonePats: ["p_1"] }, entryOf({}))).rejects.toMatchObject({
        code: "STORE_UNAVAILABLE",
      });
      await expect(store.calls({ limit: 1 })).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
      expect(store.append("request", requestOf(store))).toBe(false);
      expect(store.figures().droppedRows.database).toBe(1);
    } finally {
      await postgres.start();
    }
    await until(() => store.health().status === "ready");
    expect(await store.people.read()).toEqual(people);
    await store.people.change({ gonePats: ["p_1"] }, entryOf({}));
    expect(store.append("request", requestOf(store))).toBe(true);
    await store.flush();
    expect(await store.verifyAudit()).toMatchObject({ kind: "whole", entries: 2 });
    expect(told).toEqual([]);
  };

  test("FAULT 106: PostgreSQL is stopped: state fails closed, records are counted, and both go on by themselves", async () =>
    await goesAway("stop"));

  test("FAULT 106: PostgreSQL is killed: state fails closed, records are counted, and both go on by themselves", async () =>
    await goesAway("kill"));

  test("a gateway that starts before its server waits for it", async () => {
    await postgres.stop();
    const store = await open();
    expect(store.health()).toMatchObject({ status: "degraded", problems: [{ kind: "away" }] });
    const reading = store.people.read();
    await postgres.start();
    expect(await reading).toMatchObject({ users: [] });
    expect(store.health().status).toBe("ready");
  });

  test("a wrong password is said without the password", async () => {
    url = url.replace(":pa55-of-test@", ":wr0ng-pa55word@");
    const store = await open();
    const [problem] = store.health().problems;
    expect(problem).toMatchObject({
      kind: "failed",
      message: expect.stringContaining("password authentication failed"),
    });
    expect(JSON.stringify(problem)).not.toContain("wr0ng");
    await expect(store.people.read()).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
  });

  test("a gateway with another key is refused: its entries would look forged", async () => {
    await (await open()).audit(entryOf({}));
    const other = await open({ auditKey: new Uint8Array(32) });
    expect(other.health().problems).toMatchObject([{ kind: "failed", hint: expect.stringContaining("TOOLYARD_KEY") }]);
    await expect(other.audit(entryOf({}))).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
  });

  test("a database of a newer version is refused, and is as it was", async () => {
    await (await open()).close(10_000);
    await ask("insert into toolyard_state.kysely_migration values ('9999', 'then')");
    const store = await open();
    expect(store.health().problems).toMatchObject([{ kind: "newer", message: expect.stringContaining("9999") }]);
    await expect(store.people.read()).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
  });

  test("questions that find every connection busy are refused, and nothing else is", async () => {
    const store = await open({ link: { connections: 2, statementMs: 500 } });
    const locker = new pg.Client({ connectionString: url });
    await locker.connect();
    await locker.query("begin; lock table toolyard_records.request_log");
    const asked = await Promise.allSettled(Array.from({ length: 6 }, async () => await store.calls({ limit: 1 })));
    expect(new Set(asked.map((one) => (one.status === "rejected" ? (one.reason as Error).message : "")))).toEqual(
      new Set([
        "the database took too long for one statement",
        expect.stringMatching(/^all 2 connections to PostgreSQL at .* are busy$/),
      ]),
    );
    // Neither the state nor the health of the store depends on them.
    await store.audit(entryOf({}));
    expect(store.health().status).toBe("ready");
    await locker.end();
    expect((await store.calls({ limit: 1 })).rows).toEqual([]);
  });
});
