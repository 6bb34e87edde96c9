import { array, assert, property, uint8Array } from "fast-check";
import { expect, test } from "vitest";
import { GatheredBytes } from "./gathered-bytes.ts";

test("whatever the pieces are, what is taken is all of them in order", () => {
  assert(
    property(array(array(uint8Array({ maxLength: 9_000 }), { maxLength: 12 }), { maxLength: 3 }), (rounds) => {
      const gathered = new GatheredBytes();
      for (const pieces of rounds) {
        for (const piece of pieces) gathered.append(Buffer.from(piece));
        const whole = Buffer.concat(pieces);
        expect(gathered.length).toBe(whole.length);
        expect(gathered.take().equals(whole)).toBe(true);
        expect(gathered.length).toBe(0);
      }
    }),
    { numRuns: 50 },
  );
});

test("pieces are not written over, and what was taken does not change later", () => {
  const gathered = new GatheredBytes();
  const room = Buffer.from("first-----------");
  gathered.append(room.subarray(0, 5));
  gathered.append(Buffer.from("second"));
  expect(room.toString()).toBe("first-----------");
  const taken = gathered.take();
  gathered.append(Buffer.from("x"));
  gathered.append(Buffer.from("y".repeat(20)));
  expect(taken.toString()).toBe("firstsecond");
});

test("bytes beyond the largest block are kept too", () => {
  const gathered = new GatheredBytes();
  const piece = Buffer.alloc(6_000_000, "a");
  for (const end of ["1", "2", "3"]) {
    gathered.append(piece);
    gathered.append(Buffer.from(end));
  }
  const whole = gathered.take();
  expect([whole.length, whole[6_000_000], whole[12_000_001], whole[18_000_002]]).toEqual([18_000_003, 49, 50, 51]);
});

test("what was cleared is gone", () => {
  const gathered = new GatheredBytes();
  gathered.append(Buffer.from("old"));
  gathered.append(Buffer.from("er"));
  gathered.clear();
  gathered.append(Buffer.from("new"));
  expect(gathered.take().toString()).toBe("new");
});
