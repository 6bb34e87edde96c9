import { expect, test } from "vitest";
import { createSentIds } from "./message-router.ts";

test("a server whose first answer has its id as text writes all ids so", () => {
  const ids = createSentIds();
  expect(ids.of("1")).toBe("1");
  expect(ids.ofAnswer("1")).toBe(1);
  expect(ids.ofAnswer("12")).toBe(12);
  expect(ids.of("3")).toBe(3);
  expect(["01", "1.0", "x", "", null, 7].map(ids.ofAnswer)).toEqual(["01", "1.0", "x", "", null, 7]);
});

test("from a server that has answered with a number, text is another id", () => {
  const ids = createSentIds();
  expect(ids.ofAnswer(null)).toBe(null);
  expect(ids.ofAnswer(1)).toBe(1);
  expect(ids.ofAnswer("2")).toBe("2");
  expect(ids.of("2")).toBe("2");
});
