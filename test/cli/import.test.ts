import { spawn } from "node:child_process";
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { CommandResult } from "../harness/command.ts";
import { mainFile } from "../harness/gateway.ts";
import { runOnTerminal } from "../harness/terminal.ts";
import { until } from "../harness/until.ts";

let home: string;
let shop: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "toolyard-import-"));
  shop = join(home, "shop");
  await mkdir(shop);
});
afterEach(async () => await rm(home, { recursive: true, force: true }));

/** Runs a command in a folder of the fake home, with nothing of this machine's environment. */
async function toolyard(line: string, env: Readonly<Record<string, string>> = {}): Promise<CommandResult> {
  const child = spawn(process.execPath, [mainFile, ...line.split(" ")], {
    cwd: shop,
    stdio: ["ignore", "pipe", "pipe"],
    env: { PATH: process.env["PATH"] ?? "", HOME: home, ...env },
  });
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  return await new Promise((resolve) => child.once("close", (code) => resolve({ code, stdout, stderr })));
}

async function write(file: string, text: string): Promise<string> {
  const path = join(home, file);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
  return path;
}

const usersFile = () =>
  process.platform === "darwin"
    ? "Library/Application Support/toolyard/toolyard.json"
    : ".config/toolyard/toolyard.json";
const token = `ghp_${"aB3x".repeat(9)}`;
const marker = () => join(home, "was-started");

/** Two clients with a server that both have, one that leaves a file when it is started, a secret, and our own entry. */
async function writeClients(): Promise<readonly string[]> {
  const github = { command: "npx", args: ["-y", "server-github"], env: { GITHUB_TOKEN: token } };
  return [
    await write(
      ".cursor/mcp.json",
      JSON.stringify({
        mcpServers: {
          github,
          starts: { command: "sh", args: ["-c", `touch '${marker()}'`] },
          toolyard: { command: "toolyard", args: ["stdio"] },
        },
      }),
    ),
    await write(".lmstudio/mcp.json", JSON.stringify({ mcpServers: { gh: github } })),
  ];
}

async function textsOf(files: readonly string[]): Promise<readonly string[]> {
  return await Promise.all(files.map(async (file) => await readFile(file, "utf8")));
}

describe("toolyard import", () => {
  test("FAULT 91: shows every command with its marks and starts, writes and asks nothing without a terminal", async () => {
    const files = await writeClients();
    const before = await textsOf(files);
    const { code, stdout, stderr } = await toolyard("import");
    expect([code, stderr]).toEqual([2, ""]);
    expect(stdout).toMatch(
      /^Found 2 servers \(1 found more than once\) in 2 clients\. Nothing is started before you say so\.$/m,
    );
    expect(stdout).toMatch(
      /^\+ github {2}npx -y server-github {2}\(from Cursor, LM Studio\)\n +called github, gh there\n +! runs a download$/m,
    );
    expect(stdout).toContain(`+ starts  sh -c "touch '${marker()}'"`);
    expect(stdout).toContain("! runs a shell");
    expect(stdout).toContain("- toolyard in Cursor leads to this gateway");
    expect(stdout).toContain('+        "GITHUB_TOKEN": "[redacted]"');
    expect(stdout).toMatch(/Nothing was changed: --yes does it\.\n$/);
    expect(stdout).not.toContain(token);
    await expect(stat(join(home, usersFile()))).rejects.toThrow("ENOENT");
    await expect(stat(marker())).rejects.toThrow("ENOENT");
    expect(await textsOf(files)).toEqual(before);
  });

  test("with --dry-run, that is all that was wanted", async () => {
    await writeClients();
    expect((await toolyard("import --dry-run --yes")).code).toBe(0);
    await expect(stat(join(home, usersFile()))).rejects.toThrow("ENOENT");
  });

  test("with --yes, a new file for its owner alone has the servers, and the clients keep theirs", async () => {
    const files = await writeClients();
    const before = await textsOf(files);
    const { code, stdout } = await toolyard("import --yes");
    expect(code).toBe(0);
    const file = join(home, usersFile());
    const written = async () =>
      Object.keys((JSON.parse(await readFile(file, "utf8")) as { mcpServers: object }).mcpServers);
    // What runs a shell is not taken over unless it is named.
    expect(stdout).toContain("Left out because of what it runs: starts. To take it over: --only starts\n");
    expect(stdout).toContain(`1 added to ${file}\n`);
    expect(await written()).toEqual(["github"]);
    expect(await readFile(file, "utf8")).toContain(token);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(await textsOf(files)).toEqual(before);
    await expect(stat(marker())).rejects.toThrow("ENOENT");
    expect((await toolyard("import --yes")).stdout).toContain("Nothing was changed.");
    expect((await toolyard("import --yes --only starts")).code).toBe(0);
    expect(await written()).toEqual(["github", "starts"]);
    const again = await toolyard("import --yes");
    expect([again.code, again.stdout]).toEqual([0, expect.stringContaining("There is nothing to take over.")]);
  });

  test("secrets become variables where that is wanted, and their values are kept encrypted", async () => {
    await writeClients();
    const { stdout } = await toolyard("import --yes --secrets variables");
    expect(stdout).toContain("env.GITHUB_TOKEN: a secret, written as ${GITHUB_TOKEN}, whose value is kept encrypted");
    expect((await toolyard("config keep")).stdout).toBe("GITHUB_TOKEN\n");
    expect((await toolyard("config check")).stdout).not.toContain("GITHUB_TOKEN is not set");
    const text = await readFile(join(home, usersFile()), "utf8");
    expect(text).toContain('"GITHUB_TOKEN": "${GITHUB_TOKEN}"');
    expect(text).not.toContain(token);
    expect((await toolyard("import --yes")).stdout).toContain("Nothing was changed.");
  });

  test("a file that is there keeps its comments, order, mode and link, and a backup has it byte for byte", async () => {
    await writeClients();
    const text =
      '\uFEFF// mine\r\n{\r\n  "toolyard": { "port": 4000 }, // a port\r\n  "mcpServers": {\r\n    "starts": { "url": "http://a" }\r\n  }\r\n}\r\n';
    const real = await write("dotfiles/toolyard.json", text);
    await chmod(real, 0o640);
    await symlink(real, join(shop, "toolyard.json"));
    const { code, stdout } = await toolyard("import --yes");
    expect(code).toBe(0);
    expect(stdout).toMatch(/^\+ starts-cursor {2}sh/m);
    const written = await readFile(real, "utf8");
    expect(
      written.startsWith(
        '\uFEFF// mine\r\n{\r\n  "toolyard": { "port": 4000 }, // a port\r\n  "mcpServers": {\r\n    "starts": { "url": "http://a" },\r\n    "github": {\r\n',
      ),
    ).toBe(true);
    expect((await stat(real)).mode & 0o777).toBe(0o640);
    const backups = (await readdir(join(home, "dotfiles"))).filter((name) => name !== "toolyard.json");
    expect(backups).toEqual(["toolyard.json.bak"]);
    expect(await readFile(join(home, "dotfiles", backups[0] ?? ""), "utf8")).toBe(text);
  });

  test("a project's mcp.json belongs to its other clients, and is not written to", async () => {
    await writeClients();
    const file = await write("shop/.mcp.json", '{ "mcpServers": {} }');
    await toolyard("import --yes");
    expect(await readFile(file, "utf8")).toBe('{ "mcpServers": {} }');
    expect((await stat(join(home, usersFile()))).isFile()).toBe(true);
  });

  test("a configuration that is broken is told with its place, and left alone", async () => {
    await writeClients();
    const file = await write("shop/toolyard.json", '{ "mcpServers": {');
    const { code, stderr } = await toolyard("import --yes");
    expect([code, stderr]).toEqual([2, expect.stringMatching(/toolyard\.json:1:\d+: expected/)]);
    expect(await readFile(file, "utf8")).toBe('{ "mcpServers": {');
  });

  test("a read-only file stays as it is, and gets no backup", async () => {
    await writeClients();
    const file = await write("shop/toolyard.json", "{}");
    await chmod(file, 0o444);
    const { code, stderr } = await toolyard("import --yes");
    expect([code, stderr]).toEqual([1, expect.stringContaining("toolyard.json cannot be written: it is read-only")]);
    expect([await readFile(file, "utf8"), await readdir(shop)]).toEqual(["{}", ["toolyard.json"]]);
  });

  test("a folder that cannot be written to is told, and nothing is left behind", async () => {
    await writeClients();
    const file = await write("shop/toolyard.json", "{}");
    await mkdir(join(shop, "sub"));
    const { code, stderr } = await toolyard(`import --yes --config ${file}/toolyard.json`);
    expect([code, stderr]).toEqual([1, expect.stringContaining("cannot be written")]);
    expect((await readdir(shop)).toSorted()).toEqual(["sub", "toolyard.json"]);
  });

  test("only one client's servers, where that is asked for", async () => {
    await writeClients();
    const { stdout } = await toolyard("import --from lmstudio --json");
    expect(JSON.parse(stdout)).toMatchObject({
      servers: [{ name: "gh", seen: [{ client: "LM Studio" }] }],
      written: null,
    });
    const wrong = await toolyard("import --from emacs");
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining("claude-desktop, claude-code, cursor")]);
  });

  test("--json has the plan and what was written, and no secret", async () => {
    await writeClients();
    const { code, stdout } = await toolyard("import --json --yes");
    expect(code).toBe(0);
    expect(stdout).not.toContain(token);
    expect(JSON.parse(stdout)).toMatchObject({
      config: join(home, usersFile()),
      servers: [
        {
          name: "github",
          command: "npx -y server-github",
          marks: ["runs a download"],
          secrets: [{ where: "env.GITHUB_TOKEN", variable: "GITHUB_TOKEN", isSet: false }],
          configuredAs: null,
        },
        { name: "starts", marks: ["runs a shell"] },
      ],
      gateways: [{ name: "toolyard", isOurs: true }],
      problems: [],
      written: { file: join(home, usersFile()), backup: null },
    });
    expect((await toolyard("import --json")).code).toBe(0);
  });

  test("a home without any client has nothing to take over", async () => {
    const { code, stdout } = await toolyard("import");
    expect([code, stdout]).toEqual([
      0,
      "Found 0 servers in 0 clients. Nothing is started before you say so.\n\n\nThere is nothing to take over.\n",
    ]);
  });

  test("FAULT 92: arguments arrive in our configuration byte for byte", async () => {
    const args = ["a b", "'\"", ";", "$(id)", "two\nlines", "-x", "", "\u001b[31m", "ü\u202e"];
    await write(".cursor/mcp.json", JSON.stringify({ mcpServers: { a: { command: "x", args } } }));
    const { stdout } = await toolyard("import --yes");
    for (const hostile of ["\u001b", "\u202e"]) expect(stdout).not.toContain(hostile);
    expect(JSON.parse(await readFile(join(home, usersFile()), "utf8"))).toEqual({
      mcpServers: { a: { command: "x", args } },
    });
  });
});

describe("toolyard import on a terminal", () => {
  const start = () =>
    runOnTerminal({ args: ["import"], cwd: shop, env: { HOME: home, XDG_CONFIG_HOME: "", TERM: "xterm" } });

  test("asks which servers, how their secrets are written, and whether the change is made", async () => {
    await writeClients();
    await using terminal = start();
    await until(() => terminal.text().includes("Which of them?"));
    // The cursor stands on the first server: it is taken out.
    terminal.type(" ");
    await until(() => /◻[^\n]*github/.test(terminal.text()));
    terminal.type(" \r");
    await until(() => terminal.text().includes("How should they be written?"));
    terminal.type("\u001b[B\r");
    await until(() => terminal.text().includes("Write this to"));
    await expect(stat(join(home, usersFile()))).rejects.toThrow("ENOENT");
    terminal.type("\r");
    expect(await terminal.ended).toBe(0);
    expect(await readFile(join(home, usersFile()), "utf8")).toContain("${GITHUB_TOKEN}");
  });

  test("asks for variables that are not set, and inputs of VS Code, and keeps the answers encrypted", async () => {
    const env = { A: "${env:IMPORT_TEST_KEY}", B: "${input:import-id}", C: "${env:IMPORT_TEST_SET}" };
    await write(".cursor/mcp.json", JSON.stringify({ mcpServers: { asks: { command: "node", args: ["-v"], env } } }));
    const options = { HOME: home, XDG_CONFIG_HOME: "", TERM: "xterm", IMPORT_TEST_SET: "set-already" };
    await using terminal = runOnTerminal({ args: ["import"], cwd: shop, env: options });
    await until(() => terminal.text().includes("Which of them?"));
    terminal.type("\r");
    await until(() => terminal.text().includes("Write this to"));
    terminal.type("\r");
    await until(() => terminal.text().includes("IMPORT_TEST_KEY of asks is not set."));
    terminal.type("answer-of-the-person\r");
    await until(() => terminal.text().includes("TOOLYARD_INPUT_IMPORT_ID of asks is not set."));
    terminal.type("\r");
    expect(await terminal.ended).toBe(0);
    expect(terminal.text()).not.toContain("answer-of");
    expect(terminal.text()).not.toContain("IMPORT_TEST_SET of asks");
    expect(terminal.text()).toMatch(/set before the gateway starts:\s+TOOLYARD_INPUT_IMPORT_ID/);
    expect((await toolyard("config keep")).stdout).toBe("IMPORT_TEST_KEY\n");
    expect(await readFile(join(home, usersFile()), "utf8")).not.toContain("answer-of");
  });

  test("a no, and Ctrl-C, change nothing", async () => {
    await writeClients();
    await using first = start();
    await until(() => first.text().includes("Which of them?"));
    expect(await first.interrupt()).toBe(1);
    await using second = start();
    await until(() => second.text().includes("Which of them?"));
    second.type("\r");
    await until(() => second.text().includes("How should they be written?"));
    second.type("\r");
    await until(() => second.text().includes("Write this to"));
    second.type("n");
    expect(await second.ended).toBe(1);
    await expect(stat(join(home, usersFile()))).rejects.toThrow("ENOENT");
  });
});
