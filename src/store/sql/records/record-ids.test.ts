import { expect, test } from "vitest";
import { createRecordIds, idAt } from "./record-ids.ts";

test("ids rise while the clock stands, goes on, and goes back", () => {
  let now = 1_000;
  const ids = createRecordIds(() => now);
  const seen = [ids.next(), ids.next()];
  now = 2_000;
  seen.push(ids.next());
  now = 500;
  seen.push(ids.next());
  expect(seen).toEqual([idAt(1_000), idAt(1_000) + 1, idAt(2_000), idAt(2_000) + 1]);
});

test("ids go on after those of an earlier life, unless its clock was hours ahead", () => {
  const ids = createRecordIds(() => 1_000);
  ids.follow(idAt(5_000));
  expect(ids.next()).toBe(idAt(5_000) + 1);
  ids.follow(idAt(10 * 3_600_000));
  expect(ids.next()).toBe(idAt(5_000) + 2);
});

test("ids are exact numbers until the year 2109", () => {
  expect(Number.isSafeInteger(idAt(Date.UTC(2109, 0, 1)))).toBe(true);
});
