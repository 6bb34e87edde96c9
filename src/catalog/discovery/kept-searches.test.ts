import { expect, test } from "vitest";
import type { PrincipalId } from "../../kernel/ids.ts";
import { createKeptSearches, type KeptSearch, type KeptSearchStore } from "./kept-searches.ts";

const [ann, bob] = ["ann" as PrincipalId, "bob" as PrincipalId];

function memoryStore(): KeptSearchStore & { written: readonly KeptSearch[]; failure?: Error | undefined } {
  return {
    written: [],
    read() {
      return this.written;
    },
    async write(searches) {
      await Promise.resolve();
      if (this.failure !== undefined) throw this.failure;
      this.written = searches;
    },
  };
}

test("each sees their own, and the same question for the same tool replaces the one before", async () => {
  const store = memoryStore();
  const clock = { now: () => 5 };
  const kept = createKeptSearches({ store, clock });
  await kept.keep({ person: ann, query: "send mail", tool: "mail:send", rank: 4 });
  await kept.keep({ person: bob, query: "send mail", tool: "mail:send", rank: 1 });
  const again = await kept.keep({ person: ann, query: "send mail", tool: "mail:send", rank: 2 });
  expect(await kept.of(ann)).toEqual([again]);
  expect((await kept.of(bob)).map(({ rank }) => rank)).toEqual([1]);
  expect(await kept.remove(bob, again.id)).toBe(false);
  expect(await kept.remove(ann, again.id)).toBe(true);
  expect(await createKeptSearches({ store, clock }).of(bob)).toEqual(store.written);
});

test("changes at the same time are all kept, and what cannot be written is not", async () => {
  const store = memoryStore();
  const kept = createKeptSearches({ store, clock: { now: () => 0 } });
  const keep = async (query: string) => await kept.keep({ person: ann, query, tool: "a:b", rank: null });
  await Promise.all(["one", "two", "three"].map(keep));
  expect(store.written.map(({ query }) => query)).toEqual(["one", "two", "three"]);
  store.failure = new Error("no room");
  await expect(keep("four")).rejects.toThrow("no room");
  store.failure = undefined;
  await keep("five");
  expect((await kept.of(ann)).map(({ query }) => query)).toEqual(["one", "two", "three", "five"]);
});

test("there is room for many usual ones in all, and for fewer long ones", async () => {
  const kept = createKeptSearches({ store: memoryStore(), clock: { now: () => 0 } });
  const long = "w".repeat(1_000);
  const keep = async (at: number) =>
    await kept.keep({ person: `p${at % 20}` as PrincipalId, query: `${long}${at}`, tool: "a:b", rank: 1 });
  let count = 0;
  await expect(
    (async () => {
      for (; count < 2_000; count += 1) await keep(count);
    })(),
  ).rejects.toMatchObject({ code: "KEPT_SEARCH_LIMIT" });
  expect(count).toBeGreaterThan(900);
  expect(count).toBeLessThan(1_000);
});

test("a person keeps a hundred at most, and replaces one of them also then", async () => {
  const kept = createKeptSearches({ store: memoryStore(), clock: { now: () => 0 } });
  const keep = async (person: PrincipalId, query: string) => await kept.keep({ person, query, tool: "a:b", rank: 1 });
  for (let at = 0; at < 100; at += 1) await keep(ann, `query ${at}`);
  await expect(keep(ann, "one more")).rejects.toMatchObject({ code: "KEPT_SEARCH_LIMIT" });
  await keep(ann, "query 7");
  await keep(bob, "one more");
  expect([(await kept.of(ann)).length, (await kept.of(bob)).length]).toEqual([100, 1]);
});
