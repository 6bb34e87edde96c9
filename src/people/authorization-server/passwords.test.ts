import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { createManualClock } from "../../../test/harness/manual-clock.ts";
import { createAttempts } from "./login-attempts.ts";
import { createPasswords } from "./passwords.ts";
import { createSealing } from "./oauth/sealed-rows.ts";

const quick = { logN: 10, r: 8, p: 1 };

test("a password is right however its letters were typed, and what was asked of its hash is kept with it", async () => {
  const passwords = createPasswords(quick);
  const hash = await passwords.hash("caf\u00e9 au lait");
  expect(hash).toMatch(/^scrypt\$10\$8\$1\$[\w-]{22}\$[\w-]{43}$/);
  expect(await passwords.hash("caf\u00e9 au lait")).not.toBe(hash);
  const later = createPasswords({ ...quick, logN: 11 });
  expect(await later.isRight("cafe\u0301 au lait", hash)).toBe(true);
  expect(await later.isRight("cafe au lait", hash)).toBe(false);
  expect(await later.isRight("anything", undefined)).toBe(false);
});

test("the usual hash is made as it is said to be, and too many at once are asked to wait", async () => {
  expect(await createPasswords().hash("a password")).toMatch(/^scrypt\$17\$8\$1\$/);
  const passwords = createPasswords(quick);
  const all = await Promise.allSettled(Array.from({ length: 60 }, async () => await passwords.hash("x")));
  expect(all.filter(({ status }) => status === "fulfilled")).toHaveLength(52);
  expect(all.at(-1)).toMatchObject({ reason: { code: "RATE_LIMITED" } });
  // Those who were refused take nobody's place.
  expect(await passwords.isRight("x", await passwords.hash("x"))).toBe(true);
});

test("what was tried too often is refused until its window ends, for each name by itself", async () => {
  const clock = createManualClock();
  const attempts = createAttempts(clock, 2, 1_000);
  for (let times = 0; times < 2; times += 1) {
    attempts.check(["ann", "address"]);
    attempts.count(["ann"]);
  }
  expect(() => attempts.check(["ann"])).toThrow(expect.objectContaining({ data: { retry_after_s: 1 } }) as Error);
  attempts.check(["bob"]);
  await clock.advance(1_000);
  attempts.check(["ann"]);
  attempts.count(["bob"]);
  attempts.count(["bob"]);
  attempts.forget("bob");
  attempts.check(["bob"]);
});

test("what is sealed opens in its own place, with its own key, and unchanged only", () => {
  const key = randomBytes(32);
  const sealing = createSealing(key);
  const sealed = sealing.seal("secret", "row 1");
  expect([sealing.open(sealed, "row 1"), sealing.open(sealed, "row 2")]).toEqual(["secret", undefined]);
  expect(createSealing(randomBytes(32)).open(sealed, "row 1")).toBeUndefined();
  const changed = Buffer.from(sealed, "base64url");
  changed.writeUInt8((changed.at(-1) ?? 0) ^ 1, changed.length - 1);
  for (const wrong of [changed.toString("base64url"), "", "short"])
    expect(sealing.open(wrong, "row 1")).toBeUndefined();
  expect(sealing.blind("CODE")).toBe(createSealing(key).blind("CODE"));
});
