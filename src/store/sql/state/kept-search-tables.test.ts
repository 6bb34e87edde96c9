import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createTestStore, entryOf, whenOpened } from "../../../../test/harness/records.ts";
import { createMemberSearches, type KeptSearches } from "../../../catalog/discovery/kept-searches.ts";
import type { PrincipalId } from "../../../kernel/ids.ts";
import type { RecordStore } from "../../record-store.ts";

const [ann, bob, nobody] = ["m_1" as PrincipalId, "m_2" as PrincipalId, "m_3" as PrincipalId];
let folder: string;
let store: RecordStore;
let kept: KeptSearches;
let nowMs = 0;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "toolyard-kept-"));
  store = await whenOpened(createTestStore(folder));
  kept = createMemberSearches(store.keptSearches, { now: () => (nowMs += 1) });
  const about = { createdAtMs: 1, revision: 1 };
  const of = (at: number) => ({ id: `m_${at}`, teamId: "t_1", userId: `u_${at}`, role: "member" as const, ...about });
  await store.people.change(
    {
      users: [1, 2].map((at) => ({ id: `u_${at}`, name: `n${at}`, role: "user", status: "active", ...about })),
      teams: [{ id: "t_1", slug: "red", title: "", limits: {}, ...about }],
      memberships: [of(1), of(2)],
    },
    entryOf({}),
  );
});
afterEach(async () => {
  await store.close(10_000);
  await rm(folder, { recursive: true, force: true });
});

const keep = async (person: PrincipalId, query: string, rank: number | null = 1) =>
  await kept.keep({ person, query, tool: "mail:send", rank });

test("members have their own, the same question for the same tool replaces the one before, and nothing is in the audit", async () => {
  await keep(ann, "send mail", 4);
  await keep(bob, "send mail");
  const other = await keep(ann, "write to somebody", null);
  const again = await keep(ann, "send mail", 2);
  expect(await kept.of(ann)).toEqual([other, again]);
  expect((await kept.of(bob)).map(({ rank }) => rank)).toEqual([1]);
  expect(await kept.remove(bob, again.id)).toBe(false);
  expect(await kept.remove(ann, again.id)).toBe(true);
  expect(await kept.of(ann)).toEqual([other]);
  expect((await store.audits({ limit: 100 })).rows).toHaveLength(1);
});

test("what no database can hold is kept as it can be read again", async () => {
  const made = await keep(ann, "one\0two\uD800");
  expect(made.query).toBe("one\uFFFDtwo\uFFFD");
  expect(await kept.of(ann)).toEqual([made]);
});

test("a member keeps a hundred at most, and replaces one of them also then", async () => {
  for (let at = 0; at < 100; at += 1) await keep(ann, `query ${at}`);
  await expect(keep(ann, "one more")).rejects.toMatchObject({ code: "KEPT_SEARCH_LIMIT" });
  await keep(ann, "query 7", 5);
  await keep(bob, "one more");
  expect([(await kept.of(ann)).length, (await kept.of(bob)).length]).toEqual([100, 1]);
});

test("nothing is kept for somebody who is no member, and nothing stays of one who is removed meanwhile", async () => {
  await expect(keep(nobody, "send mail")).rejects.toMatchObject({ code: "UNAUTHORIZED" });
  await keep(ann, "send mail");
  const [, ...keeping] = await Promise.allSettled([
    store.people.change({ goneMemberships: [ann] }, entryOf({})),
    ...Array.from({ length: 20 }, async (_, at) => await keep(ann, `query ${at}`)),
  ]);
  expect(keeping.filter(({ status }) => status === "rejected").length).toBeGreaterThan(0);
  expect(await kept.of(ann)).toEqual([]);
  await keep(bob, "send mail");
  await store.people.change({ goneUsers: ["u_2"] }, entryOf({}));
  expect(await kept.of(bob)).toEqual([]);
});
