import { array, assert, integer, property, tuple } from "fast-check";
import { expect, test } from "vitest";
import { createSizedCache } from "./sized-cache.ts";

test("what was not used for longest gives way", () => {
  const cache = createSizedCache<string, number>(10);
  cache.set("a", 1, 4);
  cache.set("b", 2, 4);
  expect(cache.get("a")).toBe(1);
  cache.set("c", 3, 4);
  expect([cache.get("a"), cache.get("b"), cache.get("c")]).toEqual([1, undefined, 3]);
});

test("the newest is kept however large it is, and alone", () => {
  const cache = createSizedCache<string, number>(10);
  cache.set("a", 1, 4);
  cache.set("large", 2, 99);
  expect([cache.get("a"), cache.get("large"), cache.bytes]).toEqual([undefined, 2, 99]);
  cache.set("b", 3, 1);
  expect([cache.get("large"), cache.get("b"), cache.bytes]).toEqual([undefined, 3, 1]);
});

test("bytes are those of what is kept, whatever is put in, again too", () => {
  const steps = array(tuple(integer({ min: 0, max: 5 }), integer({ min: 0, max: 12 })), { maxLength: 50 });
  assert(
    property(steps, (puts) => {
      const cache = createSizedCache<number, number>(20);
      for (const [key, bytes] of puts) {
        cache.set(key, bytes, bytes);
        expect(cache.get(key)).toBe(bytes);
        const kept = [0, 1, 2, 3, 4, 5].map((one) => cache.get(one)).filter((value) => value !== undefined);
        expect(kept.reduce((sum, value) => sum + value, 0)).toBe(cache.bytes);
        expect(cache.bytes).toBeLessThanOrEqual(Math.max(20, bytes));
      }
    }),
  );
});
