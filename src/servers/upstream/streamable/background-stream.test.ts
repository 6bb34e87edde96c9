import { expect, test } from "vitest";
import { toPollDelayMs, toReopenDelayMs } from "./background-stream.ts";

test("a server that closes a call's stream is asked again when it wants, at first", () => {
  for (const askedMs of [0, 5, 500, 30_000])
    for (const emptyStreams of [0, 1]) expect(toPollDelayMs({ askedMs, emptyStreams })).toBe(askedMs);
});

test("one that has nothing to say is asked less and less often, once a second in the end", () => {
  const delays = Array.from({ length: 12 }, (_, emptyStreams) => toPollDelayMs({ askedMs: 0, emptyStreams }));
  expect(delays).toEqual([0, 0, 50, 100, 200, 400, 800, 1_000, 1_000, 1_000, 1_000, 1_000]);
  expect(toPollDelayMs({ askedMs: 0, emptyStreams: 5_000 })).toBe(1_000);
  // Never sooner than it wants.
  expect(toPollDelayMs({ askedMs: 2_500, emptyStreams: 9 })).toBe(2_500);
});

test("a stream that nobody waits for is opened ever later, also where the server wants it at once", () => {
  const delays = [0, 1, 2, 16, 500].map((emptyStreams) => toReopenDelayMs({ askedMs: 0, emptyStreams }));
  expect(delays).toEqual([50, 100, 200, 50 * 2 ** 16, 50 * 2 ** 16]);
  expect(toReopenDelayMs({ askedMs: 1_000, emptyStreams: 0 })).toBe(1_000);
});
