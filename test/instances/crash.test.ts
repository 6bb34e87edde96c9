import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { badServer, startGateway, type RunningGateway } from "../harness/gateway.ts";
import { runCommand } from "../harness/command.ts";
import { execute } from "../harness/rpc.ts";
import { discover } from "../faults/servers/faulty-gateway.ts";
import { until } from "../harness/until.ts";
import { aliveIn, standingOf, startsIn } from "./observing.ts";

let directory: string;
let pids: string;
let broken: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "toolyard-crash-"));
  pids = join(directory, "pids");
  broken = join(directory, "broken");
});
afterEach(async () => await rm(directory, { recursive: true, force: true }));

const quick = { restartDelaysMs: [50, 100, 150], callRetryMs: 0 };

function fragile(failedRetryMs: number): Promise<RunningGateway> {
  const bad = badServer("--write-pid", pids, "--crash-while-exists", broken, "--stderr-lines", "2");
  return startGateway({
    config: { mcpServers: { bad }, toolyard: { instances: { ...quick, failedRetryMs } } },
    directory,
  });
}

const statusOf = async (gateway: RunningGateway): Promise<string> => (await standingOf(gateway.url, "bad")).status;

/** Comes up, breaks, is killed: then it crashes at every start until it is given up. */
async function giveUp(gateway: RunningGateway): Promise<void> {
  await until(async () => (await statusOf(gateway)) === "online");
  await writeFile(broken, "");
  process.kill(startsIn(pids).at(-1) ?? 0, "SIGKILL");
  await until(async () => (await statusOf(gateway)) === "permanently_failed");
}

test("FAULT 76: a crash loop ends in permanently_failed, which says why; a restart by hand cures it", async () => {
  await using gateway = await fragile(600_000);
  await giveUp(gateway);
  expect(startsIn(pids)).toHaveLength(4);
  const standing = await standingOf(gateway.url, "bad");
  expect(standing.reason).toContain("exited with code 1");
  expect(standing.action).toContain("toolyard restart bad");
  const refused = JSON.parse((await execute(gateway.url, "bad:echo")).content[0].text);
  expect(refused).toMatchObject({
    code: "SERVER_FAILED",
    exitCode: 1,
    signal: null,
    stderr: expect.arrayContaining([expect.any(String)]) as string[],
  });
  expect(startsIn(pids)).toHaveLength(4);

  await rm(broken);
  const restarted = await runCommand([
    "restart",
    "bad",
    "--config",
    gateway.configFile,
    "--data-dir",
    join(directory, "data"),
  ]);
  expect(restarted).toMatchObject({ code: 0, stdout: expect.stringContaining("online") as string });
  expect((await execute(gateway.url, "bad:echo", { a: 1 })).structuredContent).toEqual({ a: 1 });
});

test("FAULT 76: a server that never came up says why: while it is started again, and when it is given up", async () => {
  const script = "console.error('Error: Cannot find module foo-bar'); process.exit(1)";
  const mcpServers = { bad: { command: process.execPath, args: ["-e", script] } };
  for (const [restartDelaysMs, status] of [
    [[60_000], "restarting"],
    [quick.restartDelaysMs, "permanently_failed"],
  ] as const) {
    await using gateway = await startGateway({ config: { mcpServers, toolyard: { instances: { restartDelaysMs } } } });
    await until(async () => (await statusOf(gateway)) === status);
    const found = await discover(gateway, { query: "send mail" });
    expect(found.unavailable).toMatchObject([
      { server: "bad", status, reason: "bad exited with code 1; its last output: Error: Cannot find module foo-bar" },
    ]);
    expect(gateway.stderr()).toContain("Cannot find module foo-bar");
    if (status !== "permanently_failed") continue;
    const refused = JSON.parse((await execute(gateway.url, "bad:echo")).content[0].text);
    expect(refused).toMatchObject({ code: "SERVER_FAILED", message: expect.stringContaining("foo-bar") as string });
  }
});

test("FAULT 76: a call tries again, once per failedRetryMs, and it recovers by itself when it is mended", async () => {
  await using gateway = await fragile(1_000);
  await giveUp(gateway);
  const tries = await until(async () => {
    await execute(gateway.url, "bad:echo");
    const count = startsIn(pids).length;
    return count >= 6 && count;
  });
  expect(tries).toBeGreaterThanOrEqual(6);
  expect(await statusOf(gateway)).toBe("permanently_failed");
  await rm(broken);
  await until(async () => (await execute(gateway.url, "bad:echo")).isError !== true);
  expect(await statusOf(gateway)).toBe("online");
});

test("FAULT 76: a changed configuration tries again", async () => {
  await using gateway = await fragile(600_000);
  await giveUp(gateway);
  await writeFile(
    gateway.configFile,
    JSON.stringify({ mcpServers: { bad: badServer("--write-pid", pids) }, toolyard: { instances: quick } }),
  );
  await until(async () => (await statusOf(gateway)) === "online");
});

test("a call that comes while it is started again is answered by the new process", async () => {
  await using gateway = await startGateway({
    config: {
      mcpServers: { bad: badServer("--write-pid", pids) },
      toolyard: { instances: { ...quick, restartDelaysMs: [1_000] } },
    },
  });
  await until(async () => (await statusOf(gateway)) === "online");
  process.kill(startsIn(pids)[0] ?? 0, "SIGKILL");
  await until(async () => (await statusOf(gateway)) === "restarting");
  const result = await execute(gateway.url, "bad:pid");
  expect(result.content[0].text).toContain(String(startsIn(pids)[1]));
});

test("what a crashed server leaves behind is gone before the next one starts", async () => {
  await using gateway = await startGateway({
    config: { mcpServers: { bad: badServer("--write-pid", pids) }, toolyard: { instances: quick } },
  });
  await until(async () => (await statusOf(gateway)) === "online");
  for (const kind of ["fork", "setsid", "double-fork"]) await execute(gateway.url, `bad:${kind}`, { deaf: true });
  const [server = 0] = startsIn(pids);
  expect(aliveIn(pids).length).toBeGreaterThan(3);
  process.kill(server, "SIGKILL");
  const second = await until(() => startsIn(pids)[1]);
  expect(aliveIn(pids)).toEqual([second]);
});

test("restart of what does not exist, and without a gateway, say so", async () => {
  await using gateway = await startGateway({ config: { mcpServers: {} }, directory });
  const common = ["--config", gateway.configFile, "--data-dir"];
  expect(await runCommand(["restart", "nobody", ...common, join(directory, "data")])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("nobody") as string,
  });
  expect(await runCommand(["restart", "nobody", ...common, join(directory, "elsewhere")])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("no gateway runs") as string,
  });
  expect(await runCommand(["restart", ...common, join(directory, "data")])).toMatchObject({ code: 2 });
});
