// docs/faults.md: bad inputs and faults, what each gets, and the tests that hold it. Made of test/faults/faults.mjs and
// the titles of the tests.

import { cell, link } from "./cells.mjs";
import { isNamed } from "./test-titles.mjs";

/** @typedef {{ file: string, title: string }} TestTitle */
/** @typedef {import("../../test/faults/faults.mjs").FaultGroup} FaultGroup */

/** `FAULT 1: ...`, `FAULT 1, 2: ...`, `FAULT 1, FAULT 2: ...`, `FAULTS 1 and 2: ...`. */
const naming = /^FAULTS? ((?:\d+|[A-Z])(?:(?:, | and )(?:FAULT )?(?:\d+|[A-Z]))*): ./s;

/**
 * The numbers of the faults that a title names at its beginning. Undefined for a title that begins with the word and
 * cannot be read.
 * @param {string} title
 * @returns {string[] | undefined}
 */
export function faultNumbers(title) {
  if (!/^FAULTS?\b/.test(title)) return [];
  return naming
    .exec(title)?.[1]
    ?.split(/, | and /)
    .map((number) => number.replace("FAULT ", ""));
}

/**
 * The tests that hold each fault.
 * @param {readonly FaultGroup[]} groups
 * @param {readonly TestTitle[]} titles of tests and of groups of tests
 */
export function heldFaults(groups, titles) {
  const numbered = titles.map((test) => ({ test, numbers: faultNumbers(test.title) ?? [] }));
  return groups.map((group) => ({
    ...group,
    faults: group.faults.map((fault) => {
      const named = numbered.filter(({ numbers }) => numbers.includes(fault.number)).map(({ test }) => test);
      const also = (fault.tests ?? []).map((name) => ({ name, found: titles.filter((test) => isNamed(test, name)) }));
      const held = [...named, ...also.flatMap(({ found }) => found)];
      return {
        ...fault,
        held: held.filter((test, at) => held.findIndex((other) => isSame(other, test)) === at),
        gone: also.filter(({ found }) => found.length === 0).map(({ name }) => name),
      };
    }),
  }));
}

const isSame = (one, other) => one.file === other.file && one.title === other.title;

/** @param {ReturnType<typeof heldFaults>} held */
export function faultsPage(held) {
  const count = held.reduce((sum, { faults }) => sum + faults.length, 0);
  return `${opening(count)}\n${held.map(part).join("\n")}`;
}

const opening = (count) => `# Bad inputs and faults

<!-- Made by scripts/write-docs.mjs from test/faults/faults.mjs and the titles of the tests. Do not edit. -->

${count} bad inputs and faults, the answer to each, and the tests and groups of tests that prove it. Comments and titles
name them by number: "fault 24", \`FAULT 24: ...\`. A test fails when a fault has neither a test nor a mark that says
why.

For every one of them, the process stays alive and \`/healthz\` answers; every request is answered exactly once; the
calls of others go on; no exception is left uncaught; no process is left behind; no secret is in any output.
No test asserts a duration or an amount of memory: those are measured by \`npm run bench bench/faults/run.ts\`, beside
quiet figures of the same run.

Codes such as \`PARSE_ERROR\` are rows of [errors.md](errors.md); [design.md](design.md#words) defines the words.
`;

const head = "| | What happens | What it gets | Test |\n|---|---|---|---|";

function part({ letter, title, about, faults }) {
  const lines = faults.map(
    ({ number, what, gets, ...fault }) => `| ${number} | ${cell(what)} | ${cell(gets)} | ${holds(fault)} |`,
  );
  const intro = about === undefined ? "" : `${about}\n\n`;
  return `## ${letter}. ${title}\n\n${intro}${head}\n${lines.join("\n")}\n`;
}

/** The tests, and what they do not hold. */
function holds({ held, missing, notBuilt, untested }) {
  return [
    ...held.map(link),
    ...(missing === undefined ? [] : [`*Not held by a test:* ${cell(missing)}`]),
    ...(notBuilt === undefined ? [] : [`**Not built yet:** ${cell(notBuilt)}`]),
    ...(untested === undefined ? [] : [`**Not tested:** ${cell(untested)}`]),
  ].join("<br>");
}
