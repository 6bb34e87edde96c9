import { expect, test } from "vitest";
import { createManualClock } from "../../../test/harness/manual-clock.ts";
import { createLossReport, lossReportMs } from "./loss-report.ts";

interface Line {
  readonly lost: unknown;
  readonly text: string;
}

function createReport() {
  const clock = createManualClock();
  const lines: Line[] = [];
  const log = { warn: (about: object, text: string) => void lines.push({ lost: Reflect.get(about, "lost"), text }) };
  return { clock, lines, report: createLossReport(log, clock) };
}

test("a loss is said at once, and every minute how many there were, until there are none", async () => {
  const { clock, lines, report } = createReport();
  expect(lines).toEqual([]);
  for (let row = 0; row < 1_000; row += 1) report.note();
  expect(lines).toHaveLength(1);
  expect(lines[0]?.text).toContain("records are lost");
  await clock.advance(lossReportMs);
  expect(lines.map(({ lost }) => lost)).toEqual([undefined, 1_000]);
  report.note();
  await clock.advance(lossReportMs);
  expect(lines.map(({ lost }) => lost)).toEqual([undefined, 1_000, 1]);
  await clock.advance(10 * lossReportMs);
  expect(lines).toHaveLength(3);
  report.note();
  expect(lines).toHaveLength(4);
});

test("what was lost since the last line is said at the end, and nothing after it", async () => {
  const { clock, lines, report } = createReport();
  report.note();
  report.note();
  report[Symbol.dispose]();
  expect(lines.map(({ lost }) => lost)).toEqual([undefined, 2]);
  await clock.advance(10 * lossReportMs);
  expect(lines).toHaveLength(2);
});
