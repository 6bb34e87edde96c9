import { execFile } from "node:child_process";
import { chmod, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterEach, beforeEach, expect, test } from "vitest";

const run = promisify(execFile);
const units = fileURLToPath(new URL("../../packaging/systemd", import.meta.url));

let folder: string;
beforeEach(async () => void (folder = await mkdtemp(join(tmpdir(), "toolyard-units-"))));
afterEach(async () => await rm(folder, { recursive: true, force: true }));

/** What systemd says of a unit; an empty text when it finds nothing. */
async function verify(name: string, text: string): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, text);
  await chmod(path, 0o644);
  const scope = name.includes("user") ? "--user" : "--system";
  const env = { ...process.env, XDG_RUNTIME_DIR: folder };
  const said = await run("systemd-analyze", ["verify", scope, "--man=no", path], { env }).catch(
    (error: { readonly stdout: string; readonly stderr: string }) => error,
  );
  return said.stdout + said.stderr;
}

test.each(["toolyard.service", "toolyard-user.service"])("systemd has nothing to say against %s", async (name) => {
  expect(await readdir(units)).toContain(name);
  const text = await readFile(join(units, name), "utf8");
  expect(await verify(name, text)).toBe("");
  // And would have: a misspelled protection would silently be none.
  expect(await verify(name, text.replace("NoNewPrivileges=", "NoNewPrivilege="))).toContain("NoNewPrivilege");
});

test("for the system's unit, what it may do is judged to be little", async () => {
  const { stdout } = await run("systemd-analyze", [
    "security",
    "--offline=true",
    "--no-pager",
    join(units, "toolyard.service"),
  ]);
  const [, exposure = "10"] = /Overall exposure level for .*: ([\d.]+)/.exec(stdout) ?? [];
  expect(Number(exposure)).toBeLessThan(3);
});
