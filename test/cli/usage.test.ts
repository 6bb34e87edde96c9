import { afterAll, beforeAll, expect, test } from "vitest";
import { spawn } from "node:child_process";
import { join } from "node:path";
import { runCommand, type CommandResult } from "../harness/command.ts";
import { mainFile } from "../harness/gateway.ts";
import { addCast, startTeamGateway, type Cast, type TeamGateway } from "../harness/team-gateway.ts";
import { until } from "../harness/until.ts";

let team: TeamGateway;
let cast: Cast;
let place: readonly string[];
beforeAll(async () => {
  team = await startTeamGateway();
  cast = await addCast(team);
  place = ["--config", team.gateway.configFile, "--data-dir", join(team.directory, "data")];
});
afterAll(async () => await team[Symbol.asyncDispose]());

const toolyard = async (...words: string[]): Promise<CommandResult> => await runCommand([...words, ...place]);

interface Sum {
  readonly group: Readonly<Record<string, string>>;
  readonly calls: number;
  readonly errors: number;
}

test("usage sums up what was called, by what is asked for, with people by their names", async () => {
  for (const who of ["bob", "bob", "cid"] as const)
    await team.ask(cast[who], "POST", "/execute/own%3Aenv", { body: {} });
  const sums = async (...words: string[]): Promise<{ usage: readonly Sum[]; names: Record<string, string> }> =>
    await team.command("usage", ...words);
  const byTeam = await until(async () => {
    const found = (await sums("--by", "team")).usage.map(({ group, calls }) => [group["team"], calls]);
    return found.length === 2 && found;
  });
  expect(byTeam).toEqual([
    ["red", 2],
    ["blue", 1],
  ]);
  const { usage: people, names } = await sums("--by", "principal,tool", "--team", "red");
  expect(people).toMatchObject([{ calls: 2, errors: 0 }]);
  expect(names[people[0]?.group["principal"] ?? ""]).toBe("bob (red)");
  expect((await sums("--tool", "own:nothing")).usage).toEqual([]);
  const { code, stdout } = await toolyard("usage", "--by", "principal");
  expect(code).toBe(0);
  expect(stdout.split("\n")[0]).toMatch(/^PRINCIPAL +CALLS +FAILED +MEAN +LONGEST +TOKENS IN +OUT$/);
  expect(stdout).toMatch(/^bob \(red\) +2 +0 /m);
});

test("usage says what it cannot do, and of what it is one", async () => {
  for (const [words, text] of [
    [["--by", "server,moon"], "hour, day, team"],
    [["--by", "server,server"], "each once"],
    [["--by", "server,tool,client,team"], "more than three"],
  ] as const) {
    const { code, stderr } = await toolyard("usage", ...words);
    expect([words, code, stderr]).toEqual([words, 1, expect.stringContaining(text)]);
  }
  const wrong = await toolyard("usage", "--days", "0");
  expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining("--days")]);
});

test("audit --follow shows what comes, each entry once, until the gateway ends", async () => {
  const child = spawn(process.execPath, [mainFile, "audit", "-f", "--json", ...place], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let stdout = "";
  child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
  const ended = new Promise<number | null>((resolve) => child.once("exit", resolve));
  try {
    const entries = () =>
      stdout
        .split("\n")
        .filter((line) => line.endsWith("}"))
        .map((line) => JSON.parse(line) as { seq: number; action: string; object: string });
    await until(() => entries().length > 0);
    // At first some of those that there are.
    expect(entries().length).toBeLessThanOrEqual(10);
    for (const slug of ["green", "grey"]) await team.ask(cast.ann, "POST", "/api/teams", { body: { slug } });
    await until(() => ["green", "grey"].every((slug) => entries().some(({ object }) => object === slug)));
    const numbers = entries().map(({ seq }) => seq);
    expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => a - b));
    await team.gateway.stop();
    expect(await ended).toBe(0);
  } finally {
    child.kill();
    await ended;
  }
  for (const words of [
    ["verify", "-f"],
    ["export", "--follow"],
    ["verify", "--limit", "3"],
    ["--format", "csv"],
  ]) {
    const { code, stderr } = await toolyard("audit", ...words);
    expect([code, stderr]).toEqual([2, expect.stringContaining("audit verify, or audit export")]);
  }
  const alone = await toolyard("audit", "-f");
  expect([alone.code, alone.stderr]).toEqual([1, expect.stringContaining("no gateway runs")]);
});
