import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createTestStore, entryOf, whenOpened } from "../../../test/harness/records.ts";
import type { PeopleRows, PeopleWrites } from "../people-rows.ts";
import type { RecordStore } from "../record-store.ts";

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
  users: [{ id: "u_1", name: "ann", role: "admin", status: "active", createdAtMs: 1 }],
  teams: [{ id: "t_1", slug: "red", createdAtMs: 2 }],
  memberships: [{ id: "m_1", teamId: "t_1", userId: "u_1", role: "owner", createdAtMs: 3 }],
  pats: [
    { id: "p_1", membershipId: "m_1", name: "", hash: "a", createdAtMs: 4, expiresAtMs: 5, usedAtMs: null },
    { id: "p_2", membershipId: "m_1", name: "x", hash: "b", createdAtMs: 5, expiresAtMs: 6, usedAtMs: 7 },
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

test.each([
  ["a name that is taken", { users: [{ ...people.users[0], id: "u_2" }] }],
  ["a second membership in a team", { memberships: [{ ...people.memberships[0], id: "m_2" }] }],
  ["a token of nobody", { pats: [{ ...people.pats[0], id: "p_3", hash: "c", membershipId: "m_9" }] }],
  ["a token that is somebody's", { pats: [{ ...people.pats[0], id: "p_3" }] }],
  ["a role that there is not", { memberships: [{ ...people.memberships[0], role: "king" }] }],
])("%s is refused, and neither the rest of the change nor its entry stays", async (_what, part) => {
  await store.people.change(people, entryOf({}));
  const team = { id: "t_2", slug: "blue", createdAtMs: 1 };
  const writes = { ...part, teams: [team], gonePats: ["p_2"] } as PeopleWrites;
  await expect(store.people.change(writes, entryOf({}))).rejects.toMatchObject({ code: "INTERNAL" });
  expect(await store.people.read()).toEqual(people);
  expect(await entries()).toBe(1);
});
