import { expect, test } from "vitest";
import { createManualClock } from "../../../test/harness/manual-clock.ts";
import type { StoreHealth, StoreProblem } from "../../store/record-store.ts";
import { createDatabaseContact } from "./database-contact.ts";

const away: StoreProblem = { database: null, kind: "away", message: "it cannot be reached", hint: "" };

function begin() {
  const clock = createManualClock();
  const listeners = new Set<(health: StoreHealth) => void>();
  const told: boolean[] = [];
  const contact = createDatabaseContact({
    clock,
    store: {
      health: () => ({ status: "ready", problems: [] }),
      onHealth(listener) {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
    },
    longestMs: () => 30_000,
    onChange: (isCut) => told.push(isCut),
  });
  const say = (...problems: StoreProblem[]): void => {
    for (const listener of listeners) listener({ status: problems.length === 0 ? "ready" : "degraded", problems });
  };
  return { clock, contact, told, say, listeners };
}

test("nobody is let in when the database was silent for too long, counted from when it was last heard", async () => {
  const { clock, contact, told, say } = begin();
  say({ ...away, unheardMs: 7_000 });
  await clock.advance(22_999);
  expect([contact.isCut, contact.refusal()]).toEqual([false, undefined]);
  // Another sentence about the same silence begins nothing anew.
  say({ ...away, message: "it refuses", unheardMs: 0 });
  await clock.advance(1);
  expect(contact.refusal()).toMatchObject({ code: "DATABASE_SILENT", message: expect.stringContaining("it refuses") });
  say();
  expect([contact.isCut, contact.refusal(), told]).toEqual([false, undefined, [true, false]]);
});

test("a database that comes back in time takes nothing from anybody, and the next silence is counted anew", async () => {
  const { clock, contact, told, say } = begin();
  say(away);
  await clock.advance(29_000);
  say();
  await clock.advance(60_000);
  say(away);
  await clock.advance(29_000);
  expect([contact.isCut, told]).toEqual([false, []]);
  await clock.advance(1_000);
  expect([contact.isCut, told]).toEqual([true, [true]]);
});

test("a gateway that stops listens no more", async () => {
  const { clock, contact, told, say, listeners } = begin();
  say(away);
  contact.stop();
  await clock.advance(60_000);
  expect([listeners.size, told]).toEqual([0, []]);
});
