import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { toSpawnFailure } from "./open-process.ts";

let folder: string;
beforeEach(async () => void (folder = await mkdtemp(join(tmpdir(), "toolyard-spawn-"))));
afterEach(async () => await rm(folder, { recursive: true, force: true }));

/** What the system really says to this command. */
async function failureOf(command: string, cwd = folder): Promise<string> {
  try {
    const child = spawn(command, ["--token=hunter2"], {
      cwd,
      stdio: "ignore",
      env: { ...process.env, KEY: "hunter3" },
    });
    const [error] = (await once(child, "error")) as [Error];
    return explain(error, command, cwd);
  } catch (error) {
    return explain(error, command, cwd);
  }
}
function explain(error: unknown, command: string, cwd: string): string {
  const failure = toSpawnFailure(error, { command, cwd });
  expect(failure.code).toBe("SPAWN_FAILED");
  expect(JSON.stringify([failure.message, failure.data, failure.hint])).not.toContain("hunter");
  return failure.message;
}

test.runIf(process.platform === "linux")("says which of the missing things is missing", async () => {
  expect(await failureOf("no-such-command-xyz")).toBe(
    'cannot start "no-such-command-xyz": there is no such command on its PATH',
  );
  expect(await failureOf("./nothing")).toContain("there is no such file");
  expect(await failureOf("node", join(folder, "gone"))).toContain('/gone" does not exist');
  await writeFile(join(folder, "script"), "#!/no/such/interpreter\n", { mode: 0o755 });
  expect(await failureOf("./script")).toContain("the interpreter or loader that it names does not exist");
});

test.runIf(process.platform === "linux")("says why a program that is there may not be run", async () => {
  await mkdir(join(folder, "directory"));
  expect(await failureOf("./directory")).toContain("it is a directory, not a program");
  await writeFile(join(folder, "plain"), "x");
  await chmod(join(folder, "plain"), 0o644);
  expect(await failureOf("./plain")).toContain("no execute permission");
  expect(await failureOf("./plain/deeper")).toContain("a part of its path is not a directory");
  expect(await failureOf("node", join(folder, "plain"))).toContain('/plain" is not a directory');
});

test("a zero byte and an unknown error get a sentence too", async () => {
  expect(await failureOf("a\0b")).toContain("holds a zero byte or is empty");
  const unknown = Object.assign(new Error("odd"), { code: "EODD" });
  expect(toSpawnFailure(unknown, { command: "x", cwd: "/" }).message).toBe(
    'cannot start "x": the system answered EODD',
  );
  expect(toSpawnFailure("thrown text", { command: "x", cwd: "/" }).data).toEqual({ command: "x", reason: "UNKNOWN" });
});

test("limits of the system are named by how they are raised", () => {
  const message = (code: string) =>
    toSpawnFailure(Object.assign(new Error(code), { code }), { command: "x", cwd: "/" }).message;
  expect(message("EMFILE")).toContain("ulimit -n");
  expect(message("EAGAIN")).toContain("ulimit -u");
  expect(message("ENOMEM")).toContain("not enough memory");
  expect(message("E2BIG")).toContain("too long for this system");
});

test("a command of any length and content stays one short line", () => {
  const { message } = toSpawnFailure(Object.assign(new Error("x"), { code: "ENOENT" }), {
    command: `a\n"b${"c".repeat(10_000)}`,
    cwd: "/",
  });
  expect(message).not.toContain("\n");
  expect(message.length).toBeLessThan(400);
});
