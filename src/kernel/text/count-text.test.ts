import { expect, test } from "vitest";
import { countText } from "./number-text.ts";

test.each([0, 7, 999, 4_000, 9_999, 10_000, 123_456, 2_147_483_647, -12_345, 0.5, 3.25])(
  "%d is written as Intl writes it",
  (value) => {
    expect(countText(value)).toBe(value.toLocaleString("en-US", { useGrouping: "min2" }));
  },
);
