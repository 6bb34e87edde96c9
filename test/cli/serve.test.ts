import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { runCommand, type CommandResult } from "../harness/command.ts";
import { startGateway } from "../harness/gateway.ts";
import { send } from "../harness/rpc.ts";

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

test("each client is shown the settings that it reads", async () => {
  await using gateway = await startGateway({ config: { mcpServers: {} } });
  const entry = { toolyard: { type: "http", url: `${gateway.url}/mcp` } };
  const help = gateway.stderr().split("\n");
  expect(help[help.findIndex((line) => line.includes("VS Code")) + 1]?.trim()).toBe(JSON.stringify({ servers: entry }));
  expect(help[help.findIndex((line) => line.includes("Cursor")) + 1]?.trim()).toBe(
    JSON.stringify({ mcpServers: entry }),
  );
});
