import { expect, test } from "vitest";
import { createManualClock, settle } from "../../../../test/harness/manual-clock.ts";
import type { PrincipalId } from "../../../kernel/ids.ts";
import { createStartQueue } from "./start-queue.ts";
import { withTurn } from "./start-turns.ts";

const { signal } = new AbortController();

test.each([
  ["of the configuration", null, 100],
  ["of a person", "alice" as PrincipalId, 2_000],
])("FAULTS 65, 86: a start %s that hangs gives its turn back, and goes on", async (_whose, owner, turnMs) => {
  const clock = createManualClock();
  const queue = createStartQueue(() => 1);
  const begun: string[] = [];
  const hangs = withTurn(queue, { owner, clock, signal }, async () => {
    begun.push("hangs");
    return await new Promise<never>(() => undefined);
  });
  void hangs;
  const next = withTurn(queue, { owner, clock, signal }, async () => begun.push("next"));
  await clock.advance(turnMs - 1);
  expect(begun).toEqual(["hangs"]);
  await clock.advance(1);
  expect(await next).toBe(2);
});

test("a start that is over gives its turn back at once", async () => {
  const clock = createManualClock();
  const queue = createStartQueue(() => 1);
  await withTurn(queue, { owner: null, clock, signal }, async () => undefined);
  const second = withTurn(queue, { owner: null, clock, signal }, async () => "second");
  await settle();
  expect(await second).toBe("second");
});
