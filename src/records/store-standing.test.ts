import { expect, test } from "vitest";
import type { RecordStore, StoreProblem } from "../store/record-store.ts";
import { readStoreStanding, requireStore, unusableStore, type StoreSource } from "./store-standing.ts";

const problem: StoreProblem = { database: "state", kind: "damaged", message: "state.db is damaged", hint: "Mend it." };
const none: StoreSource = { isOn: true, store: () => undefined, problems: () => [], dropped: 0 };

const figures = {
  queuedRows: 3,
  sentRows: 4,
  writtenRows: 0,
  droppedRows: { queue: 1, database: 2, worker: 0, row: 0, closed: 0 },
  commits: 0,
  commitMsSum: 0,
  commitMsMax: 0,
  workerStarts: 1,
};

test.each([
  ["off", { ...none, isOn: false }, /records\.store is off/, /"sqlite"/],
  ["opening", none, /is being opened/, /in a moment/],
  ["failed", { ...none, problems: () => [problem] }, /state\.db is damaged/, /Mend it/],
] as const)("a store that is %s says so to whoever asks for records", (status, source, message, hint) => {
  expect(readStoreStanding(source)).toMatchObject({ status, waitingRows: 0 });
  expect(() => requireStore(source)).toThrow(
    expect.objectContaining({
      code: "STORE_UNAVAILABLE",
      message: expect.stringMatching(message) as string,
      hint: expect.stringMatching(hint) as string,
    }) as Error,
  );
});

test("one that is there tells what waits, and what was lost before it and in it", () => {
  const store = { health: () => ({ status: "degraded", problems: [problem] }), figures: () => figures };
  const source: StoreSource = {
    ...none,
    store: () => store as unknown as RecordStore,
    problems: () => [problem],
    dropped: 10,
  };
  expect(requireStore(source)).toBe(store);
  expect(readStoreStanding(source)).toEqual({
    status: "degraded",
    problems: [problem],
    waitingRows: 7,
    droppedRows: 13,
  });
});

test("a gateway is unready for what does not pass by itself", () => {
  expect(unusableStore([{ ...problem, kind: "full" }])).toBeUndefined();
  expect(unusableStore([{ ...problem, kind: "worker" }, problem])).toBe("state.db is damaged. Mend it.");
});
