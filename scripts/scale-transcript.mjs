// Writes docs/scale-transcript.md from a real run: test/cluster/scale-transcript.ts on the built gateway.
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { needPackage } from "./debian-package.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const intro = `# Three nodes that are drained, upgraded and rolled back

<!-- Made by scripts/scale-transcript.mjs. Do not edit. -->

Made by \`node scripts/scale-transcript.mjs\` from one run. Three nodes of one PostgreSQL run eight stdio servers behind
HAProxy, with its configuration of [behind a balancer](team-database.md#behind-a-balancer), but round robin. 60 calls come
each second, half of them in sessions of the older protocol. The two versions are two copies of one build, each in a folder of its own, that
differ in the version that they say. Addresses are replaced. [Several gateways as one cluster](scale.md) says what it shows.
`;
needPackage("haproxy", ["haproxy", "-v"]);
const run = [join(root, "scripts/run-bench.mjs"), "test/cluster/scale-transcript.ts"];
const options = { cwd: root, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] };
const output = execFileSync(process.execPath, run, options);
const page = output.slice(output.indexOf("## Three nodes"));
writeFileSync(join(root, "docs/scale-transcript.md"), `${intro}\n${page.trim()}\n`);
