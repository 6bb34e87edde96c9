import { expect, test } from "vitest";
import type { FailedStep } from "./connection.ts";
import {
  createLadder,
  parseHandshake,
  toHandshake,
  type LadderOptions,
  type Step,
  type StepFailure,
} from "./ladder.ts";

const top = "2025-11-25 all";
const rest = ["2025-06-18 known", "2025-03-26 known", "2024-11-05 nothing", "2025-11-25 nothing"];

test("without a word of the server: probe, everything, then revision and capabilities go down together", () => {
  expect(climb({})).toEqual(["probe", top, ...rest.slice(0, 3)]);
});

test("what a refusal names comes next, and its own revision is no name", () => {
  const refuse = (step: Step) =>
    step.kind === "probe" ? "" : `Unsupported protocol version ${step.rung.revision} (supported: 2025-03-26)`;
  expect(climb({}, refuse)).toEqual(["probe", top, "2025-03-26 known", "2025-03-26 nothing", "2025-06-18 known"]);
  const modernProbe = (step: Step) => (step.kind === "probe" ? "2024-11-05" : "");
  expect(climb({}, modernProbe).slice(0, 3)).toEqual(["probe", "2024-11-05 known", "2024-11-05 nothing"]);
  // A server that knows only the newest revision says so when it is asked for an older one.
  const newest = (step: Step) =>
    step.kind === "initialize" && step.rung.revision === "2025-06-18" ? "2025-11-25" : "";
  expect(climb({}, newest)).toEqual(["probe", top, "2025-06-18 known", "2025-11-25 known", "2025-11-25 nothing"]);
});

test("a server that was legacy is asked as last time, then whether it is modern now, then from the top", () => {
  const rung = { revision: "2024-11-05", declares: "nothing" } as const;
  expect(climb({ knownEras: ["legacy"], knownHandshake: { rung, version: "1" } })).toEqual([
    "2024-11-05 nothing",
    "probe",
    top,
    "2025-06-18 known",
    "2025-03-26 known",
  ]);
  expect(climb({ knownEras: ["legacy"] }).slice(0, 3)).toEqual([top, "probe", "2025-06-18 known"]);
  expect(climb({ mayProbe: false })).toEqual([top, ...rest]);
});

test("one more process, for the step after the one at which the first ended; a known server's end is a crash", () => {
  const ladder = create({});
  ladder.next();
  ladder.refused({ why: "ended", hasEnded: true });
  expect(ladder.mayStartAgain()).toBe(true);
  expect(ladder.next()).toMatchObject({ rung: { declares: "all" } });
  ladder.refused({ why: "ended", hasEnded: true });
  expect(ladder.mayStartAgain()).toBe(false);
  const known = create({ knownEras: ["legacy"] });
  known.next();
  known.refused({ why: "ended", hasEnded: true });
  expect(known.mayStartAgain()).toBe(false);
});

test("a step that an earlier request cut short is taken again", () => {
  const ladder = create({});
  ladder.next();
  ladder.refused({ why: "silent" });
  ladder.next();
  ladder.refused({ why: "ended", hasEnded: true, isUntried: true });
  expect(ladder.mayStartAgain()).toBe(true);
  expect(ladder.next()).toMatchObject({ rung: { revision: "2025-11-25", declares: "all" } });
});

test("each step that failed is told with its reason, in one line of bounded length", () => {
  const told: FailedStep[] = [];
  const ladder = create({ events: { onHandshakeStep: (step) => void told.push(step) } });
  ladder.next();
  ladder.refused({ why: "x".repeat(10_000) });
  ladder.next();
  ladder.refused({ why: "no" });
  expect(told.map(({ step, why }) => [step, why.length])).toEqual([
    ["server/discover", 300],
    ["initialize 2025-11-25, capabilities: all", 2],
  ]);
});

test("what worked is remembered with the server's version, and forgotten when that has changed", () => {
  const rung = { revision: "2025-06-18", declares: "known" } as const;
  expect(toHandshake({ revision: "2025-11-25", declares: "all" }, { version: "1" }, undefined)).toBeUndefined();
  const kept = toHandshake(rung, { version: "1" }, undefined);
  expect(kept).toEqual({ rung, version: "1" });
  expect(toHandshake(rung, { version: "1" }, kept)).toEqual(kept);
  expect(toHandshake(rung, { version: "2" }, kept)).toBeUndefined();
  expect(parseHandshake(JSON.parse(JSON.stringify(kept)))).toEqual(kept);
  for (const bad of [undefined, null, 1, [], {}, { rung: 1 }, { rung: { revision: "1999-01-01", declares: "all" } }])
    expect(parseHandshake(bad)).toBeUndefined();
});

function create(options: Partial<LadderOptions>) {
  return createLadder({ server: "s", knownEras: undefined, events: {}, ...options });
}

/** The steps that are taken when each is refused with the text that `refuse` gives. */
function climb(options: Partial<LadderOptions>, refuse: (step: Step) => StepFailure["text"] = () => ""): string[] {
  const ladder = create(options);
  const steps: string[] = [];
  for (let step = ladder.next(); step !== undefined; step = ladder.next()) {
    steps.push(step.kind === "probe" ? "probe" : `${step.rung.revision} ${step.rung.declares}`);
    ladder.refused({ why: "no", text: refuse(step) ?? "" });
  }
  return steps;
}
