import { expect, test } from "vitest";
import { createValidatorCache } from "./validator-cache.ts";

test("no more verdicts are kept than the limit allows", () => {
  const cache = createValidatorCache({ validators: 10, totalBytes: 1_000 });
  for (let number = 0; number < 100; number++) cache.set(`s${number}`, "unvalidated", 0);
  expect(cache.size).toBe(10);
  expect(cache.get("s99")).toBe("unvalidated");
  expect(cache.get("s0")).toBeUndefined();
});

test("no more memory is taken than the limit allows", () => {
  const cache = createValidatorCache({ validators: 100, totalBytes: 1_000 });
  for (let number = 0; number < 100; number++) cache.set(`s${number}`, "unvalidated", 300);
  expect(cache.size).toBe(3);
  cache.delete("s99");
  cache.set("s98", "unvalidated", 300);
  expect(cache.size).toBe(2);
});

test("what is used stays longer than what is not", () => {
  const cache = createValidatorCache({ validators: 3, totalBytes: 1_000 });
  for (const hash of ["used", "unused", "third", "fourth"]) cache.set(hash, "unvalidated", 0);
  cache.set("used", "unvalidated", 0);
  for (let number = 0; number < 20; number++) {
    cache.get("used");
    cache.set(`s${number}`, "unvalidated", 0);
  }
  expect(cache.get("used")).toBe("unvalidated");
  expect(cache.get("unused")).toBeUndefined();
});
