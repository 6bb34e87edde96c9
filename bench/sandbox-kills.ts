/**
 * kill -9 of gateways while their confined servers start, answer, are started again, or are stopped. Prints what was
 * left of them, which is nothing. `npm run bench bench/sandbox-kills.ts [-- --cycles=1000]`
 */
import { fileURLToPath } from "node:url";
import { killConfined } from "../test/safety/sandbox-kills.ts";

const given = process.argv.find((argument) => argument.startsWith("--cycles="))?.slice("--cycles=".length);
const file = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const { cycles, at, had, left } = await killConfined(Number(given ?? 1_000), {
  server: file("../test/safety/inside-server.mjs"),
  main: file("../dist/cli/main.js"),
});
const list = (counts: object): string =>
  Object.entries(counts)
    .map(([what, count]) => `${count} ${what}`)
    .join(", ");
process.stdout.write(
  `gateways that were killed: ${cycles}, at ${list(at)}\nthey had: ${list(had)}\nleft: ${list(left)}\n`,
);
if (Object.values(left).some((count) => count > 0)) process.exitCode = 1;
