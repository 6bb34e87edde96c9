// Writes docs/teams-transcript.md from a real run: test/people/teams-transcript.ts on the built gateway.
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const intro = `# Two teams and four people

Made by \`node scripts/teams-transcript.mjs\` from one run, with nothing left out but what is cut with \`...\`: secrets,
and ids that are others each time. The gateway, an identity provider, and the tickets with their own authorization server
run on one machine; \`https://tools.example.com\` stands for the gateway. What stands below a client's name is what the
client was answered.
`;
const run = [join(root, "scripts/run-bench.mjs"), "test/people/teams-transcript.ts"];
const output = execFileSync(process.execPath, run, {
  cwd: root,
  encoding: "utf8",
  stdio: ["ignore", "pipe", "inherit"],
});
const page = output.split("\n=====\n").at(-1) ?? "";
writeFileSync(join(root, "docs/teams-transcript.md"), `${intro}\n${page.trim()}\n`);
