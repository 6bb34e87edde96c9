import { spawn } from "node:child_process";
import { existsSync, readFileSync, statSync } from "node:fs";
import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { runCommand, type CommandResult } from "../harness/command.ts";
import { badServer, mainFile } from "../harness/gateway.ts";
import { keys, openDrawnTerminal } from "../harness/drawn-terminal.ts";
import { locksIn } from "../harness/places.ts";
import { rpc } from "../harness/rpc.ts";
import { until } from "../harness/until.ts";

let home: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "toolyard service-"));
  await mkdir(join(home, "bin"));
  // Says what it was told, which is all that can be seen of a service manager without a login session.
  const recorder = `#!/bin/sh\necho "$@" >> "$HOME/told"\n[ -e "$HOME/fails" ] && { echo "Failed to connect to bus" >&2; exit 1; }\nexit 0\n`;
  await writeFile(join(home, "bin", "systemctl"), recorder);
  await chmod(join(home, "bin", "systemctl"), 0o755);
  const config = { mcpServers: { bad: badServer() }, toolyard: { server: { port: 0 } } };
  await writeFile(configFile(), JSON.stringify(config));
});
afterEach(async () => await rm(home, { recursive: true, force: true }));

const configFile = () => join(home, "my toolyard.json");
const unitFile = () => join(home, ".config", "systemd", "user", "toolyard.service");
const told = () => (existsSync(join(home, "told")) ? readFileSync(join(home, "told"), "utf8").trim().split("\n") : []);
const env = () => ({
  HOME: home,
  XDG_CONFIG_HOME: "",
  XDG_DATA_HOME: join(home, "xdg data"),
  PATH: [join(home, "bin"), process.env["PATH"]].join(delimiter),
});

async function service(...args: string[]): Promise<CommandResult> {
  return await runCommand(["service", ...args, "--config", configFile()], env());
}

describe.skipIf(process.platform !== "linux")("toolyard service on Linux", () => {
  test("--dry-run shows the file and the commands, and does nothing", async () => {
    const { code, stdout } = await service("install", "--dry-run");
    expect(code).toBe(0);
    expect(stdout).toContain(`new file ${unitFile()}`);
    expect(stdout).toContain("+Restart=on-failure");
    expect(stdout).toContain("systemctl --user enable toolyard.service");
    expect(existsSync(unitFile())).toBe(false);
    expect(told()).toEqual([]);
  });

  test("without a terminal and without --yes it changes nothing, and says so with code 2", async () => {
    const { code, stderr } = await service("install");
    expect(code).toBe(2);
    expect(stderr).toContain("say --yes or --dry-run");
    expect(existsSync(unitFile())).toBe(false);
  });

  test("what is installed starts as systemd would start it, with nothing of the environment but its own", async () => {
    expect(await service("install", "--yes")).toMatchObject({ code: 0 });
    expect(told()).toEqual([
      "--user daemon-reload",
      "--user enable toolyard.service",
      "--user restart toolyard.service",
    ]);
    expect(statSync(unitFile()).mode & 0o777).toBe(0o600);
    const unit = readFileSync(unitFile(), "utf8");
    const words = wordsOf(unit, "ExecStart");
    expect(words.slice(0, 3)).toEqual([process.execPath, mainFile, "serve"]);
    const data = join(home, "xdg data", "toolyard");
    expect(words).toContain(data);
    const [command = "", ...args] = words;
    const variables = Object.fromEntries(wordsOf(unit, "Environment").map((word) => word.split(/=(.*)/s, 2)));
    const child = spawn(command, args, {
      cwd: /^WorkingDirectory=(.*)$/m.exec(unit)?.[1],
      env: { HOME: home, ...variables },
      stdio: "ignore",
    });
    const exited = new Promise((resolve) => child.once("exit", resolve));
    try {
      const url = await until(() => locksIn(data).find(({ url: found }) => found !== null)?.url);
      const { json } = await rpc(`${url}/mcp`, "tools/call", { name: "bad:pid", arguments: {} });
      expect(json).toHaveProperty("result.content");
    } finally {
      child.kill("SIGTERM");
    }
    // A failure would start it again.
    expect(await exited).toBe(0);
  });

  test("status says what is there and whether it is up to date; remove takes it away, and only it", async () => {
    expect(await service("status")).toMatchObject({ code: 1, stdout: expect.stringContaining("There is no service") });
    await service("install", "--yes");
    const current = await service("status");
    expect(current.code).toBe(0);
    expect(current.stdout).not.toContain("It is not what");
    await writeFile(unitFile(), "[Service]\n");
    expect((await service("status")).stdout).toContain("It is not what `toolyard service install` would write");
    expect(await service("remove", "--yes")).toMatchObject({ code: 0 });
    expect(told().at(-1)).toBe("--user disable --now toolyard.service");
    expect(existsSync(unitFile())).toBe(false);
    expect(existsSync(configFile())).toBe(true);
    expect(await service("remove", "--yes")).toMatchObject({ code: 0 });
  });

  test("where there is no service manager, the file is there, and what is left to do is said", async () => {
    await writeFile(join(home, "fails"), "");
    const { code, stderr } = await service("install", "--yes");
    expect(code).toBe(1);
    expect(stderr).toContain("Failed to connect to bus");
    expect(stderr).toContain("systemctl --user restart toolyard.service");
    expect(existsSync(unitFile())).toBe(true);
  });

  test("variables that the configuration refers to are named, because a service does not have them", async () => {
    const entry = { ...badServer(), env: { KEY: "${MY_SECRET_KEY}" } };
    await writeFile(configFile(), JSON.stringify({ mcpServers: { bad: entry } }));
    const { stdout } = await runCommand(["service", "install", "--dry-run", "--config", configFile()], {
      ...env(),
      MY_SECRET_KEY: "s3cr3t",
    });
    expect(stdout).toContain("variables that a service does not have: MY_SECRET_KEY");
    expect(stdout).not.toContain("s3cr3t");
  });

  test("on a terminal it asks, and a no changes nothing", async () => {
    await using terminal = await openDrawnTerminal({
      args: ["service", "install", "--config", configFile()],
      cwd: home,
      env: env(),
    });
    await terminal.sees("Install this service?");
    terminal.type(keys.ctrlC);
    expect(await terminal.exited).toBe(1);
    expect(existsSync(unitFile())).toBe(false);
  });

  test.each([["nothing"], ["start"]])("%s is no such thing", async (word) => {
    const { code, stderr } = await service(...(word === "nothing" ? [] : [word]));
    expect(code).toBe(2);
    expect(stderr).toContain("expected install, remove or status");
  });
});

/** The words of a line of a unit, as systemd takes its quoting away. */
function wordsOf(unit: string, name: string): string[] {
  const line = new RegExp(`^${name}=(.*)$`, "m").exec(unit)?.[1] ?? "";
  return [...line.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(([, word = ""]) =>
    word.replace(/\\(.)/g, "$1").replaceAll("%%", "%").replaceAll("$$", "$"),
  );
}
