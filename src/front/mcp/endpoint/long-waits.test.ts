import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { noteStarting } from "../../../kernel/call/call-context.ts";
import { createLongWaits } from "./long-waits.ts";

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] }));
afterEach(() => void vi.useRealTimers());

/** What a client reads: `open` for the beginning of its answer, otherwise progress and message. */
function client() {
  const heard: unknown[] = [];
  return {
    heard,
    replies: {
      open: () => void heard.push("open"),
      send: (text: string) => heard.push((JSON.parse(text) as { params: unknown }).params) > 0,
    },
    messages: () => heard.map((one) => (typeof one === "string" ? one : (one as { message?: string }).message)),
  };
}

const withToken = { _meta: { progressToken: "t" } };

test("an answer is begun within a second and once; what is answered before is left alone", () => {
  const waits = createLongWaits();
  const [quick, slow] = [client(), client()];
  const first = waits.begin(quick.replies, {});
  const second = waits.begin(slow.replies, {});
  vi.advanceTimersByTime(500);
  waits.end(first);
  vi.advanceTimersByTime(499);
  expect([quick.heard, slow.heard]).toEqual([[], ["open"]]);
  vi.advanceTimersByTime(600_000);
  expect(slow.heard).toEqual(["open"]);
  waits.end(second);
  expect(vi.getTimerCount()).toBe(0);
});

test("a client with a token hears every ten seconds what is waited for, and no more after the end", () => {
  const waits = createLongWaits();
  const { replies, messages } = client();
  const wait = waits.begin(replies, withToken);
  noteStarting(wait.stage, ["github"]);
  vi.advanceTimersByTime(10_500);
  wait.stage.isStarting = false;
  vi.advanceTimersByTime(10_000);
  noteStarting(wait.stage, ["a", "b", "c", "d", "e"]);
  vi.advanceTimersByTime(10_000);
  expect(messages()).toEqual([
    "open",
    "starting github: 10 s",
    "waiting for github: 20 s",
    "starting a, b, c and 2 more: 30 s",
  ]);
  waits.end(wait);
  vi.advanceTimersByTime(60_000);
  expect(messages()).toHaveLength(4);
});

test("what the server says counts, is repeated, and passes as it is", () => {
  const waits = createLongWaits();
  const { heard, replies } = client();
  const wait = waits.begin(replies, withToken);
  vi.advanceTimersByTime(15_000);
  wait.progress?.pass({ progress: 0, total: 10, message: "reading" });
  vi.advanceTimersByTime(9_000);
  wait.progress?.pass({ progress: 1, total: 10, message: "writing" });
  vi.advanceTimersByTime(9_000);
  expect(heard).toEqual([
    "open",
    { progressToken: "t", progress: 1e-6, message: "waiting: 10 s" },
    { progressToken: "t", progress: expect.closeTo(2e-6, 9), total: 10, message: "reading" },
    { progressToken: "t", progress: 1, total: 10, message: "writing" },
  ]);
  vi.advanceTimersByTime(1_000);
  expect(heard.at(-1)).toEqual({ progressToken: "t", progress: expect.closeTo(1, 5), total: 10, message: "writing" });
  expect((heard.at(-1) as { progress: number }).progress).toBeGreaterThan(1);
  wait.progress?.pass({ progress: 1.5 });
  expect(heard.at(-1)).toEqual({ progressToken: "t", progress: 1.5 });
});

test("values at the ends of what a number can be never become none, and never fall", () => {
  const waits = createLongWaits();
  for (const progress of [-Number.MAX_VALUE, -1e-9, 1e21, Number.MAX_VALUE]) {
    const { heard, replies } = client();
    const wait = waits.begin(replies, withToken);
    wait.progress?.pass({ progress });
    vi.advanceTimersByTime(30_500);
    const values = heard.filter((one) => one !== "open").map((one) => (one as { progress: number }).progress);
    expect(values.every((value, at) => Number.isFinite(value) && value > (values[at - 1] ?? -Infinity))).toBe(true);
    waits.end(wait);
  }
});
