import { expect, test } from "vitest";
import { slices } from "./slices.ts";

/** Keeps the processor busy for longer than one turn may take. */
function* busy(name: string, turns: number, said: string[]): Generator<undefined, string> {
  for (let turn = 0; turn < turns; turn += 1) {
    const end = performance.now() + 9;
    while (performance.now() < end) Math.sqrt(turn);
    said.push(name);
    yield;
  }
  return name;
}

test("work that is short is done at once, and its result is given", async () => {
  const said: string[] = [];
  const work = slices.run(
    (function* () {
      said.push("worked");
      yield;
      return 7;
    })(),
  );
  expect(said).toEqual(["worked"]);
  expect(await work).toBe(7);
});

test("several long works take turns, and everything else of the process has its own between them", async () => {
  const said: string[] = [];
  const both = Promise.all([slices.run(busy("a", 3, said)), slices.run(busy("b", 3, said))]);
  let isOver = false;
  const others = (async () => {
    while (!isOver) {
      await new Promise((resolve) => setImmediate(resolve));
      said.push(".");
    }
  })();
  expect(await both).toEqual(["a", "b"]);
  isOver = true;
  await others;
  expect(said.filter((word) => word !== ".").join("")).toBe("aababb");
  // No two turns follow each other without a look at the rest, but for the first one, which is taken at once.
  expect(said.join("").replace(/^a/, "")).not.toMatch(/[ab]{2}/);
});

test("work that fails rejects, and the rest goes on", async () => {
  const said: string[] = [];
  const long = slices.run(busy("a", 2, said));
  const failing = slices.run(
    (function* () {
      yield;
      throw new Error("broken");
    })(),
  );
  await expect(failing).rejects.toThrow("broken");
  expect(await long).toBe("a");
});

test("twenty short works at the same time have one slice in a turn, and not one each", async () => {
  const spent: number[] = [];
  function* work(): Generator<undefined, void> {
    for (let step = 0; step < 3; step += 1) {
      const end = performance.now() + 1;
      while (performance.now() < end) Math.sqrt(step);
      yield;
    }
  }
  const startMs = performance.now();
  const all = Promise.all(Array.from({ length: 20 }, async () => await slices.run(work())));
  spent.push(performance.now() - startMs);
  let turns = 0;
  let isOver = false;
  const counting = (async () => {
    while (!isOver) {
      await new Promise((resolve) => setImmediate(resolve));
      turns += 1;
    }
  })();
  await all;
  isOver = true;
  await counting;
  // Sixty milliseconds of work: the first turn takes one slice for all of it, and not a slice for each.
  expect(spent[0]).toBeLessThan((performance.now() - startMs) / 2);
  expect(turns).toBeGreaterThan(8);
});
