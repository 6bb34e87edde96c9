// Writes the types of our REST API for the dashboard, from the OpenAPI document that a gateway serves, so that the two
// cannot drift.
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "toolyard-api-"));
execFileSync(process.execPath, [join(root, "scripts/build.mjs")], { stdio: "inherit" });
writeFileSync(join(folder, "toolyard.json"), "{}");
const options = ["--config", join(folder, "toolyard.json"), "--data-dir", join(folder, "data"), "--port", "0"];
const gateway = spawn(process.execPath, [join(root, "dist/cli/main.js"), "serve", ...options], {
  stdio: ["ignore", "pipe", "ignore"],
});
try {
  for await (const line of createInterface({ input: gateway.stdout })) {
    const [, url] = /^listening on (\S+)$/.exec(line) ?? [];
    if (url === undefined) continue;
    const document = await (await fetch(`${url}/openapi.json`)).text();
    writeFileSync(join(folder, "openapi.json"), document);
    break;
  }
  // In the workspace, whose TypeScript is the one that this program knows.
  const program = join(root, "web/node_modules/openapi-typescript/bin/cli.js");
  const args = [program, join(folder, "openapi.json"), "--output", join(root, "web/src/api/schema.d.ts")];
  execFileSync(process.execPath, args, { cwd: join(root, "web"), stdio: ["ignore", "ignore", "inherit"] });
} finally {
  gateway.kill("SIGTERM");
  await new Promise((resolve) => gateway.once("exit", resolve));
  rmSync(folder, { recursive: true, force: true });
}
