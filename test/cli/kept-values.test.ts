import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { runCommand, type CommandResult } from "../harness/command.ts";
import { badServer, startGateway } from "../harness/gateway.ts";
import { untilOnline } from "../harness/rest.ts";
import { until } from "../harness/until.ts";

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "toolyard-kept-"));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const servers = { bad: { ...badServer(), env: { KEY: "${KEPT_TEST_KEY}", ID: "${input:kept-id}" } } };

async function config(words: readonly string[], input?: string): Promise<CommandResult> {
  const file = join(directory, "toolyard.json");
  writeFileSync(file, JSON.stringify({ mcpServers: servers }));
  return await runCommand(["config", ...words, "--config", file, "--data-dir", join(directory, "data")], {}, input);
}

test("a variable that is not set has the value that is kept for it, at the start of a gateway too", async () => {
  const before = await config(["check"]);
  expect(before.code).toBe(2);
  expect(before.stdout).toContain("the variable KEPT_TEST_KEY is not set");
  expect(before.stdout).toContain("TOOLYARD_INPUT_KEPT_ID");
  expect((await config(["keep", "KEPT_TEST_KEY"], "first-kept-value\n")).code).toBe(0);
  expect((await config(["keep", "TOOLYARD_INPUT_KEPT_ID"], "second-kept-value\n")).code).toBe(0);
  expect((await config(["keep"])).stdout).toBe("KEPT_TEST_KEY\nTOOLYARD_INPUT_KEPT_ID\n");
  expect((await config(["check"])).code).toBe(0);
  await using gateway = await startGateway({ config: { mcpServers: servers }, directory });
  await untilOnline(gateway.url);
  const shown = await config(["show", "--json"]);
  expect(shown.stdout).not.toContain("kept-value");
});

test("a running gateway has a value once it is kept, and not once it is forgotten", async () => {
  const file = join(directory, "toolyard.json");
  const where = ["--config", file, "--data-dir", join(directory, "data")];
  await using gateway = await startGateway({ config: { mcpServers: servers }, directory });
  const status = async (): Promise<string> =>
    (JSON.parse((await runCommand(["servers", "--json", ...where])).stdout) as { servers: { status: string }[] })
      .servers[0]?.status ?? "";
  expect(await status()).toBe("disabled");
  await config(["keep", "KEPT_TEST_KEY"], "kept-value");
  expect((await config(["keep", "TOOLYARD_INPUT_KEPT_ID"], "other-value")).stdout).toContain("at once");
  await untilOnline(gateway.url);
  await config(["forget", "KEPT_TEST_KEY"]);
  await until(async () => (await status()) === "disabled");
});

test("a value that is forgotten is not used any more, and a variable that is set goes before it", async () => {
  await config(["keep", "KEPT_TEST_KEY"], "kept-value");
  await config(["keep", "TOOLYARD_INPUT_KEPT_ID"], "kept-value");
  expect((await config(["forget", "KEPT_TEST_KEY"])).stdout).toBe("forgotten: KEPT_TEST_KEY\n");
  expect((await config(["forget", "KEPT_TEST_KEY"])).stdout).toBe("KEPT_TEST_KEY was not kept\n");
  expect((await config(["check"])).code).toBe(2);
});

test("a key that cannot be used spoils no configuration that needs none of the kept values", async () => {
  await config(["keep", "KEPT_TEST_KEY"], "kept-value");
  const file = join(directory, "toolyard.json");
  writeFileSync(
    file,
    JSON.stringify({ mcpServers: { bad: { ...badServer(), env: { A: "${KEPT_TEST_OTHER:-plain}" } } } }),
  );
  const where = ["--config", file, "--data-dir", join(directory, "data")];
  const checked = await runCommand(["config", "check", ...where], { TOOLYARD_KEY_COMMAND: "exit 1" });
  expect(checked).toMatchObject({ code: 0, stderr: "" });
});

test("a new entry has the kept values when it is tried, as it has at the start of a gateway", async () => {
  const home = join(directory, "home");
  const entry = { ...badServer(), env: { KEY: "${KEPT_TEST_KEY}" } };
  const data = join(directory, "elsewhere");
  const file = join(directory, "toolyard.json");
  writeFileSync(file, JSON.stringify({ mcpServers: { bad: entry }, toolyard: { dataDir: data } }));
  const env = { HOME: home, XDG_DATA_HOME: join(home, "data"), XDG_CONFIG_HOME: join(home, "config") };
  expect((await runCommand(["config", "keep", "KEPT_TEST_KEY", "--config", file], env, "kept")).code).toBe(0);
  const added = ["servers", "add", "more", "--config", file, "--env", "KEY=${KEPT_TEST_KEY}", "--"];
  const { command, args } = badServer();
  expect(await runCommand([...added, command, ...args], env)).toMatchObject({
    code: 0,
    stderr: expect.not.stringContaining("is not set") as string,
  });
});

test.each(["", "TOOLYARD_PORT", "a b", "1"])("%j is no name of a variable of a server", async (name) => {
  const { code, stderr } = await config(["keep", name], "x");
  expect([code, stderr]).toEqual([2, expect.stringContaining("is no name of a variable")]);
});
