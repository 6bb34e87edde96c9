import { spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { runCommand, type CommandResult } from "../harness/command.ts";
import { badServer, mainFile, startGateway } from "../harness/gateway.ts";
import { rpc, send } from "../harness/rpc.ts";
import { until } from "../harness/until.ts";

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "toolyard-serve-"));
});
afterEach(async () => await rm(directory, { recursive: true, force: true }));

/** A gateway that is expected to end by itself. */
async function serve(...args: string[]): Promise<CommandResult> {
  const config = join(directory, "toolyard.json");
  await writeFile(config, '{ "mcpServers": {} }');
  return await runCommand(["serve", "--config", config, "--data-dir", join(directory, "data"), "--port", "0", ...args]);
}

describe("the address to listen on", () => {
  test.each([
    ["203.0.113.9", "this machine does not have that address"],
    ["no-such-name.invalid", "no address is known for that name"],
  ])("%s is refused with what to do, not with a stack", async (host, why) => {
    const { code, stderr } = await serve("--host", host, "--insecure");
    expect(code).toBe(2);
    expect(stderr).toContain(`cannot listen on ${host}:0: ${why}`);
    expect(stderr).toContain("--host");
    expect(stderr).not.toMatch(/internal| {4}at /);
  });

  test("an IPv6 address may be in brackets", async () => {
    await using gateway = await startGateway({ config: { mcpServers: {} }, args: ["--host", "[::1]"] });
    expect(gateway.url).toMatch(/^http:\/\/\[::1\]:\d+$/);
    expect((await send(`${gateway.url}/healthz`, { method: "GET" })).status).toBe(200);
  });
});

test("the startup report says that there are no servers, and what to do", async () => {
  await using empty = await startGateway({ config: "{}" });
  await until(() => empty.stderr().includes(`There are no servers in ${empty.configFile}.`));
  expect(empty.stderr()).toContain(JSON.stringify('"mcpServers": { "<name>"').slice(1, -1));
  // Nowhere is a file: neither in the working directory nor in the user's own.
  const child = spawn(process.execPath, [mainFile, "--port", "0", "--data-dir", join(directory, "data")], {
    cwd: directory,
    env: { ...process.env, HOME: directory, XDG_CONFIG_HOME: directory },
    stdio: ["ignore", "ignore", "pipe"],
  });
  let said = "";
  child.stderr.on("data", (chunk: Buffer) => (said += chunk.toString()));
  await until(() => said.includes(`\`toolyard servers add\` makes one; or write ${join(directory, "toolyard.json")}`));
  const exited = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGTERM");
  expect(await exited).toBe(0);
});

test("tools that the configuration hides are not counted", async () => {
  const bad = { ...badServer(), tools: { allow: ["pid"] } };
  await using gateway = await startGateway({ config: { mcpServers: { bad } } });
  await rpc(`${gateway.url}/mcp`, "tools/call", { name: "bad:pid", arguments: {} });
  const { stdout } = await runCommand([
    "status",
    ...["--config", gateway.configFile, "--data-dir", join(gateway.directory, "data")],
  ]);
  expect(stdout).toMatch(/^ {2}bad +online +1 +~?\d+ +1 +\d+ ms +\d+ MB +\d+$/m);
});
