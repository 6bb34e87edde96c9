import { expect, test } from "vitest";
import { createEventBus } from "../../kernel/events/event-bus.ts";
import type { InstanceId, ServerSlug } from "../../kernel/ids.ts";
import { levelOf, logServers } from "./server-lines.ts";

test.each([
  ["error", "boom", "error"],
  ["emergency", "boom", "error"],
  ["notice", "hello", "info"],
  ["debug", "ERROR in the text says nothing when the level is said", "debug"],
  ["stderr", "listening on stdio", "info"],
  ["stderr", "ERROR: cannot open the file", "error"],
  ["stderr", "[WARN] deprecated option", "warning"],
  ["stderr", "2026-11-22T10:00:00Z INFO started", "info"],
  ["stderr", "2026-11-22 10:00:00,123 - my.module - DEBUG - detail", "debug"],
  ["stderr", '{"level":"warn","msg":"low on memory"}', "warning"],
  ["stderr", '{"level":50,"msg":"pino says error"}', "error"],
  ["stderr", "level=error msg=failed", "error"],
  ["stderr", "error: unknown option", "error"],
  ["stderr", "npm error code E404", "error"],
  ["stderr", "TypeError: x is not a function", "error"],
  ["stderr", "    at run (/srv/index.js:3:7)", "error"],
  ["stderr", "Traceback (most recent call last):", "error"],
  ["stderr", "no errors were found", "info"],
  ["stderr", "Terror is a film", "info"],
])("a line that is said to be %s and reads %s is of level %s", (level, line, expected) => {
  expect(levelOf({ level, line })).toBe(expected);
});

test("a flood is cut to fifty lines a second for each server, and says so", () => {
  const rows: { instance: string; line: string; level: string }[] = [];
  const events = createEventBus((error) => {
    throw error;
  });
  const stop = logServers(events, { append: (_kind, row) => void rows.push(row as never) });
  const say = (instance: string, atMs: number, line: string) =>
    events.emit({
      type: "mcp.server.logs",
      atMs,
      instance: instance as InstanceId,
      server: instance as ServerSlug,
      installation: instance as InstanceId,
      principal: undefined,
      team: undefined,
      level: "stderr",
      line,
    });
  for (let n = 0; n < 10_000; n += 1) say("loud", 5_000 + (n % 1_000), `line ${n}`);
  say("quiet", 5_999, "still heard");
  say("loud", 6_000, "the next second");
  expect(rows.filter(({ instance }) => instance === "loud")).toHaveLength(52);
  expect(rows[50]).toMatchObject({ level: "warning", line: "[further lines of this second were not recorded]" });
  expect(rows.slice(-2).map(({ line }) => line)).toEqual(["still heard", "the next second"]);
  say("loud", 7_000, "x".repeat(100_000));
  expect(rows.at(-1)?.line).toHaveLength(4_096);
  stop();
  say("loud", 8_000, "nobody listens");
  expect(rows.at(-1)?.line).not.toBe("nobody listens");
});
