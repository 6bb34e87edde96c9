import { expect, test } from "vitest";
import { createSlices } from "./slices.ts";

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
  const work = createSlices().run(
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
  const slices = createSlices();
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
  const slices = createSlices();
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
