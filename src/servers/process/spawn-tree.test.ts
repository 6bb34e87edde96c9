import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { findSurvivors, isAlive, until } from "../../../test/processes/survivors.ts";
import { childEnvironment } from "./child-environment.ts";
import { createGuardian, type Guardian } from "./guardian/guardian.ts";
import { spawnTree, type ProcessTree } from "./spawn-tree.ts";

const silent = { debug() {}, info() {}, warn() {}, error() {} };
const neverAborted = new AbortController().signal;
const patient = { timeoutMs: 60_000 };

let guardian: Guardian;
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), "toolyard-tree-"));
  guardian = createGuardian({
    environment: process.env,
    recordDirectory: path.join(folder, "processes"),
    log: silent,
  });
});

afterEach(async () => {
  await guardian[Symbol.asyncDispose]();
  expect(findSurvivors(guardian.gateway)).toEqual([]);
  rmSync(folder, { recursive: true, force: true });
});

function start(command: string, args: readonly string[] = [], cwd = folder): Promise<ProcessTree> {
  return spawnTree({ command, args, env: childEnvironment(process.env, { GREETING: "hello" }), cwd }, guardian);
}

function shell(script: string): Promise<ProcessTree> {
  return start("/bin/sh", ["-c", script]);
}

async function readAll(tree: ProcessTree): Promise<string> {
  tree.stderr.resume();
  return Buffer.concat(await tree.stdout.toArray()).toString();
}

async function firstLine(tree: ProcessTree): Promise<string> {
  return new Promise((resolve) => tree.stdout.once("data", (chunk: Buffer) => resolve(chunk.toString().trim())));
}

describe("starting", () => {
  test("hands over arguments byte for byte and exactly the environment that was given", async () => {
    const args = ["a b", "", '"quoted"', "$HOME `id` ; |", "ünï\n☃", "--", "*"];
    const tree = await start(process.execPath, [
      "-e",
      "console.log(JSON.stringify([process.argv.slice(1), process.env]))",
      "--",
      ...args,
    ]);
    const [argv, env] = JSON.parse(await readAll(tree)) as [string[], Record<string, string>];
    expect(argv).toEqual(args);
    expect(env).toEqual({
      ...childEnvironment(process.env, { GREETING: "hello" }),
      TOOLYARD_INSTANCE: `${guardian.gateway}.1`,
    });
    expect(await tree.exited).toEqual({ code: 0, signal: null });
    await tree.gone;
  });

  test("FAULT 64: says at once why a command cannot be started", async () => {
    writeFileSync(path.join(folder, "plain"), "echo");
    writeFileSync(path.join(folder, "orphan"), "#!/no/such/interpreter\n", { mode: 0o755 });
    mkdirSync(path.join(folder, "directory"));
    const reasons: readonly [attempt: () => Promise<ProcessTree>, reason: RegExp][] = [
      [() => start("no-such-command-anywhere"), /"no-such-command-anywhere": there is no such command on its PATH/],
      [() => start("./missing"), /there is no such file/],
      [() => start("./plain"), /may not be executed/],
      [() => start("./directory"), /is a directory/],
      [() => start(folder), /is a directory/],
      [() => start("./orphan"), /interpreter or loader that it names does not exist/],
      [() => start("/bin/sh", [], path.join(folder, "nowhere")), /working directory ".*nowhere" does not exist/],
      [() => start("/bin/sh", [], path.join(folder, "plain")), /working directory ".*plain" is not a directory/],
      [() => start("/bin/sh", ["zero\0byte"]), /zero byte/],
      [() => start("", []), /zero byte or is empty/],
      [() => start("/bin/sh", ["x".repeat(4 * 1024 * 1024)]), /too long/],
    ];
    for (const [attempt, message] of reasons) {
      await expect(attempt()).rejects.toMatchObject({
        code: "SPAWN_FAILED",
        message: expect.stringMatching(message),
      });
    }
  });

  test("starts no guardian before the first server, and one for all", async () => {
    expect(guardian.pid).toBeUndefined();
    const trees = await Promise.all([shell("cat"), shell("cat"), shell("cat")]);
    expect(findSurvivors("toolyard-guardian").filter((line) => line.startsWith(`${guardian.pid} `))).toHaveLength(1);
    await Promise.all(trees.map((tree) => tree.stop(patient, neverAborted)));
  });
});

describe("stopping", () => {
  test("a server that ends with its input gets no signal", async () => {
    const tree = await shell("trap 'echo signalled' TERM; cat >/dev/null; echo ended");
    const output = readAll(tree);
    await tree.stop(patient, neverAborted);
    expect(await output).toBe("ended\n");
    expect(await tree.exited).toEqual({ code: 0, signal: null });
  });

  test("SIGTERM reaches every member, and members have time to end in order", async () => {
    const done = path.join(folder, "done");
    const tree = await shell(
      `sh -c 'trap "sleep 0.2; echo child >>${done}; exit" TERM; echo up; while :; do sleep 0.01; done' & exec sleep 1000`,
    );
    await firstLine(tree);
    await tree.stop(patient, neverAborted);
    expect(await tree.exited).toEqual({ code: null, signal: "SIGTERM" });
    await expect(import("node:fs/promises").then((fs) => fs.readFile(done, "utf8"))).resolves.toBe("child\n");
  });

  test("FAULT 77: what ignores end of input and SIGTERM is killed at the deadline", async () => {
    const tree = await shell("trap '' TERM; sh -c 'echo up; while :; do sleep 1; done'");
    await firstLine(tree);
    await tree.stop({ timeoutMs: 300 }, neverAborted);
    expect(await tree.exited).toEqual({ code: null, signal: "SIGKILL" });
    expect(isAlive(tree.pid)).toBe(false);
  });

  test("an abort ends the patience, not the stop", async () => {
    const tree = await shell("trap '' TERM; echo up; while :; do sleep 1; done");
    await firstLine(tree);
    const impatience = new AbortController();
    const stopped = tree.stop(patient, impatience.signal);
    impatience.abort();
    await stopped;
    expect(await tree.exited).toMatchObject({ signal: "SIGKILL" });
  });

  test("FAULT 78: forked, daemonised, setsid and stopped children are gone too", async () => {
    const token = `tree-${process.pid}-everything`;
    const tree = await shell(`
      trap '' TERM
      sh -c 'trap "" TERM; while :; do sleep 1; done' ${token} &
      setsid sh -c 'trap "" TERM; while :; do sleep 1; done' ${token} &
      ( ( setsid sh -c 'trap "" TERM; while :; do sleep 1; done' ${token} </dev/null >/dev/null 2>&1 & ) & )
      setsid env -i PATH="$PATH" sh -c 'trap "" TERM; while :; do sleep 1; done' ${token} &
      setsid sh -c 'while :; do setsid sh -c "sleep 2" $0 & sleep 0.02; done' ${token} </dev/null &
      sh -c 'kill -STOP $$; sleep 1000' ${token} &
      sleep 0.3; echo up; while :; do sleep 1; done`);
    await firstLine(tree);
    expect((await tree.usage()).processes).toBeGreaterThanOrEqual(8);
    await tree.stop({ timeoutMs: 500 }, neverAborted);
    expect(findSurvivors(token)).toEqual([]);
  });

  test("FAULT 78: a child with a session and an environment of its own goes too, when the server ends with its input", async () => {
    const token = `tree-${process.pid}-stranger`;
    const stranger = `setsid env -i PATH="$PATH" sh -c 'echo up; while :; do sleep 1; done' ${token}`;
    const stopped = await shell(`${stranger} & cat >/dev/null`);
    await firstLine(stopped);
    await stopped.stop(patient, neverAborted);
    expect(findSurvivors(token)).toEqual([]);
    const crashed = await shell(`${stranger} & cat >/dev/null; exit 1`);
    await firstLine(crashed);
    await crashed.usage();
    crashed.stdin.end();
    await crashed.gone;
    expect(findSurvivors(token)).toEqual([]);
  });

  test("FAULT 80: a stopped server hears SIGTERM", async () => {
    const tree = await shell("trap 'exit 7' TERM; echo up; kill -STOP $$; while :; do sleep 0.01; done");
    await firstLine(tree);
    await tree.stop(patient, neverAborted);
    expect(await tree.exited).toEqual({ code: 7, signal: null });
  });

  test("kill needs no patience, and both may be called at any time and again", async () => {
    const tree = await shell("trap '' TERM; while :; do sleep 1; done");
    tree.kill();
    tree.kill();
    await Promise.all([tree.gone, tree.stop(patient, neverAborted)]);
    tree.kill();
    await tree.stop(patient, neverAborted);
    expect(await tree.exited).toEqual({ code: null, signal: "SIGKILL" });
    expect(await tree.usage()).toEqual({ processes: 0, residentBytes: 0 });
  });
});

describe("a server that exits by itself", () => {
  test("FAULT 75: is over although a grandchild holds its stdout, and the grandchild ends", async () => {
    const token = `holder-${process.pid}`;
    const tree = await shell(`setsid sh -c 'trap "" TERM HUP; while :; do sleep 1; done' ${token} & exit 3`);
    expect(await tree.exited).toEqual({ code: 3, signal: null });
    const rest = readAll(tree);
    await tree.gone;
    expect(await rest).toBe("");
    expect(findSurvivors(token)).toEqual([]);
  });

  test.each(["SIGKILL", "SIGSEGV"] as const)("FAULT 74: death by %s is told as it was", async (signal) => {
    const tree = await shell(`kill -${signal.slice(3)} $$`);
    expect(await tree.exited).toEqual({ code: null, signal });
    await tree.gone;
  });

  test("writing to it breaks nothing", async () => {
    const tree = await shell("exit 0");
    tree.stdin.write("x".repeat(1024 * 1024));
    await tree.gone;
    tree.stdin.write("late");
    expect(isAlive(tree.pid)).toBe(false);
  });
});

describe("the guardian", () => {
  test("its end takes every tree that is left, and then nothing starts any more", async () => {
    const token = `left-${process.pid}`;
    const tree = await shell(
      `trap '' TERM; setsid sh -c 'while :; do sleep 1; done' ${token} & while :; do sleep 1; done`,
    );
    await until(() => findSurvivors(token).length > 0);
    await guardian[Symbol.asyncDispose]();
    expect(findSurvivors(token)).toEqual([]);
    await tree.gone;
    await expect(shell("true")).rejects.toMatchObject({ code: "DRAINING" });
  });

  test("takes with it who is in a session that it was told of", async () => {
    const founder = await shell("cat");
    const stranger = spawn("sleep", ["1000"], { detached: true, stdio: "ignore", env: {} });
    const ended = once(stranger, "exit");
    guardian.note(founder.pid, [stranger.pid as number]);
    await guardian[Symbol.asyncDispose]();
    expect(await ended).toEqual([null, "SIGKILL"]);
    await founder.gone;
  });

  test("a gateway that is a server itself keeps its own marks beside the outer gateway's", async () => {
    const outer = `${"ab".repeat(16)}.7`;
    await using inner = createGuardian({
      environment: { ...process.env, TOOLYARD_INSTANCE: outer },
      recordDirectory: undefined,
      log: silent,
    });
    const tree = await spawnTree(
      { command: "/bin/sh", args: ["-c", "echo $TOOLYARD_INSTANCE"], env: {}, cwd: "/" },
      inner,
    );
    expect(await readAll(tree)).toBe(`${outer}/${inner.gateway}.1\n`);
    await tree.gone;
  });

  test("many starts and stops leave no process, descriptor or listener", async () => {
    await shell("exit 0").then((tree) => tree.gone);
    const before = process.getActiveResourcesInfo().length;
    for (let round = 0; round < 10; round += 1) {
      const trees = await Promise.all(Array.from({ length: 10 }, () => shell("cat")));
      for (const tree of trees) {
        tree.stdout.resume();
        tree.stderr.resume();
      }
      await Promise.all(trees.map((tree) => tree.stop(patient, neverAborted)));
    }
    await until(() => process.getActiveResourcesInfo().length <= before);
  });
});
