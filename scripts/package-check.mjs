// Packs Toolyard, installs the tarball in an empty folder as its users do, and looks at what came with it: how many
// packages, how many bytes, whether any complains on a Node that we promise to run on, and whether the gateway answers.
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { diskBytes, engineComplaints, installedPackages, limits } from "./package-limits.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "toolyard-package-"));
const problems = [];

/** Reads from every part that is loaded late that needs no server: what is missing in the package shows itself. */
async function askGateway() {
  writeFileSync(join(folder, "toolyard.json"), '{"mcpServers":{}}');
  const args = ["serve", "--config", join(folder, "toolyard.json"), "--port", "0", "--data-dir", join(folder, "data")];
  const gateway = spawn(join(folder, "node_modules/.bin/toolyard"), args, { stdio: ["ignore", "pipe", "pipe"] });
  try {
    const url = await new Promise((resolve, reject) => {
      let text = "";
      const read = (chunk) => {
        text += chunk;
        const [found] = /http:\/\/127\.0\.0\.1:\d+/.exec(text) ?? [];
        if (found !== undefined) resolve(found);
      };
      gateway.stdout.on("data", read);
      gateway.stderr.on("data", read);
      gateway.on("exit", () => reject(new Error(`the installed gateway did not start:\n${text}`)));
    });
    for (const path of ["/", "/openapi.json", "/documentation", "/metrics", "/api/tools?query=x"]) {
      const { status } = await fetch(url + path);
      if (status !== 200) problems.push(`GET ${path} of the installed gateway is answered with ${status}`);
    }
  } finally {
    gateway.removeAllListeners("exit");
    const gone = once(gateway, "exit");
    gateway.kill();
    await gone;
  }
}

try {
  const npm = (args, cwd) => execFileSync("npm", [...args, "--loglevel=error"], { cwd, encoding: "utf8" });
  npm(["pack", "--pack-destination", folder], root);
  const tarball = readdirSync(folder).find((name) => name.endsWith(".tgz"));
  writeFileSync(join(folder, "package.json"), '{"name":"empty","private":true}');
  npm(["install", "--no-audit", "--no-fund", `./${tarball}`], folder);
  const packages = installedPackages(join(folder, "package-lock.json"));
  const bytes = diskBytes(join(folder, "node_modules"));
  process.stdout.write(`${packages.length} packages, ${(bytes / 1e6).toFixed(1)} MB\n`);
  if (packages.length > limits.packages) problems.push(`there are more than ${limits.packages} packages`);
  if (bytes > limits.bytes) problems.push(`they take more than ${limits.bytes / 1e6} MB`);
  problems.push(...engineComplaints(packages));
  await askGateway();
} finally {
  rmSync(folder, { recursive: true, force: true });
}
for (const problem of problems) process.stderr.write(`${problem}\n`);
process.exitCode = problems.length === 0 ? 0 : 1;
