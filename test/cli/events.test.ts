import { spawn, type ChildProcess } from "node:child_process";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { badServer, mainFile, startGateway, type RunningGateway } from "../harness/gateway.ts";
import { runCommand } from "../harness/command.ts";
import { run, untilOnline } from "../harness/rest.ts";
import { until } from "../harness/until.ts";

interface Following {
  readonly child: ChildProcess;
  stdout(): string;
  stderr(): string;
  readonly ended: Promise<number | null>;
}

const children: ChildProcess[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
});

const places = (gateway: RunningGateway): string[] => [
  "--config",
  gateway.configFile,
  "--data-dir",
  join(gateway.directory, "data"),
];

function follow(gateway: RunningGateway, ...flags: string[]): Following {
  const child = spawn(process.execPath, [mainFile, "events", ...flags, ...places(gateway)], {
    stdio: ["ignore", "pipe", "pipe"],
    // Fourteen hours before Greenwich: the sign is POSIX's.
    env: { ...process.env, TZ: "Etc/GMT-14" },
  });
  children.push(child);
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  const ended = new Promise<number | null>((resolve) => child.once("close", (code) => resolve(code)));
  return { child, stdout: () => stdout, stderr: () => stderr, ended };
}

/** Calls a tool until somebody who follows has seen it: nothing says when the command has begun to. */
async function callUntil(gateway: RunningGateway, seen: () => boolean): Promise<void> {
  await until(async () => {
    await run(gateway.url, "bad:stderr", { text: "\u001b[31mred\u001b[0m" });
    return seen();
  });
}

const start = async (): Promise<RunningGateway> => {
  const gateway = await startGateway({ config: { mcpServers: { bad: badServer() } } });
  await untilOnline(gateway.url);
  return gateway;
};

test("`toolyard events -f` prints a line per event, harmless to a terminal, until the gateway ends", async () => {
  await using gateway = await start();
  const hourThere = (): string => new Date(Date.now() + 14 * 3_600_000).toISOString().slice(11, 13);
  const hours = [hourThere()];
  const following = follow(gateway, "-f");
  await callUntil(gateway, () => /mcp\.request\.logs/.test(following.stdout()));
  expect(following.stdout()).toMatch(/^\d\d:\d\d:\d\d {2}mcp\.request\.logs {2}bad {2}\(local\) .*name=stderr/m);
  expect(following.stdout()).toMatch(/mcp\.server\.logs {2}bad .*line= ?\[31mred/);
  expect(following.stdout()).not.toContain("\u001b");
  // As in calls and logs, of this machine's time zone.
  hours.push(hourThere());
  expect(hours).toContain(following.stdout().slice(0, 2));
  await gateway.stop();
  expect(await following.ended).toBe(0);
  expect(following.stdout()).toContain("gateway.stopping");
});

test("--types and --json choose what is printed and how", async () => {
  await using gateway = await start();
  const following = follow(gateway, "--follow", "--json", "--types", "mcp.request.*,search.done");
  await callUntil(gateway, () => following.stdout().includes("\n"));
  const lines = following.stdout().trimEnd().split("\n");
  for (const line of lines)
    expect(JSON.parse(line)).toMatchObject({ type: "mcp.request.logs", server: "bad", principal: "local", data: {} });
});

test("a type that does not exist, and no -f, are said to be wrong", async () => {
  await using gateway = await start();
  const wrong = await runCommand(["events", "-f", "--types", "mcp.nothing", ...places(gateway)]);
  expect(wrong).toMatchObject({ code: 1, stdout: "", stderr: expect.stringContaining("mcp.nothing") });
  const without = await runCommand(["events", ...places(gateway)]);
  expect(without).toMatchObject({ code: 2, stderr: expect.stringContaining("toolyard events -f") });
});
