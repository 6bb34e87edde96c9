import { expect, test } from "vitest";
import { createManualClock, settle } from "../../../../test/harness/manual-clock.ts";
import type { StdioTransport } from "../../../config/config.ts";
import { createStartQueue } from "./start-queue.ts";
import { createStartTurns } from "./start-turns.ts";

const starter = { owner: null, clock: createManualClock(), signal: new AbortController().signal };
const npx = (...args: string[]): StdioTransport => ({ kind: "stdio", command: "npx", args, env: {}, cwd: "/" });

function world() {
  const turns = createStartTurns({ starts: createStartQueue(() => 10), installs: createStartQueue(() => 2) });
  const begun: string[] = [];
  const ends = new Map<string, (error?: Error) => void>();
  const run = (name: string, transport: StdioTransport) =>
    turns.run(transport, starter, async () => {
      begun.push(name);
      await new Promise<void>((resolve, reject) =>
        ends.set(name, (error) => (error === undefined ? resolve() : reject(error))),
      );
    });
  return { turns, begun, run, end: (name: string, error?: Error) => ends.get(name)?.(error) };
}

test("an install that failed gives its turn to the next, and is no install that is done", async () => {
  const { begun, run, end } = world();
  const first = run("first", npx("one"));
  const rest = [run("two", npx("two")), run("again", npx("one", "--other-argument")), run("three", npx("three"))];
  await settle();
  expect(begun).toEqual(["first", "two"]);
  end("first", new Error("404"));
  await expect(first).rejects.toThrow("404");
  await settle();
  expect(begun).toEqual(["first", "two", "three"]);
  end("two");
  await settle();
  expect(begun).toEqual(["first", "two", "three", "again"]);
  for (const name of ["three", "again"]) end(name);
  await Promise.all(rest);
});

test("the second server of a package that is installed needs no turn among the installs", async () => {
  const { turns, begun, run, end } = world();
  turns.noteInstalled(npx("-y", "one"));
  const all = [run("two", npx("two")), run("three", npx("three")), run("one", npx("one", "/data"))];
  await settle();
  expect(begun.toSorted()).toEqual(["one", "three", "two"]);
  for (const name of begun) end(name);
  await Promise.all(all);
});

test("whoever waits for another's install gives up when it is told to", async () => {
  const { turns, begun, run, end } = world();
  const first = run("first", npx("one"));
  const controller = new AbortController();
  const second = turns.run(npx("one"), { ...starter, signal: controller.signal }, async () => undefined);
  await settle();
  controller.abort(new Error("enough"));
  await expect(second).rejects.toThrow("enough");
  expect(begun).toEqual(["first"]);
  end("first");
  await first;
});
