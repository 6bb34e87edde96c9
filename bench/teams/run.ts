// A gateway for teams: memory, logins, revocation; and with 10,000 users in 500 teams that have 50,000 installations:
// start, one change, check of a token, and a call beside the same call to a gateway without teams. Takes four minutes.
// `npm run bench bench/teams/run.ts`. Parts of it: `-- --only=many`, of which `--only=members` and `--only=calls` are
// parts, `--only=live`, or `--only=isolation --operations=1000000 --database=sqlite|postgres`, which takes long and is
// no part of the rest.
import { cpus, loadavg } from "node:os";
import { parseArgs } from "node:util";
import { measureIsolation } from "./isolation.ts";
import { measureLive } from "./live.ts";
import { measureMany } from "./many.ts";
import { createFigures, isMet, tableOf } from "./rows.ts";

const options = { only: { type: "string" }, operations: { type: "string" }, database: { type: "string" } } as const;
const { only, operations = "10000", database } = parseArgs({ options }).values;

const begin = performance.now();
const figures = createFigures();
if (only === undefined || only === "live") await measureLive(figures);
if (only === undefined || only === "many") await measureMany(figures);
if (only === "calls" || only === "members") await measureMany(figures, only);
if (only === "isolation")
  await measureIsolation(
    { operations: Number(operations), database: database === "postgres" ? "postgres" : "sqlite" },
    figures,
  );
// Times mean what they say where it is no higher than there are cores.
const [load = 0] = loadavg();
process.stdout.write(`Load of the machine at the end: ${load.toFixed(1)}, with ${cpus().length} cores.\n\n`);
process.stdout.write(`${tableOf(figures.all)}\n`);
const missed = figures.all.filter((figure) => !isMet(figure)).map(({ what }) => what);
const seconds = Math.round((performance.now() - begin) / 1_000);
process.stderr.write(`${seconds} s; not met: ${missed.length === 0 ? "none" : missed.join("; ")}\n`);
