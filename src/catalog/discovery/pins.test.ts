import { expect, test } from "vitest";
import { localPrincipal } from "../../kernel/principal.ts";
import type { PinChoice } from "../../config/rows/tool-rows.ts";
import { createPins, type ChosenPins } from "./pins.ts";

const dayMs = 86_400_000;

function setUp({ configured = ["a:x"] as PinChoice, own = undefined as PinChoice | undefined, fails = false } = {}) {
  const world = { configured, own, fails, nowMs: 0, reads: 0, used: ["a:often"] as readonly string[] };
  const failures: unknown[] = [];
  const store = {
    async of() {
      world.reads += 1;
      if (world.fails) throw new Error("no database");
      return world.own;
    },
    async choose(_person: string, choice: PinChoice | undefined) {
      world.own = choice;
    },
  };
  const pins = createPins({
    configured: () => world.configured,
    storeFor: async () => store,
    mostUsed: async () => world.used,
    clock: { monotonic: () => world.nowMs },
    onFailure: (error) => failures.push(error),
  });
  const paths = async (): Promise<readonly string[]> => (await pins.of(localPrincipal)).paths;
  return { world, pins, paths, failures };
}

test("a person's own choice goes before that of the configuration, until it is taken back", async () => {
  const { pins, paths } = setUp();
  expect(await paths()).toEqual(["a:x"]);
  await pins.choose(localPrincipal, ["b:y"]);
  expect(await paths()).toEqual(["b:y"]);
  await pins.choose(localPrincipal, []);
  expect(await paths()).toEqual([]);
  await pins.choose(localPrincipal, undefined);
  expect(await paths()).toEqual(["a:x"]);
});

test("what is known is told at once, and looked at again after ten seconds: another gateway may have changed it", async () => {
  const { world, pins, paths } = setUp();
  await paths();
  expect(pins.of(localPrincipal)).toEqual<ChosenPins>({ own: undefined, configured: ["a:x"], paths: ["a:x"] });
  expect(world.reads).toBe(1);
  world.own = ["c:z"];
  world.nowMs = 10_000;
  expect(await paths()).toEqual(["c:z"]);
});

test("what is used most is decided once a day, however much is called", async () => {
  const { world, paths } = setUp({ configured: "auto" });
  expect(await paths()).toEqual(["a:often"]);
  world.used = ["a:now"];
  world.nowMs = dayMs - 1;
  expect(await paths()).toEqual(["a:often"]);
  world.nowMs = dayMs;
  expect(await paths()).toEqual(["a:now"]);
});

test("where a choice cannot be read, that of the configuration holds", async () => {
  const { world, paths, failures } = setUp({ own: ["b:y"], fails: true });
  expect(await paths()).toEqual(["a:x"]);
  expect(failures).toHaveLength(1);
  world.fails = false;
  world.nowMs = 10_000;
  expect(await paths()).toEqual(["b:y"]);
});
