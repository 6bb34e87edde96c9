import { expect, test } from "vitest";
import { createChangeListeners, readAnew } from "./change-listeners.ts";
import type { StateChange } from "../state/state-changes.ts";

const change = (seq: number, kind = "changePeople", origin = "other"): StateChange => {
  return { seq, kind, origin, detail: `${seq}` };
};

function listening() {
  const listeners = createChangeListeners("own");
  const told: (string | undefined)[] = [];
  listeners.listen("changePeople", (detail) => told.push(detail));
  listeners.listen("changeInstalls", (detail) => told.push(`installs ${detail}`));
  return { listeners, told };
}

test("what others changed is told once, to whom it concerns, and what this gateway changed is not", () => {
  const { listeners, told } = listening();
  const changes = [change(1), change(2, "changeInstalls"), change(3, "changePeople", "own"), change(4, "changeAccess")];
  listeners.tell({ seq: 4, changes });
  expect(told).toEqual(["1", "installs 2"]);
  listeners.tell({ seq: 5, changes: [...changes, change(5)] });
  expect(told).toEqual(["1", "installs 2", "5"]);
  expect([listeners.seen("changePeople"), listeners.seen("changeInstalls")]).toEqual([5, 5]);
});

test("of a kind that only a newer version knows, everything is to be read again", () => {
  const { listeners, told } = listening();
  for (const kind of ["changePeople", "changeInstalls"] as const) listeners.saw(kind, 1);
  listeners.tell({ seq: 3, changes: [change(2), change(3, "changeUnheardOf")] });
  expect(told).toEqual([undefined, "installs undefined"]);
  expect([listeners.seen("changePeople"), listeners.seen("changeInstalls")]).toEqual([1, 1]);
  for (const kind of ["changePeople", "changeInstalls"] as const) listeners.saw(kind, 3);
  listeners.tell({ seq: 4, changes: [change(3, "changeUnheardOf"), change(4, "changeUnheardOf", "own")] });
  expect(told).toHaveLength(2);
  expect([listeners.seen("changePeople"), listeners.seen("changeInstalls")]).toEqual([4, 4]);
});

test("what was read with one kind says nothing of another", () => {
  const { listeners, told } = listening();
  listeners.saw("changePeople", 9);
  listeners.tell({ seq: 9, changes: [change(8), change(9, "changeInstalls")] });
  expect(told).toEqual(["installs 9"]);
});

test("where changes are missing, everything is to be read again", () => {
  const { listeners, told } = listening();
  listeners.tell({ seq: 99, changes: undefined });
  listeners.tell({ seq: 100, changes: [{ ...change(100), detail: "" }] });
  expect(told).toEqual([undefined, "installs undefined", undefined]);
});

test("what has to be read anew counts as known from when it was read, whatever is told in between", () => {
  const { listeners } = listening();
  listeners.saw("changeInstalls", 1);
  listeners.tell({ seq: 2, changes: [{ ...change(2, "changeInstalls"), detail: "" }] });
  listeners.tell({ seq: 3, changes: [change(3)] });
  expect([listeners.seen("changePeople"), listeners.seen("changeInstalls")]).toEqual([3, 1]);
  listeners.saw("changeInstalls", 1);
  expect(listeners.seen("changeInstalls")).toBe(1);
  listeners.saw("changeInstalls", 3);
  listeners.tell({ seq: 4, changes: [change(4)] });
  expect(listeners.seen("changeInstalls")).toBe(4);
});

test.each(["with what it was", "and is to be read anew, too"])(
  "what is told while everything is read anew, %s, is not undone by what was read before it",
  async (how) => {
    const { listeners } = listening();
    listeners.saw("changePeople", 1);
    listeners.tell({ seq: 9, changes: undefined });
    const answers = [9, 10];
    const rows = await readAnew(listeners, "changePeople", async () => {
      const seq = answers.shift() ?? 0;
      // Another gateway takes somebody away after this one was answered, and before it hears the answer.
      if (seq === 9) listeners.tell({ seq: 10, changes: how.startsWith("with") ? [change(10)] : undefined });
      return await Promise.resolve({ seq, people: `as of ${seq}` });
    });
    expect(rows).toEqual({ people: "as of 10" });
    expect(listeners.seen("changePeople")).toBe(10);
  },
);

test("who listens no more is told nothing", () => {
  const listeners = createChangeListeners("own");
  let calls = 0;
  const end = listeners.listen("changePeople", () => (calls += 1));
  end();
  listeners.tell({ seq: 1, changes: [change(1)] });
  expect([calls, listeners.seen("changePeople")]).toEqual([0, 1]);
});

test("after a loss numbers come again: nothing is known until everything was read, and then news counts", () => {
  const { listeners, told } = listening();
  listeners.saw("changePeople", 9);
  listeners.wrote("changePeople", 12);
  listeners.tell({ seq: 7, changes: undefined, hasLost: true });
  // Less than any number: a plan with old rows is behind.
  expect([listeners.seen("changePeople"), listeners.seen("changeInstalls")]).toEqual([-1, -1]);
  expect(listeners.least("changePeople")).toBe(7);
  listeners.saw("changePeople", 7);
  listeners.tell({ seq: 8, changes: [change(8)] });
  expect([listeners.seen("changePeople"), told]).toEqual([8, [undefined, "installs undefined", "8"]]);
});
