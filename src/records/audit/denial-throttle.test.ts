import { expect, test } from "vitest";
import { createManualClock } from "../../../test/harness/manual-clock.ts";
import type { AuditFacts } from "./audit-log.ts";
import { createDenialThrottle } from "./denial-throttle.ts";

function observed() {
  const noted: AuditFacts[] = [];
  const clock = createManualClock();
  const cap = createDenialThrottle({ note: (facts) => noted.push(facts) }, clock);
  return { noted, clock, cap };
}
const from = (ip: string, actor = "unknown"): AuditFacts => ({ actor, via: "http", action: "access", ip });

test("ten denials of a sender in a minute are told one by one, the others by their number", async () => {
  const { noted, clock, cap } = observed();
  for (let at = 0; at < 25; at += 1) cap.note(from("10.0.0.1"));
  cap.note(from("10.0.0.2"));
  cap.note(from("10.0.0.1", "ann"));
  expect(noted).toHaveLength(12);
  expect(noted.every(({ outcome }) => outcome === "denied")).toBe(true);
  await clock.advance(60_000);
  expect(noted.slice(12)).toMatchObject([{ action: "access.more", ip: "10.0.0.1", detail: { entries: 15 } }]);
  cap.note(from("10.0.0.1"));
  expect(noted).toHaveLength(14);
});

test("a sender that goes on after a minute is counted anew, and what was counted is told first", () => {
  let nowMs = 0;
  const noted: AuditFacts[] = [];
  const clock = { monotonic: () => nowMs, after: () => () => undefined };
  const cap = createDenialThrottle({ note: (facts) => noted.push(facts) }, clock);
  for (let at = 0; at < 11; at += 1) cap.note(from("10.0.0.1"));
  nowMs = 60_000;
  cap.note(from("10.0.0.1"));
  expect(noted.slice(10).map(({ action }) => action)).toEqual(["access.more", "access"]);
});

test("somebody with many addresses fills neither memory nor the audit", () => {
  const { noted, cap } = observed();
  for (let at = 0; at < 5_000; at += 1) cap.note(from(`10.1.${Math.floor(at / 256)}.${at % 256}`));
  expect(noted).toHaveLength(1_010);
  cap[Symbol.dispose]();
  expect(noted.at(-1)).toMatchObject({ action: "access.more", actor: "several", ip: null, detail: { entries: 3_990 } });
});
