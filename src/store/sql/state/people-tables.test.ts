import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { expectUnusedClientsGone } from "../../../../test/harness/many-clients.ts";
import { createTestStore, entryOf, whenOpened } from "../../../../test/harness/records.ts";
import type { PeopleRows, PeopleWrites } from "../../people-rows.ts";
import type { RecordStore } from "../../record-store.ts";
import { createState, createPeople } from "../migrations/state/state-0001-0003.ts";
import { stateSteps } from "../sqlite/schema-steps.ts";
import { loadDriver } from "../sqlite/sql-driver.ts";
import { openSqliteFile } from "../sqlite/sqlite-file.ts";

let folder: string;
let store: RecordStore;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "toolyard-people-"));
  store = await whenOpened(createTestStore(folder));
});
afterEach(async () => {
  await store.close(10_000);
  await rm(folder, { recursive: true, force: true });
});

const people: PeopleRows = {
  users: [{ id: "u_1", name: "ann", role: "admin", status: "active", createdAtMs: 1, revision: 1 }],
  teams: [{ id: "t_1", slug: "red", title: "Red", limits: { members: 5 }, createdAtMs: 2, revision: 3 }],
  memberships: [{ id: "m_1", teamId: "t_1", userId: "u_1", role: "owner", createdAtMs: 3, revision: 1 }],
  pats: [
    {
      ...{ id: "p_1", membershipId: "m_1", name: "", hash: "a", createdAtMs: 4, expiresAtMs: 5, usedAtMs: null },
      ...{ scopes: [], only: null },
    },
    {
      ...{ id: "p_2", membershipId: "m_1", name: "x", hash: "b", createdAtMs: 5, expiresAtMs: 6, usedAtMs: 7 },
      ...{ scopes: ["mcp:read"], only: ["files", "mail"] },
    },
  ],
  invites: [
    {
      ...{ id: "i_1", teamId: "t_1", role: "member", about: "for bob", hash: "c", by: "m_1" },
      ...{ createdAtMs: 6, expiresAtMs: 7, usedAtMs: null },
    },
  ],
};
const entries = async (): Promise<number> => (await store.audits({ limit: 100 })).rows.length;

test("people are read as they were written, with an entry in the audit for each change", async () => {
  expect(await store.people.change(people, entryOf({ action: "user.add" }))).toMatchObject({ seq: 1 });
  expect(await store.people.read()).toEqual(people);
  await store.people.use([
    { id: "p_1", usedAtMs: 3_600_000 },
    { id: "gone", usedAtMs: 1 },
  ]);
  expect((await store.people.read()).pats[0]).toMatchObject({ id: "p_1", usedAtMs: 3_600_000 });
  expect(await entries()).toBe(1);
});

test("a user that is changed keeps memberships and tokens", async () => {
  await store.people.change(people, entryOf({}));
  const users = [{ ...people.users[0], status: "disabled" }] as PeopleRows["users"];
  await store.people.change({ users }, entryOf({}));
  expect(await store.people.read()).toEqual({ ...people, users });
});

test("a membership takes its tokens along", async () => {
  await store.people.change(people, entryOf({}));
  await store.people.change({ goneMemberships: ["m_1"] }, entryOf({}));
  expect(await store.people.read()).toEqual({ ...people, memberships: [], pats: [] });
});

test("a team takes its members, their tokens and its invitations along, and a user the same", async () => {
  await store.people.change(people, entryOf({}));
  const used = { ...people.invites[0], usedAtMs: 9 } as PeopleRows["invites"][number];
  await store.people.change({ invites: [used] }, entryOf({}));
  expect((await store.people.read()).invites).toEqual([used]);
  await store.people.change({ goneTeams: ["t_1"] }, entryOf({}));
  expect(await store.people.read()).toEqual({ ...people, teams: [], memberships: [], pats: [], invites: [] });
  await store.people.change({ goneUsers: ["u_1"] }, entryOf({}));
  expect((await store.people.read()).users).toEqual([]);
});

test("people who were written before tokens had scopes are read with none, and no limits", async () => {
  await store.close(10_000);
  await rm(folder, { recursive: true });
  await mkdir(folder, { mode: 0o700 });
  const { database } = await openSqliteFile({
    ...{ driver: loadDriver(folder), path: join(folder, "state.db"), synchronous: "full" },
    migrations: { "0001": createState, "0002": createPeople },
  });
  database.exec("insert into user values ('u_1', 'ann', 'admin', 'active', 1)");
  database.exec("insert into team values ('t_1', 'red', 2)");
  database.exec("insert into membership values ('m_1', 't_1', 'u_1', 'owner', 3)");
  database.exec("insert into pat values ('p_1', 'm_1', '', 'a', 4, 5, null)");
  database.close();
  store = await whenOpened(createTestStore(folder));
  expect(await store.people.read()).toMatchObject({
    users: [{ name: "ann", revision: 1 }],
    teams: [{ slug: "red", title: "", limits: {}, revision: 1 }],
    pats: [{ scopes: [], only: null }],
    invites: [],
  });
});

test("templates from before it was kept who wrote their address are an admin's where that is known", async () => {
  await store.close(10_000);
  await rm(folder, { recursive: true });
  await mkdir(folder, { mode: 0o700 });
  const { database } = await openSqliteFile({
    ...{ driver: loadDriver(folder), path: join(folder, "state.db"), synchronous: "full" },
    migrations: Object.fromEntries(Object.entries(stateSteps).slice(0, 8)),
  });
  database.exec(`
    insert into team (id, slug, created_at_ms) values ('t_1', 'red', 1);
    insert into user (id, name, role, status, created_at_ms) values
      ('u_1', 'ann', 'admin', 'active', 1), ('u_2', 'tom', 'user', 'active', 1);
    insert into membership (id, team_id, user_id, role, created_at_ms) values
      ('m_1', 't_1', 'u_1', 'admin', 1), ('m_2', 't_1', 'u_2', 'admin', 1);`);
  const insert = database.prepare(`
    insert into template (id, team_id, slug, source, transport, entry, fields, version, revision, changed_by,
      created_at_ms) values (?, ?, ?, 'own', 'http', '{}', '[]', 1, 1, ?, 1)`);
  for (const [team, maker] of [
    [null, "m_gone"],
    ["t_1", "owner"],
    ["t_1", "m_1"],
    ["t_1", "m_2"],
    ["t_1", "m_gone"],
  ] as const)
    insert.run(`tp_${team}_${maker}`, team, maker, maker);
  database.close();
  store = await whenOpened(createTestStore(folder));
  const { templates } = await store.installs.read();
  expect(Object.fromEntries(templates.map(({ id, byAdmin }) => [id, byAdmin]))).toEqual({
    tp_null_m_gone: true,
    tp_t_1_owner: true,
    tp_t_1_m_1: true,
    tp_t_1_m_2: false,
    tp_t_1_m_gone: false,
  });
  const written = templates.map((row) => ({ ...row, byAdmin: !row.byAdmin, revision: 2 }));
  await store.installs.change({ templates: written }, entryOf({}));
  expect((await store.installs.read()).templates).toEqual(written);
});

test.each([
  ["a name that is taken", { users: [{ ...people.users[0], id: "u_2" }] }],
  ["a second membership in a team", { memberships: [{ ...people.memberships[0], id: "m_2" }] }],
  ["a token of nobody", { pats: [{ ...people.pats[0], id: "p_3", hash: "c", membershipId: "m_9" }] }],
  ["a token that is somebody's", { pats: [{ ...people.pats[0], id: "p_3" }] }],
  ["a role that there is not", { memberships: [{ ...people.memberships[0], role: "king" }] }],
])("%s is refused, and neither the rest of the change nor its entry stays", async (_what, part) => {
  await store.people.change(people, entryOf({}));
  const team = { id: "t_2", slug: "blue", title: "", limits: {}, createdAtMs: 1, revision: 1 };
  const writes = { ...part, teams: [team], gonePats: ["p_2"] } as unknown as PeopleWrites;
  await expect(store.people.change(writes, entryOf({}))).rejects.toMatchObject({ code: "INTERNAL" });
  expect(await store.people.read()).toEqual(people);
  expect(await entries()).toBe(1);
});

const identity = {
  issuer: "https://sso.test",
  subject: "1",
  userId: "u_1",
  label: "ann@x.test",
  createdAtMs: 7,
  seenAtMs: 8,
};

test("a user's account elsewhere is theirs, and stays known without an owner when they are removed", async () => {
  await store.people.change({ ...people, identities: [identity] }, entryOf({}));
  expect(await store.access.identity(identity)).toEqual(identity);
  const other = { ...people.users[0], id: "u_2", name: "bob" } as PeopleRows["users"][0];
  const taken = { users: [other], identities: [{ ...identity, userId: "u_2" }] };
  await expect(store.people.change(taken, entryOf({}))).rejects.toThrow();
  expect((await store.people.read()).users).toHaveLength(1);
  await store.people.change({ goneUsers: ["u_1"] }, entryOf({}));
  expect(await store.access.identity(identity)).toEqual({ ...identity, userId: null, label: "" });
  await store.people.change(taken, entryOf({}));
  expect(await store.access.identity(identity)).toMatchObject({ userId: "u_2", label: "ann@x.test" });
});

test("which provider gave a role or a membership, and a user's address, are kept and can go", async () => {
  const users = [{ ...people.users[0], email: "ann@x.test", roleFrom: "staff" }] as PeopleRows["users"];
  const memberships = [{ ...people.memberships[0], givenBy: "staff" }] as PeopleRows["memberships"];
  await store.people.change({ ...people, users, memberships }, entryOf({}));
  expect(await store.people.read()).toMatchObject({ users, memberships });
  await store.people.change({ users: people.users, memberships: people.memberships }, entryOf({}));
  const read = await store.people.read();
  expect([read.users, read.memberships]).toEqual([people.users, people.memberships]);
});

test("what may be used once is refused the second time, with everything that belongs to it", async () => {
  await store.people.change(people, entryOf({}));
  const session = {
    hash: "h",
    userId: "u_1",
    role: "admin",
    via: "https://sso.test",
    sid: "s",
    browser: "Firefox on Linux",
    createdAtMs: 1,
  };
  const sessions = [{ ...session, seenAtMs: 1, expiresAtMs: 9_000 }];
  const once = [{ hash: "state", expiresAtMs: 5_000 }];
  expect(await store.access.change({ once }, [])).toBe(true);
  expect(await store.access.change({ once, sessions }, [entryOf({})])).toBe(false);
  expect((await store.access.read(10)).sessions).toEqual([]);
  await store.access.purgeAccess(6_000);
  expect(await store.access.change({ once, sessions }, [])).toBe(true);
  expect((await store.access.read(10)).sessions).toEqual(sessions);
});

test("a consent that nothing is left of goes, and one that an app used within a day stays", async () => {
  const [dayMs, nowMs] = [86_400_000, 1_000 * 86_400_000];
  await store.people.change(people, entryOf({}));
  const common = {
    ...{ membershipId: "m_1", clientId: "c", clientName: "C", scopes: "mcp:read", audience: "https://x.test/mcp" },
    ...{ via: "https://sso.test", sid: "", payload: "", createdAtMs: 1, expiresAtMs: nowMs + dayMs },
  };
  const used = { ...common, id: "g_used", usedAtMs: nowMs - dayMs };
  const unused = { ...common, id: "g_unused", usedAtMs: nowMs - dayMs - 1 };
  expect(await store.access.change({ grants: [used, unused] }, [])).toBe(true);
  await store.access.purgeAccess(nowMs);
  expect((await store.access.read(nowMs)).grants).toEqual([used]);
});

test("FAULT 102: of apps that registered and never came back the newest ten thousand are kept, and all that are used", async () => {
  await expectUnusedClientsGone(store);
});
