import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "kysely";
import pg from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { hasNoPostgres, startPostgres, type Postgres } from "../../../../test/harness/postgres.ts";
import {
  createTestStore,
  entryOf,
  eventOf,
  lineOf,
  requestOf,
  usageOf,
  whenOpened,
  type TestStoreOptions,
} from "../../../../test/harness/records.ts";
import { expectFoundByInstallation } from "../../../../test/harness/installation-records.ts";
import { expectUnusedClientsGone } from "../../../../test/harness/many-clients.ts";
import { until } from "../../../../test/harness/until.ts";
import type { PrincipalId } from "../../../kernel/ids.ts";
import type { PeopleRows, PeopleWrites } from "../../people-rows.ts";
import type { RecordStore } from "../../record-store.ts";
import { createPostgresLink, defaultLinkLimits } from "./postgres-link.ts";
import { defaultRetention } from "../requests/retention-limits.ts";

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

  test("a connection that is lost between two statements of a transaction is an error of that transaction alone", async () => {
    const strays: unknown[] = [];
    const onStray = (error: unknown): void => void strays.push(error);
    process.on("uncaughtException", onStray);
    const none = (): void => undefined;
    const options = { pg, url, auditKey: new Uint8Array(32), limits: defaultLinkLimits };
    const link = createPostgresLink({ ...options, onProblem: none, onNews: none, onOpen: none });
    try {
      await link.arrived;
      const lost = link.inState("read", async (db) => {
        const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(db);
        await ask(`select pg_terminate_backend(${rows[0]?.pid})`);
        await until(async () => (await ask(`select 1 from pg_stat_activity where pid = ${rows[0]?.pid}`)).length === 0);
        await sql`select 1`.execute(db);
      });
      await expect(lost).rejects.toThrow(/terminat|connection error/i);
      await until(async () => await link.inState("read", async () => true).catch(() => false));
      expect(strays).toEqual([]);
    } finally {
      process.off("uncaughtException", onStray);
      await link.stop();
      await link.close();
    }
  });

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
    expect((await store.logs({ limit: 10, text: "ONE" })).rows).toHaveLength(1);
    expect((await store.logs({ limit: 10, text: "o_e" })).rows).toEqual([]);
    expect((await store.events({ limit: 10 })).rows).toHaveLength(1);
    expect(await store.usage({ fromMs: 0, toMs: 1, by: ["server", "day"], limit: 9 })).toMatchObject([
      { group: ["files", "0"], lastHourMs: 0, calls: 3, errors: 0, durationMsSum: 9, durationMsMax: 2 },
    ]);
    expect(await store.finding({ fromMs: 0, dayMs: 0, exposure: "meta" })).toMatchObject({
      spent: [{ ...spent, wrappingTokens: 5 }],
    });
  });

  test("calls are erased page by page, with what was said in them, and of no other team", async () => {
    const store = await open();
    const body = { arguments: "{}", areArgumentsCut: false, result: "secret", isResultCut: false };
    const theirs = requestOf(store, { team: "blue", body });
    const rows = Array.from({ length: 5 }, () => requestOf(store, { team: "red", body }));
    for (const row of [theirs, ...rows]) store.append("request", row);
    await store.flush();
    const first = await store.eraseCalls({ limit: 3, team: "red" });
    expect(first).toEqual({ erased: 3, next: rows[2]?.id });
    expect(await store.eraseCalls({ limit: 3, team: "red", before: first.next ?? 0 })).toEqual({
      erased: 2,
      next: null,
    });
    expect((await store.calls({ limit: 9 })).rows.map(({ id, hasBody }) => [id, hasBody])).toEqual([[theirs.id, true]]);
    expect(await store.call(rows[0]?.id ?? 0)).toBeUndefined();
  });

  test("calls and usage are found by the installation of their instances", async () => {
    await expectFoundByInstallation(await open());
  });

  test("FAULT 102: of apps that registered and never came back the newest ten thousand are kept, and all that are used", async () => {
    await expectUnusedClientsGone(await open());
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

  test("FAULT 94: what members gave of their own, secrets and keys are not read or changed from another team, whatever is asked", async () => {
    const store = await open();
    const about = { createdAtMs: 1, revision: 1 };
    const cid = { id: "u_2", name: "cid", role: "user" as const, status: "active" as const, ...about };
    await store.people.change(
      {
        ...people,
        users: [...people.users, cid],
        memberships: [...people.memberships, { id: "m_2", teamId: "t_2", userId: "u_2", role: "owner", ...about }],
      },
      entryOf({}),
    );
    const times = { createdAtMs: 1, updatedAtMs: 1, usedAtMs: null };
    const ofTeam = (at: 1 | 2) => ({
      installation: {
        ...{ id: `i_${at}`, teamId: `t_${at}`, templateId: "tp_1", templateVersion: 1, slug: "mail", name: "" },
        ...{ scope: "user", config: "{}", locks: "[]", settings: "{}", enabled: true, changedBy: "", ...about },
      },
      personal: { installationId: `i_${at}`, membershipId: `m_${at}`, config: `{"env.KEY":"of m_${at}"}`, revision: 1 },
      dataKey: { id: `k_${at}`, teamId: `t_${at}`, wrapped: "", kek: "", createdAtMs: 1 },
      secret: {
        ...{ id: `s_${at}`, teamId: `t_${at}`, installationId: `i_${at}`, membershipId: `m_${at}`, field: "env.KEY" },
        ...{ sealed: "", keyId: `k_${at}`, version: 1, ...times },
      },
    });
    const both = [ofTeam(1), ofTeam(2)];
    const template = { id: "tp_1", teamId: null, slug: "mail", source: "own" as const, transport: "stdio", version: 1 };
    await store.installs.change(
      {
        templates: [{ ...template, entry: "{}", fields: "[]", byAdmin: true, changedBy: "", ...about }],
        installations: both.map(({ installation }) => installation),
        personal: both.map(({ personal }) => personal),
        dataKeys: both.map(({ dataKey }) => dataKey),
        secrets: both.map(({ secret }) => secret),
      },
      entryOf({}),
    );
    const grantOf = (at: 1 | 2) => ({
      ...{ id: `g_${at}`, membershipId: `m_${at}`, clientId: "app", clientName: "", scopes: "", audience: "" },
      ...{ via: "", sid: "", payload: "", createdAtMs: 1, usedAtMs: 1, expiresAtMs: 9e15 },
    });
    const itemOf = (kind: string, hash: string, grantId: string | null) => ({
      ...{ kind, hash, grantId, lookup: null, scopes: null, audience: null, payload: "" },
      ...{ consumedAtMs: null, uses: 0, expiresAtMs: 9e15 },
    });
    await store.access.change(
      {
        grants: [grantOf(1), grantOf(2)],
        items: [itemOf("AccessToken", "a1", "g_1"), itemOf("AccessToken", "a2", "g_2"), itemOf("Client", "c1", null)],
      },
      [entryOf({})],
    );
    for (const at of [1, 2] as const)
      await store.keptSearches.keep(
        { id: `q_${at}`, person: `m_${at}` as PrincipalId, query: "mail", tool: "mail:send", rank: at, keptAtMs: 1 },
        100,
      );
    for (const at of [1, 2]) await store.pins.choose(`m_${at}`, ["mail:send"]);
    // The gateway itself finds all of it.
    expect(await store.keptSearches.of("m_2" as PrincipalId)).toMatchObject([{ id: "q_2", rank: 2 }]);
    expect((await store.access.read(1)).tokens).toHaveLength(2);
    expect(await store.access.oauthItem({ kind: "Client", hash: "c1" })).toBeDefined();
    const client = new pg.Client({ connectionString: url, options: "-c search_path=toolyard_state" });
    await client.connect();
    /** How many rows a statement finds or changes for a team; nothing of it stays. */
    const asRed = async (statement: string): Promise<number | null | string> => {
      await client.query("begin");
      await client.query("select set_config('toolyard.team', 't_1', true)");
      const found = await client.query(statement).then(
        ({ rowCount }) => rowCount,
        (error: Error) => error.message,
      );
      await client.query("rollback");
      return found;
    };
    try {
      const owned = [
        "personal_config",
        "secret",
        "data_key",
        "installation",
        "membership",
        "oauth_grant",
        "oauth_item",
        "kept_search",
        "member_pins",
      ];
      for (const table of owned) expect([table, await asRed(`select * from ${table}`)]).toEqual([table, 1]);
      for (const statement of [
        "select * from personal_config where membership_id = 'm_2'",
        "select * from personal_config where installation_id = 'i_2' or true and membership_id <> 'm_1'",
        "select p.* from installation i right join personal_config p on true where p.membership_id = 'm_2'",
        "select * from secret where id = 's_2' union select * from secret where team_id = 't_2'",
        "update personal_config set config = '{}' where membership_id = 'm_2'",
        "delete from personal_config where membership_id = 'm_2'",
        "delete from secret where team_id = 't_2'",
        "delete from data_key where id = 'k_2'",
        "select * from oauth_item where kind = 'Client' or grant_id = 'g_2'",
        "select * from oauth_item i left join oauth_grant g on true where g.id = 'g_2' or i.hash = 'a2'",
        "update oauth_item set grant_id = 'g_1' where hash = 'a2'",
        "delete from oauth_grant where membership_id = 'm_2'",
        "delete from oauth_item where grant_id is null",
        "select * from kept_search where membership_id = 'm_2' or id = 'q_2'",
        "delete from kept_search where id = 'q_2'",
        "select * from member_pins where membership_id = 'm_2'",
        "delete from member_pins where membership_id = 'm_2'",
      ])
        expect([statement, await asRed(statement)]).toEqual([statement, 0]);
      for (const statement of [
        "insert into personal_config select 'i_1', 'm_2', '{}', 1",
        "update personal_config set membership_id = 'm_2'",
        "update secret set team_id = 't_2'",
        "insert into data_key select 'k_3', 't_2', '', '', 1",
        "update oauth_grant set membership_id = 'm_2'",
        "update oauth_item set grant_id = null",
        "insert into kept_search select 'q_3', 'm_2', '', '', null, 1",
        "update kept_search set membership_id = 'm_2'",
      ])
        expect([statement, await asRed(statement)]).toEqual([statement, expect.stringContaining("row-level security")]);
      expect(await asRed("update personal_config set config = '{}'")).toBe(1);
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

  test("what has to be read again is known when it was read, not when another gateway told of it", async () => {
    const first = await open();
    const second = await open();
    let told = 0;
    second.installs.onChange(() => (told += 1));
    await Promise.all([first.people.read(), first.installs.read(), second.installs.read()]);
    await first.people.change(people, entryOf({}));
    const secretOf = (id: string) => ({
      ...{ id, teamId: "t_1", installationId: null, membershipId: null, field: id, sealed: "" },
      ...{ keyId: "k_1", version: 1, createdAtMs: 1, updatedAtMs: 1, usedAtMs: null },
    });
    const dataKeys = [{ id: "k_1", teamId: "t_1", wrapped: "", kek: "", createdAtMs: 1 }];
    await first.installs.change({ dataKeys, secrets: [secretOf("s_1")] }, entryOf({}));
    const change = async () => await second.installs.change({ secrets: [secretOf("s_2")] }, entryOf({}));
    // Nobody has told it yet.
    await expect(change()).rejects.toMatchObject({ code: "STORE_BEHIND" });
    await until(() => told > 0);
    // It was told, and what it plans with is still what it was.
    await expect(change()).rejects.toMatchObject({ code: "STORE_BEHIND" });
    expect((await second.installs.read()).secrets.map(({ id }) => id)).toEqual(["s_1"]);
    await change();
    expect((await first.installs.read()).secrets.map(({ id }) => id).sort()).toEqual(["s_1", "s_2"]);
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

  test("templates from before it was kept who wrote their address are found in every team", async () => {
    const store = await open();
    await store.people.change(people, entryOf({}));
    const about = { slug: "x", source: "own" as const, transport: "http", version: 1, revision: 1, createdAtMs: 1 };
    const texts = { entry: "{}", fields: "[]", byAdmin: false };
    const by = (id: string, teamId: string | null, changedBy: string) => ({
      id,
      teamId,
      changedBy,
      ...about,
      ...texts,
    });
    const templates = [by("tp_1", "t_1", "m_1"), by("tp_2", "t_2", "m_gone"), by("tp_3", null, "owner")];
    await store.installs.change({ templates }, entryOf({}));
    await store.close(10_000);
    await ask(`alter table toolyard_state.template drop column by_admin;
      alter table toolyard_state.browser_session drop column browser;
      alter table toolyard_state.team drop column rules;
      drop table toolyard_state.kept_search;
      drop table toolyard_state.member_pins;
      drop table toolyard_state.approval;
      drop table toolyard_state.approval_grant;
      drop table toolyard_state.claim;
      drop table toolyard_state.shared_item;
      drop table toolyard_state.attempt;
      alter table toolyard_state.pat drop column profile;
      delete from toolyard_state.kysely_migration where name >= '0009'`);
    const read = await (await open()).installs.read();
    expect(Object.fromEntries(read.templates.map(({ id, byAdmin }) => [id, byAdmin]))).toEqual({
      tp_1: true,
      tp_2: false,
      tp_3: true,
    });
  });

  test("what is claimed by several gateways at once is one's, and the others hear of sessions that ended", async () => {
    const gateways = await Promise.all([open(), open(), open()]);
    const told = gateways.map(() => new Set<string>());
    gateways.forEach(({ claims }, at) => claims.onEnded((ids) => ids?.forEach((id) => told[at]?.add(id))));
    const when = { untilMs: 2_000, nowMs: 1_000 };
    const ids = Array.from({ length: 20 }, (_one, at) => `s-${at}`);
    for (const kind of ["session", "state"] as const) {
      const claimed = await Promise.all(gateways.map(async ({ claims }) => await claims.claim({ kind, ids, ...when })));
      expect(claimed.flat().toSorted()).toEqual(ids.toSorted());
    }
    const [first, second] = gateways as [RecordStore, RecordStore, RecordStore];
    expect(await second.claims.claimed({ kind: "session", ids: ["s-7", "s-99"] })).toEqual(["s-7"]);
    // Each heard of what another claimed, and of no state.
    await until(() => told.filter((one) => one.size === 20).length === 2);
    await first.claims.claim({ kind: "state", ids: ["t-1"], ...when });
    await first.claims.claim({ kind: "session", ids: ["last"], ...when });
    await until(() => told.slice(1).every((one) => one.has("last")));
    expect(told.some((one) => one.has("t-1"))).toBe(false);
  });

  test("claims that have expired are forgotten, and so are the oldest of very many", async () => {
    const { claims } = await open();
    const day = 24 * 3_600_000;
    await claims.claim({ kind: "session", ids: ["old"], untilMs: day, nowMs: 0 });
    await claims.claim({ kind: "state", ids: ["other"], untilMs: 9 * day, nowMs: 0 });
    // The clock of another gateway may be ahead.
    await claims.claim({ kind: "session", ids: ["next"], untilMs: 9 * day, nowMs: day + 60_000 });
    expect(await claims.claimed({ kind: "session", ids: ["old"] })).toEqual(["old"]);
    await claims.claim({ kind: "session", ids: [], untilMs: 9 * day, nowMs: 2 * day });
    expect(await claims.claimed({ kind: "session", ids: ["old", "next"] })).toEqual(["next"]);
    await ask(`insert into toolyard_state.claim
      select 'session', 'many ' || n, n + 10, ${9 * day} from generate_series(1, 200000) as n`);
    expect(await claims.claim({ kind: "session", ids: ["newest"], untilMs: 9 * day, nowMs: 2 * day })).toEqual([
      "newest",
    ]);
    expect(
      await ask("select kind, count(*)::int as kept from toolyard_state.claim group by kind order by kind"),
    ).toEqual([
      { kind: "session", kept: 200_000 },
      { kind: "state", kept: 1 },
    ]);
    expect(await claims.claimed({ kind: "session", ids: ["next"] })).toEqual([]);
  });

  test("a database that older versions must not use is refused, also in one of its schemas alone", async () => {
    await (await open()).close(10_000);
    const at = (value: string) => `update toolyard_records.meta set value = '${value}' where key = 'reads_from'`;
    await ask(`insert into toolyard_records.kysely_migration values ('9999', 'then'); ${at("0007")}`);
    const beside = await open();
    expect(beside.health().problems).toEqual([]);
    await beside.close(10_000);
    await ask(at("9999"));
    const store = await open();
    const message = expect.stringContaining("it can be used from schema 9999 on, and this version knows 0008");
    expect(store.health().problems).toMatchObject([{ kind: "newer", message }]);
    await expect(store.people.read()).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
  });

  test("questions that find every connection busy are refused, and nothing else is", async () => {
    // The tables are made without the short limit: on a busy machine a statement of that takes longer.
    await (await open()).close(10_000);
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
