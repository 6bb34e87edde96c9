import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { badServer, badServerFile, startGateway, type RunningGateway } from "../harness/gateway.ts";
import { execute } from "../harness/rpc.ts";
import { until } from "../harness/until.ts";
import { standingOf } from "../instances/observing.ts";

let directory: string;
let begun: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "toolyard-runners-"));
  begun = join(directory, "begun");
});
afterEach(async () => await rm(directory, { recursive: true, force: true }));

/**
 * A program of that name which does as the script says, and a server's entry that starts it as a runner. `$1` is the
 * package.
 */
async function runner(program: string, script: string): Promise<(name: string) => object> {
  const bin = join(directory, "bin");
  await mkdir(bin, { recursive: true });
  const file = join(bin, program);
  await writeFile(file, `#!/bin/bash\n[ "$1" = run ] && shift\necho "$1" >> '${begun}'\n${script}\n`);
  await chmod(file, 0o755);
  const words = program === "docker" || program === "pipx" ? ["run"] : [];
  return (name) => ({
    command: program,
    args: [...words, name],
    env: { PATH: `${bin}${delimiter}${process.env["PATH"] ?? ""}` },
  });
}

const server = `exec '${process.execPath}' '${badServerFile}'`;
const begunNow = async (): Promise<readonly string[]> =>
  (await readFile(begun, "utf8").catch(() => "")).split("\n").filter(Boolean);
const statusOf = async (gateway: RunningGateway, name: string): Promise<string> =>
  (await standingOf(gateway.url, name)).status;

test("runners install two at a time until they are up, and hold up nobody else", async () => {
  const gate = (name: string): string => join(directory, `open-${name}`);
  const gated = `while [ ! -e '${directory}'/"open-$1" ]; do sleep 0.05; done\n${server}`;
  const [npx, uvx, docker, pipx] = [
    await runner("npx", gated),
    await runner("uvx", gated),
    await runner("docker", gated),
    await runner("pipx", gated),
  ];
  const mcpServers = { a: npx("a"), b: uvx("b"), c: docker("c"), d: pipx("d"), plain: badServer() };
  await using gateway = await startGateway({ config: { mcpServers }, directory });
  await until(async () => (await begunNow()).length === 2);
  // Later in the file than all of them: had it to wait for a turn of theirs, it never came up.
  await until(async () => (await statusOf(gateway, "plain")) === "online");
  expect(await begunNow()).toEqual(["a", "b"]);
  await writeFile(gate("b"), "");
  await until(async () => (await begunNow()).length === 3);
  expect(await statusOf(gateway, "b")).toMatch(/^(discovering_tools|syncing_tools|online)$/);
  expect(await begunNow()).toEqual(["a", "b", "c"]);
  for (const name of ["a", "c", "d"]) await writeFile(gate(name), "");
  for (const name of ["a", "c", "d"]) await until(async () => (await statusOf(gateway, name)) === "online");
});

test("one package is not installed twice at the same time", async () => {
  const npx = await runner("npx", `while [ ! -e '${directory}/open' ]; do sleep 0.05; done\n${server}`);
  const twin = npx("same") as { args: readonly string[] };
  const mcpServers = { one: { ...twin, args: ["same", "--stderr-lines", "1"] }, two: twin, other: npx("other") };
  await using gateway = await startGateway({ config: { mcpServers }, directory });
  await until(async () => (await begunNow()).includes("other"));
  expect((await begunNow()).filter((name) => name === "same")).toHaveLength(1);
  await writeFile(join(directory, "open"), "");
  for (const name of ["one", "two", "other"]) await until(async () => (await statusOf(gateway, name)) === "online");
});

test("what was online once with its specification is not installed again: it starts like any other server", async () => {
  const gated = `while [ -e '${directory}/closed' ]; do sleep 0.05; done\n${server}`;
  const npx = await runner("npx", gated);
  const names = ["a", "b", "c", "d"];
  const config = {
    mcpServers: Object.fromEntries(names.map((name) => [name, npx(name)])),
    toolyard: { instances: { parallelStarts: 1 } },
  };
  {
    await using first = await startGateway({ config, directory });
    for (const name of names) await until(async () => (await statusOf(first, name)) === "online");
  }
  await writeFile(join(directory, "closed"), "");
  await using gateway = await startGateway({ config, directory });
  const calls = names.map(async (name) => await execute(gateway.url, `${name}:echo`));
  await until(async () => (await begunNow()).length === 2 * names.length);
  await rm(join(directory, "closed"));
  for (const result of await Promise.all(calls)) expect(result.isError).not.toBe(true);
});

test("the deadline counts time without any sign of work, and a runner that works is waited for", async () => {
  const busy = `while [ ! -e '${directory}/open' ]; do head -c 100000 /dev/zero > /dev/null; sleep 0.1; done\n${server}`;
  const npx = await runner("npx", busy);
  const uvx = await runner("uvx", "echo 'Error: the index is silent' >&2\nexec sleep 600");
  const mcpServers = { works: npx("works"), hangs: uvx("hangs") };
  await using gateway = await startGateway({
    config: { mcpServers, toolyard: { instances: { runnerQuietMs: 2_000, runnerStopMs: 500 } } },
    directory,
  });
  const { reason } = await until(async () => {
    const standing = await standingOf(gateway.url, "hangs");
    return standing.status === "error" && standing;
  });
  expect(reason).toBe(
    "hangs did not come up, and showed no sign of work for 2 s; its last output: Error: the index is silent",
  );
  expect(await statusOf(gateway, "works")).toBe("connecting");
  await writeFile(join(directory, "open"), "");
  await until(async () => (await statusOf(gateway, "works")) === "online");
  expect(await begunNow()).toHaveLength(2);
});

test("work does not help beyond the whole limit", async () => {
  const npx = await runner("npx", "while :; do head -c 100000 /dev/zero > /dev/null; sleep 0.1; done");
  await using gateway = await startGateway({
    config: {
      mcpServers: { endless: npx("endless") },
      toolyard: { instances: { runnerQuietMs: 1_000, runnerStartMs: 3_000, runnerStopMs: 500 } },
    },
    directory,
  });
  await until(async () => (await statusOf(gateway, "endless")) === "error");
  expect((await standingOf(gateway.url, "endless")).reason).toBe("endless did not come up within 3 s");
});

test("a runner whose start is given up is asked to end, and has time to put its things in order", async () => {
  const tidied = join(directory, "tidied");
  const npx = await runner("npx", `trap "sleep 1; echo tidy > '${tidied}'; exit 1" TERM\nwhile :; do sleep 0.1; done`);
  await using gateway = await startGateway({
    config: { mcpServers: { careful: { ...npx("careful"), startTimeoutMs: 1_000 } } },
    directory,
  });
  await until(async () => (await statusOf(gateway, "careful")) === "error");
  expect(await readFile(tidied, "utf8")).toBe("tidy\n");
});
