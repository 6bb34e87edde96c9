/**
 * kill -9 at random moments between a person's yes, the run and its answer: a call that was allowed once never runs
 * twice. Prints what became of the calls. `npm run bench bench/approval-kills.ts [-- --cycles=1000]`
 */
import { fileURLToPath } from "node:url";
import { killBetweenYesAndAnswer } from "../test/safety/approval-kills.ts";
import { openNotes } from "../test/safety/notes.ts";

const given = process.argv.find((argument) => argument.startsWith("--cycles="))?.slice("--cycles=".length);
const file = (name: string) => fileURLToPath(new URL(name, import.meta.url));
await using notes = await openNotes(file("../test/safety/notes-server.mjs"));
const { cycles, runs, kills } = await killBetweenYesAndAnswer(
  notes,
  Number(given ?? 1_000),
  file("../dist/cli/main.js"),
);
const [never, once, twice] = runs;
process.stdout.write(`calls that were allowed once: ${cycles}
ran never, once, more often:  ${never}, ${once}, ${twice}
killed before any call of a round had run, after all had: ${kills.beforeAll}, ${kills.afterAll}
`);
if (twice > 0) process.exitCode = 1;
