import { describe, expect, test } from "vitest";
import type { UsageHour } from "../../store/record-rows.ts";
import type { UsageQuery } from "../../store/record-store.ts";
import { mergeSums, sumRows as sumRowsBy } from "./usage-rows.ts";

const hour = 3_600_000;
const day = 24 * hour;
const row = (more: Partial<UsageHour> = {}): UsageHour => ({
  team: "red",
  principal: "anna",
  hourMs: 0,
  instance: "srv",
  server: "srv",
  tool: "srv:a",
  client: "editor",
  code: "",
  calls: 1,
  durationMsSum: 10,
  durationMsMax: 10,
  buckets: [0, 1, 0],
  argumentTokens: 2,
  resultTokens: 3,
  cut: 0,
  ...more,
});
const asking = (more: Partial<UsageQuery> = {}): UsageQuery => ({ fromMs: 0, toMs: day, by: [], limit: 100, ...more });
/** `i_1@bob` is an instance of `i_1`. */
const sumRows = (rows: readonly UsageHour[], query: UsageQuery) =>
  sumRowsBy(rows, query, (instance) => instance.split("@")[0] ?? "");
const callsBy = (rows: readonly UsageHour[], query: UsageQuery) =>
  mergeSums([sumRows(rows, query)], query).map(({ group, calls }) => [...group, calls]);

describe("the sum of rows", () => {
  test("adds up everything, except the longest call and the latest hour, of which there is one", () => {
    const rows = [
      row({ calls: 2, durationMsMax: 9, cut: 1 }),
      row({ hourMs: hour, durationMsMax: 70, buckets: [1, 0, 4] }),
      row(),
    ];
    expect(sumRows(rows, asking())).toEqual([
      {
        group: [],
        calls: 4,
        errors: 0,
        lastHourMs: hour,
        durationMsSum: 30,
        durationMsMax: 70,
        buckets: [1, 2, 4],
        argumentTokens: 6,
        resultTokens: 9,
        cut: 1,
      },
    ]);
  });

  test("counts every call with a code as an error, a tool's own included", () => {
    const rows = [row({ calls: 5 }), row({ code: "tool_error", calls: 2 }), row({ code: "UPSTREAM_TIMEOUT" })];
    expect(sumRows(rows, asking())[0]).toMatchObject({ calls: 8, errors: 3 });
  });

  test("takes whole hours: that in which the time begins, and that in which it ends", () => {
    const rows = [0, 1, 2, 3, 4].map((at) => row({ hourMs: at * hour }));
    const hoursIn = (fromMs: number, toMs: number) =>
      callsBy(rows, asking({ fromMs, toMs, by: ["hour"] })).map(([at]) => Number(at) / hour);
    expect(hoursIn(hour + 1, 3 * hour + 1)).toEqual([1, 2, 3]);
    expect(hoursIn(hour, 3 * hour)).toEqual([1, 2]);
    expect(hoursIn(2 * hour, 2 * hour)).toEqual([]);
  });

  test("is of what was asked for only, and of nothing where there were no calls", () => {
    const rows = [row(), row({ principal: "bert" }), row({ tool: "srv:b" }), row({ client: null }), row({ calls: 0 })];
    expect(sumRows(rows, asking({ principal: "bert" }))).toHaveLength(1);
    expect(sumRows(rows, asking({ principal: "anna", tool: "srv:a" }))[0]?.calls).toBe(2);
    expect(sumRows(rows, asking({ client: "editor" }))[0]?.calls).toBe(3);
    expect(sumRows(rows, asking({ team: "blue" }))).toEqual([]);
    expect(sumRows([row({ calls: 0 })], asking())).toEqual([]);
  });

  test("by day has the hours of one day together, and those of the next apart", () => {
    const rows = [row({ hourMs: 23 * hour }), row(), row({ hourMs: day })];
    expect(callsBy(rows, asking({ by: ["day"], toMs: 2 * day }))).toEqual([
      ["0", 2],
      [String(day), 1],
    ]);
  });

  test("keeps a client without a name apart from one that is called so", () => {
    const rows = [row({ client: null }), row({ client: "null" }), row({ client: "" }), row({ client: null })];
    const sums = sumRows(rows, asking({ by: ["client"] }));
    expect(new Map(sums.map(({ group, calls }) => [group[0], calls]))).toEqual(
      new Map([
        [null, 2],
        ["null", 1],
        ["", 1],
      ]),
    );
  });
});

describe("sums of several places", () => {
  const query = asking({ by: ["tool"] });
  const memory = sumRows([row({ calls: 1 }), row({ tool: "srv:b", calls: 4 })], query);
  const store = sumRows([row({ calls: 2 }), row({ tool: "srv:c", calls: 3 })], query);

  test("are one sum of each group, the most used first and equals by name", () => {
    expect(mergeSums([memory, store], query).map(({ group, calls }) => [group[0], calls])).toEqual([
      ["srv:b", 4],
      ["srv:a", 3],
      ["srv:c", 3],
    ]);
  });

  test("are limited after they were added up, so that no group is lost that both have", () => {
    const [first, ...others] = mergeSums([store, sumRows([row({ tool: "srv:c", calls: 9 })], query)], {
      ...query,
      limit: 1,
    });
    expect(others).toEqual([]);
    expect(first).toMatchObject({ group: ["srv:c"], calls: 12 });
  });

  test("by time are in the order of time, as numbers and not as texts", () => {
    const rows = [10 * hour, 2 * hour, 0].map((hourMs, at) => row({ hourMs, calls: at + 1 }));
    expect(callsBy(rows, asking({ by: ["tool", "hour"] })).map(([, at]) => Number(at) / hour)).toEqual([0, 2, 10]);
  });
});

test("instances of one installation are one, and can be asked for together", () => {
  const rows = ["i_1@anna", "i_1@bob", "i_2@bob"].map((instance) => row({ instance, principal: "bob" }));
  expect(callsBy(rows, asking({ by: ["installation"] }))).toEqual([
    ["i_1", 2],
    ["i_2", 1],
  ]);
  expect(callsBy(rows, asking({ by: ["instance"], installation: "i_1" }))).toEqual([
    ["i_1@anna", 1],
    ["i_1@bob", 1],
  ]);
});
