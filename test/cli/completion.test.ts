import { execFile, spawnSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runCommand } from "../harness/command.ts";
import { badServer, mainFile, startGateway, type RunningGateway } from "../harness/gateway.ts";
import { untilOnline } from "../harness/rest.ts";

const execute = promisify(execFile);

let directory: string;
let gateway: RunningGateway;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "toolyard-completion-"));
  gateway = await startGateway({
    directory,
    config: {
      mcpServers: {
        bad: { ...badServer("--behaviours=strict,image,pid"), tools: { deny: ["pid"], rename: { image: "picture" } } },
        "other-one": badServer("--behaviours=echo"),
      },
    },
  });
  await untilOnline(gateway.url);
  for (const shell of ["bash", "zsh", "fish", "powershell"]) {
    const { stdout, code } = await runCommand(["completion", shell]);
    expect(code).toBe(0);
    await writeFile(join(directory, `completion.${shell}`), stdout);
  }
  // What was kept is enough: nothing has to run.
  await gateway.stop();
});
afterAll(async () => await rm(directory, { recursive: true, force: true }));

const environment = (): NodeJS.ProcessEnv => ({
  ...process.env,
  TOOLYARD_CONFIG: gateway.configFile,
  TOOLYARD_DATA_DIR: join(directory, "data"),
});

/** What a real bash would replace the word at the cursor with. */
async function inBash(line: string): Promise<readonly string[]> {
  const script = `source "$1"
    COMP_LINE="$2"; COMP_POINT=\${#2}
    _toolyard
    printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout } = await execute("bash", ["-c", script, "bash", join(directory, "completion.bash"), line], {
    env: environment(),
  });
  return stdout.split("\n").filter((word) => word !== "");
}

async function inFish(line: string): Promise<readonly string[]> {
  const { stdout } = await execute(
    "fish",
    ["--no-config", "-c", `source ${join(directory, "completion.fish")}; complete -C ${JSON.stringify(line)}`],
    { env: { ...environment(), HOME: directory } },
  );
  return stdout.split("\n").flatMap((found) => (found === "" ? [] : [found.split("\t", 1)[0] as string]));
}

describe("bash", () => {
  test.each<[line: string, words: string[]]>([
    ["toolyard sea", ["search"]],
    ["toolyard search --expl", ["--explain"]],
    ["toolyard tools ", ["bad", "other-one"]],
    ["toolyard search --server o", ["other-one"]],
    // bash splits at colons: only what follows the last one is replaced.
    ["toolyard call bad:", ["strict", "picture"]],
    ["toolyard call other-one:e", ["echo"]],
    ["toolyard call oth", ["other-one:echo"]],
    ["toolyard call bad:strict ", ["name=", "count="]],
    ["toolyard call bad:strict name=x ", ["count="]],
    ["toolyard completion f", ["fish"]],
    ["toolyard nonsense ", []],
  ])("%j", async (line, words) => expect([...(await inBash(line))].toSorted()).toEqual([...words].toSorted()));

  test("nothing of the line is run", async () => {
    const file = join(directory, "was-run");
    await inBash(`toolyard call $(touch ${file}) \`touch ${file}\` `);
    expect(existsSync(file)).toBe(false);
  });

  test("a configuration that is named on the line counts, and one that is broken is passed over in silence", async () => {
    const other = join(directory, "other.json");
    await writeFile(other, JSON.stringify({ mcpServers: { third: badServer() } }));
    expect(await inBash(`toolyard tools --config ${other} `)).toEqual(["third"]);
    await writeFile(other, "{");
    expect(await inBash(`toolyard tools --config ${other} `)).toEqual([]);
  });
});

const hasFish = spawnSync("fish", ["--version"]).status === 0;
describe.skipIf(!hasFish)("fish", () => {
  test.each<[line: string, words: string[]]>([
    ["toolyard sea", ["search"]],
    ["toolyard tools ", ["bad", "other-one"]],
    ["toolyard call bad:", ["bad:strict", "bad:picture"]],
  ])("%j", async (line, words) => expect([...(await inFish(line))].toSorted()).toEqual([...words].toSorted()));
});

const hasZsh = spawnSync("zsh", ["--version"]).status === 0;
test.skipIf(!hasZsh)("zsh takes the script, and is given words with what they are for", async () => {
  const script = `autoload -Uz compinit; compinit -u -d ${join(directory, "zcompdump")}; source ${join(directory, "completion.zsh")}; print $_comps[toolyard]`;
  const { stdout, stderr } = await execute("zsh", ["-f", "-c", script], { env: environment() });
  expect({ stdout, stderr }).toEqual({ stdout: "_toolyard\n", stderr: "" });
  const offered = await execute(process.execPath, [mainFile, "complete", "zsh", ".bad:s", "call"], {
    env: environment(),
  });
  expect(offered.stdout).toMatch(/^bad:strict\tNeeds `name`/);
});

test("an unknown shell is wrong usage", async () => {
  const { code, stderr } = await runCommand(["completion", "tcsh"]);
  expect(code).toBe(2);
  expect(stderr).toContain("bash, zsh, fish, powershell");
});
