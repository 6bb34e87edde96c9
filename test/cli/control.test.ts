import { spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { showWaiting } from "../../src/cli/terminal/waiting-line.ts";
import { badServer, mainFile, startGateway, type RunningGateway } from "../harness/gateway.ts";
import { runCommand, type CommandResult } from "../harness/command.ts";
import { send } from "../harness/rpc.ts";
import { until } from "../harness/until.ts";
import { standingOf } from "../instances/observing.ts";

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "toolyard-terminal-"));
});
afterEach(async () => await rm(directory, { recursive: true, force: true }));

/** A shell line with `toolyard` for the built command, and where the gateway is. */
async function shell(line: string): Promise<CommandResult> {
  const toolyard = `toolyard() { '${process.execPath}' '${mainFile}' "$@"; }; export TOOLYARD_DATA_DIR='${join(directory, "data")}'`;
  const child = spawn("bash", ["-c", `${toolyard}; set -o pipefail; ${line}`], { stdio: ["ignore", "pipe", "pipe"] });
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  return await new Promise((resolve) => child.once("close", (code) => resolve({ code, stdout, stderr })));
}

const start = (mcpServers: object, toolyard: object = {}): Promise<RunningGateway> =>
  startGateway({ config: { mcpServers, toolyard }, directory });

/** Gone before anything can be written. */
const nobody = "(exec <&-; sleep 0)";

test.each(["status", "restart bad", "--help", "--version", "no-such-command", "token new", "status --nonsense"])(
  "`toolyard %s` ends quietly when nobody reads it to its end",
  async (command) => {
    await using gateway = await start({ bad: badServer() });
    await until(async () => (await standingOf(gateway.url, "bad")).status === "online");
    const piped = await shell(`toolyard ${command} | ${nobody}`);
    expect(piped.stderr).not.toMatch(/EPIPE|^ +at /m);
    const both = await shell(`toolyard ${command} 2>&1 | ${nobody}`);
    expect(both.code).toBe((await shell(`toolyard ${command}`)).code);
  },
);

test("a gateway goes on when nobody reads its output any more", async () => {
  await writeFile(join(directory, "toolyard.json"), JSON.stringify({ mcpServers: { bad: badServer() } }));
  const file = join(directory, "address");
  const child = spawn(
    "bash",
    [
      "-c",
      `'${process.execPath}' '${mainFile}' --port 0 --log-level debug --config '${join(directory, "toolyard.json")}' --data-dir '${join(directory, "data")}' 2>&1 | head -1 > '${file}'; echo done`,
    ],
    { stdio: ["ignore", "pipe", "inherit"], detached: true },
  );
  try {
    const url = await until(async () => {
      const status = await shell("toolyard status");
      return /gateway (http\S+)/.exec(status.stdout)?.[1];
    });
    await until(async () => (await standingOf(url, "bad")).status === "online");
    expect((await send(`${url}/healthz`, { method: "GET" })).status).toBe(200);
  } finally {
    const gone = new Promise((resolve) => child.once("exit", resolve));
    await shell("toolyard stop");
    await gone;
  }
});

test("a gateway that is stopped says so of its servers, not that they were removed from the configuration", async () => {
  const gateway = await start({ bad: badServer() });
  await until(async () => (await standingOf(gateway.url, "bad")).status === "online");
  await gateway.stop("SIGINT");
  expect(gateway.stderr()).toContain("bad: online -> disabled: the gateway is stopping");
  expect(gateway.stderr()).not.toContain("removed from the configuration");
});

test("a server whose entry changed is said to have changed, one that is gone to have been removed", async () => {
  await using gateway = await start({ changed: badServer(), gone: badServer() });
  await until(async () => (await standingOf(gateway.url, "gone")).status === "online");
  await until(async () => (await standingOf(gateway.url, "changed")).status === "online");
  const mcpServers = { changed: badServer("--stderr-lines", "1") };
  await writeFile(gateway.configFile, JSON.stringify({ mcpServers }));
  await until(() => gateway.stderr().includes("changed: online -> disabled: its configuration changed"));
  await until(() => gateway.stderr().includes("gone: online -> disabled: removed from the configuration"));
});

test("restart of a slow server says that it waits, and ends with what came out", async () => {
  const slow = badServer("--start-delay", "2500");
  const failing = {
    command: "sh",
    args: ["-c", "echo warming up >&2; sleep 2; echo 'Error: no such table' >&2; echo bye >&2; exit 3"],
  };
  await using gateway = await start({ slow, failing }, { instances: { restartDelaysMs: [60_000] } });
  await until(async () => (await standingOf(gateway.url, "slow")).status === "online");
  const place = ["--config", gateway.configFile, "--data-dir", join(directory, "data")];
  const up = await runCommand(["restart", "slow", ...place]);
  expect(up.stderr).toBe("waiting for slow to start\n");
  expect(up).toMatchObject({ code: 0, stdout: expect.stringMatching(/ {2}slow +online/) as string });
  const down = await runCommand(["restart", "failing", ...place]);
  expect(down.code).toBe(1);
  expect(down.stderr).toContain("waiting for failing to start\n");
  expect(down.stderr).toContain("failing exited with code 3; its last output: Error: no such table | bye");
});

test("a search waits for a server that began to start long before, as it does for one that has just begun", async () => {
  await using gateway = await start({ slow: badServer("--start-delay", "7000") });
  await new Promise((resolve) => setTimeout(resolve, 3_000));
  const place = ["--config", gateway.configFile, "--data-dir", join(directory, "data")];
  const found = await runCommand(["search", "add two numbers", ...place]);
  expect(found.stderr).not.toMatch(/cannot be used now|nothing fits/);
  expect(found.stdout).toContain("slow:");
});

test("on a terminal the waiting is one line that counts, and goes", async () => {
  const written: string[] = [];
  const line = showWaiting("waiting for slow to start", {
    isTTY: true,
    write: (text: string) => void written.push(text),
  });
  await until(() => written.length >= 2);
  line.end();
  expect(written[0]).toMatch(/^\r[^\n]*waiting for slow to start \(\d+ s\)/);
  expect(written.at(-1)).toBe("\r\u001b[K");
  expect(written.join("")).not.toContain("\n");
});

test("a start that times out shows what the server wrote, to whoever asks", async () => {
  const hanging = { command: "sh", args: ["-c", "echo 'Error: no route to the database' >&2; exec sleep 600"] };
  await using gateway = await start({ hanging: { ...hanging, startTimeoutMs: 1_000 } });
  const { reason } = await until(async () => {
    const standing = await standingOf(gateway.url, "hanging");
    return standing.status === "error" && standing;
  });
  expect(reason).toBe("hanging did not come up within 1 s; its last output: Error: no route to the database");
});
