import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { showWaiting } from "./waiting-line.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function record(isTTY: boolean, columns = 80) {
  const written: string[] = [];
  return { written, output: { isTTY, columns, write: (text: string) => written.push(text) } };
}

test("what takes less than a second is not worth a line", () => {
  const { written, output } = record(true);
  const line = showWaiting("installing", output);
  vi.advanceTimersByTime(999);
  line.end();
  vi.advanceTimersByTime(5_000);
  expect(written).toEqual([]);
});

test("on a terminal one line counts, and is removed at the end", () => {
  const { written, output } = record(true);
  let read = 0;
  const line = showWaiting(() => `read ${(read += 10)}`, output);
  vi.advanceTimersByTime(2_000);
  line.end();
  expect(written).toEqual(["\rread 10 (1 s)\u001b[K", "\rread 20 (2 s)\u001b[K", "\r\u001b[K"]);
});

test("a line that is too long is cut, because one that wraps could not be drawn over", () => {
  const { written, output } = record(true, 20);
  showWaiting("starting everything there is\u001b[2J", output).end();
  const line = showWaiting("starting everything there is\u001b[2J", output);
  vi.advanceTimersByTime(1_000);
  line.end();
  expect(written[0]).toBe("\rstarting… (1 s)\u001b[K");
});

test("elsewhere the sentence is written once", () => {
  const { written, output } = record(false);
  const line = showWaiting("installing", output);
  vi.advanceTimersByTime(60_000);
  line.end();
  expect(written).toEqual(["installing\n"]);
});
