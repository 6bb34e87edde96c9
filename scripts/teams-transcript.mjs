// Writes docs/teams-transcript.md from a real run: test/people/teams-transcript.ts on the built gateway.
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const intro = `# Two teams and four people

Made by \`node scripts/teams-transcript.mjs\` from one run. Only secrets, and ids that differ each time, are cut with
\`...\`. The gateway, an identity provider, and the tickets with their own authorization server run on one machine;
\`https://tools.example.com\` is the gateway. Below a client's name are the answers that it got.
`;
const run = [join(root, "scripts/run-bench.mjs"), "test/people/teams-transcript.ts"];
const output = execFileSync(process.execPath, run, {
  cwd: root,
  encoding: "utf8",
  stdio: ["ignore", "pipe", "inherit"],
});
const page = output.split("\n=====\n").at(-1) ?? "";
writeFileSync(join(root, "docs/teams-transcript.md"), `${intro}\n${page.trim()}\n`);
