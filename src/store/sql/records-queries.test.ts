import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createTestStore, eventOf, lineOf, requestOf, usageOf, whenOpened } from "../../../test/harness/records.ts";
import { expectFoundByInstallation } from "../../../test/harness/installation-records.ts";
import type { RequestRecord } from "../record-rows.ts";
import { scanLimit, type CallQuery, type RecordStore } from "../record-store.ts";
import { createManualClock } from "../../../test/harness/manual-clock.ts";

let folder: string;
let store: RecordStore;
const written: RequestRecord[] = [];

/** Every combination of a few values, a millisecond apart. */
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "toolyard-queries-"));
  const clock = { ...createManualClock(), now: () => 1_000_000 + written.length };
  store = await whenOpened(createTestStore(folder, { clock }));
  const outcomes = [
    ["ok", null],
    ["failed", "UPSTREAM_TIMEOUT"],
    ["tool_error", null],
  ] as const;
  for (const principal of ["ann", "bob"])
    for (const server of ["files", "web"])
      for (const client of ["cursor", null])
        for (const team of ["red", null])
          for (const [outcome, code] of outcomes) {
            const instance = `${server}@${principal}`;
            const name = `${server}:read`;
            const atMs = 1_000_000 + written.length;
            const row = requestOf(store, { principal, server, client, team, outcome, code, instance, name, atMs });
            written.push(row);
            store.append("request", row);
          }
  await store.flush();
});
afterAll(async () => {
  await store.close(10_000);
  await rm(folder, { recursive: true, force: true });
});

const ids = (rows: readonly { readonly id: number }[]) => rows.map(({ id }) => id);
const newestFirst = (fits: (row: RequestRecord) => boolean) => ids(written.filter(fits)).toReversed();

describe("calls", () => {
  const filters: readonly [Partial<CallQuery>, (row: RequestRecord) => boolean][] = [
    [{}, () => true],
    [{ principal: "ann" }, (row) => row.principal === "ann"],
    [{ instance: "web@bob" }, (row) => row.instance === "web@bob"],
    [{ instance: "web@bob", principal: "ann" }, () => false],
    [{ server: "web", failed: true }, (row) => row.server === "web" && row.outcome !== "ok"],
    [{ failed: true }, (row) => row.outcome !== "ok"],
    [{ failed: false, principal: "bob" }, (row) => row.outcome === "ok" && row.principal === "bob"],
    [{ outcome: "tool_error" }, (row) => row.outcome === "tool_error"],
    [{ code: "UPSTREAM_TIMEOUT", team: "red" }, (row) => row.code !== null && row.team === "red"],
    [{ client: "cursor", tool: "files:read" }, (row) => row.client === "cursor" && row.name === "files:read"],
    [{ tool: "files:" }, () => false],
    [{ fromMs: 1_000_005, toMs: 1_000_009 }, (row) => row.atMs >= 1_000_005 && row.atMs < 1_000_009],
    [{ fromMs: 1_000_040 }, (row) => row.atMs >= 1_000_040],
    [{ toMs: 1_000_003, principal: "ann" }, (row) => row.atMs < 1_000_003],
  ];
  test.each(filters)("fit %j", async (filter, fits) => {
    const { rows, next } = await store.calls({ limit: 1_000, ...filter });
    expect(ids(rows)).toEqual(newestFirst(fits));
    expect(next).toBeNull();
  });

  test("come in pages that leave nothing out and tell nothing twice", async () => {
    for (const filter of [{}, { failed: true }, { team: "red", server: "web" }]) {
      const all = ids((await store.calls({ limit: 1_000, ...filter })).rows);
      const paged: number[] = [];
      for (let before: number | undefined; ;) {
        const page = await store.calls({ limit: 5, before, ...filter });
        paged.push(...ids(page.rows));
        if (page.next === null) break;
        before = page.next;
      }
      expect(paged).toEqual(all);
    }
  });

  test("can be followed", async () => {
    const seen = written.at(-3)?.id ?? 0;
    expect(ids((await store.calls({ limit: 10, after: seen })).rows)).toEqual(ids(written.slice(-2)).toReversed());
  });
});

test("usage adds up, and is grouped by what was asked for", async () => {
  const hourMs = 3_600_000;
  const buckets = (at: number) => Array.from({ length: 12 }, (_, place) => (place === at ? 1 : 0));
  const rows = [
    usageOf({ hourMs: 0, tool: "a", calls: 2, durationMsMax: 9, buckets: buckets(0) }),
    usageOf({ hourMs: 0, tool: "a", calls: 3, durationMsMax: 4, buckets: buckets(0) }),
    usageOf({ hourMs, tool: "b", code: "TIMEOUT", cut: 1, buckets: buckets(11) }),
    usageOf({ hourMs: 24 * hourMs, tool: "b", client: null, principal: "ann", team: "red" }),
  ];
  for (const row of rows) store.append("usage", row);
  await store.flush();
  const range = { fromMs: 0, toMs: 48 * hourMs, limit: 100 };
  const sums = await store.usage({ ...range, by: ["tool"] });
  expect(sums).toMatchObject([
    {
      group: ["a"],
      lastHourMs: 0,
      calls: 5,
      errors: 0,
      durationMsSum: 6,
      durationMsMax: 9,
      argumentTokens: 10,
      resultTokens: 14,
    },
    { group: ["b"], lastHourMs: 24 * hourMs, calls: 2, errors: 1, cut: 1 },
  ]);
  expect(sums[0]?.buckets).toEqual([2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
  expect(sums[1]?.buckets.at(-1)).toBe(1);
  const groupsOf = async (...by: Parameters<typeof store.usage>[0]["by"]) =>
    (await store.usage({ ...range, by })).map(({ group, calls }) => [...group, calls]);
  expect(await groupsOf()).toEqual([[7]]);
  expect(await groupsOf("hour")).toEqual([
    ["0", 5],
    [`${hourMs}`, 1],
    [`${24 * hourMs}`, 1],
  ]);
  expect(await groupsOf("day", "client")).toEqual([
    ["0", "c", 6],
    [`${24 * hourMs}`, null, 1],
  ]);
  expect(await groupsOf("code", "principal", "team")).toEqual([
    ["", "local", null, 5],
    ["", "ann", "red", 1],
    ["TIMEOUT", "local", null, 1],
  ]);
  expect(await store.usage({ ...range, toMs: 1, by: [], tool: "b" })).toEqual([]);
  expect(await store.usage({ ...range, by: [], tool: "b", client: "c" })).toMatchObject([{ calls: 1 }]);
  expect(await store.usage({ ...range, fromMs: hourMs + 1, toMs: hourMs + 2, by: [] })).toMatchObject([{ calls: 1 }]);
});

test("logs and events are found by what they are about", async () => {
  store.append("log", lineOf(store, { instance: "web", server: "web", level: "error", line: "1" }));
  store.append("log", lineOf(store, { level: "debug", team: "red", line: "2" }));
  store.append("event", eventOf(store, { type: "config.changed", instance: null, server: null, detail: '{"a":1}' }));
  store.append("event", eventOf(store, { principal: "ann" }));
  await store.flush();
  const linesOf = async (filter: object) => (await store.logs({ limit: 9, ...filter })).rows.map(({ line }) => line);
  expect(await linesOf({})).toEqual(["2", "1"]);
  expect(await linesOf({ instance: "web" })).toEqual(["1"]);
  expect(await linesOf({ level: "warning" })).toEqual(["1"]);
  expect(await linesOf({ instances: ["files", "web"] })).toEqual(["2", "1"]);
  expect(await linesOf({ instances: ["web", "gone"] })).toEqual(["1"]);
  expect(await linesOf({ instances: ["files"], instance: "web" })).toEqual([]);
  expect(await linesOf({ instances: [] })).toEqual([]);
  expect(await linesOf({ team: "red", server: "files" })).toEqual(["2"]);
  store.append("log", lineOf(store, { line: "Half of 50% done!" }));
  await store.flush();
  expect(await linesOf({ text: "hALF" })).toEqual(["Half of 50% done!"]);
  // Nothing in it stands for anything else.
  expect(await linesOf({ text: "0% d" })).toEqual(["Half of 50% done!"]);
  expect(await linesOf({ text: "done!" })).toEqual(["Half of 50% done!"]);
  for (const text of ["5%d", "H_lf", "!d", "\\"]) expect([text, await linesOf({ text })]).toEqual([text, []]);
  expect(await linesOf({ text: "half", level: "warning" })).toEqual([]);
  store.append("log", lineOf(store, { line: "Datei Ärger.txt NICHT da" }));
  await store.flush();
  expect(await linesOf({ text: "Ärger.TXT nicht" })).toEqual(["Datei Ärger.txt NICHT da"]);
  const eventsOf = async (filter: object) => (await store.events({ limit: 9, ...filter })).rows;
  expect(await eventsOf({ type: "config.changed" })).toMatchObject([{ instance: null, detail: '{"a":1}' }]);
  expect(await eventsOf({ principal: "ann" })).toMatchObject([{ type: "mcp.server.started", principal: "ann" }]);
  expect(await eventsOf({ server: "web" })).toEqual([]);
});

test("the tools of an installation take the place of those before", async () => {
  const tool = { path: "web:a", description: "reads", schemaHash: "ff", tokens: 9 };
  const list = { installation: "web", server: "web", discoveredAtMs: 1 };
  store.append("tools", { ...list, tools: [tool, { ...tool, path: "web:b" }] });
  store.append("tools", { ...list, installation: "other", tools: [{ ...tool, path: "other:a" }] });
  store.append("tools", { ...list, tools: [{ ...tool, tokens: 10 }] });
  await store.flush();
  expect(await store.tools("web")).toEqual([{ ...tool, tokens: 10 }]);
  expect(await store.tools("other")).toHaveLength(1);
  expect(await store.tools("none")).toEqual([]);
});

test("a filter that fits nothing is given up after so many rows, and can be gone on with", async () => {
  const place = await mkdtemp(join(tmpdir(), "toolyard-scan-"));
  const many = await whenOpened(
    createTestStore(place, { limits: { queue: { rows: scanLimit * 2, characters: 1e9 } } }),
  );
  const first = requestOf(many, { client: "rare" });
  many.append("request", first);
  const rest = scanLimit + 10;
  for (let at = 0; at < rest; at += 1) many.append("request", requestOf(many));
  await many.flush();
  const page = await many.calls({ limit: 10, client: "rare" });
  expect(page.rows).toEqual([]);
  expect(page.next).not.toBeNull();
  const next = await many.calls({ limit: 10, client: "rare", before: page.next ?? 0 });
  expect(ids(next.rows)).toEqual([first.id]);
  expect(next.next).toBeNull();
  await many.close(10_000);
  await rm(place, { recursive: true });
});

test("calls and usage are found by the installation of their instances", async () => {
  const folderOf = await mkdtemp(join(tmpdir(), "toolyard-installations-"));
  const store = await whenOpened(createTestStore(folderOf));
  try {
    await expectFoundByInstallation(store);
  } finally {
    await store.close(10_000);
    await rm(folderOf, { recursive: true, force: true });
  }
});

test("calls are erased with what was said in them, those of a burst too, and the others stay", async () => {
  const folderOf = await mkdtemp(join(tmpdir(), "toolyard-erased-"));
  const kept = await whenOpened(createTestStore(folderOf));
  try {
    const body = { arguments: '{"a":1}', areArgumentsCut: false, result: "secret", isResultCut: false };
    const rows = Array.from({ length: 900 }, (_, at) =>
      requestOf(kept, { principal: at % 3 === 0 ? "ann" : "bob", instance: "i", body: at < 10 ? body : null }),
    );
    for (const row of rows) kept.append("request", row);
    await kept.flush();
    let erased = 0;
    for (let before: number | null | undefined; before !== null;) {
      const piece = await kept.eraseCalls({ limit: 100, principal: "ann", before });
      erased += piece.erased;
      before = piece.next;
    }
    expect(erased).toBe(300);
    const left = (await kept.calls({ limit: 1_000 })).rows;
    expect([left.length, left.every(({ principal }) => principal === "bob")]).toEqual([600, true]);
    expect(await kept.call(rows[0]?.id ?? 0)).toBeUndefined();
    expect((await kept.call(rows[1]?.id ?? 0))?.body).toMatchObject({ result: "secret" });
    expect(await kept.eraseCalls({ limit: 100, principal: "ann" })).toEqual({ erased: 0, next: null });
  } finally {
    await kept.close(10_000);
    await rm(folderOf, { recursive: true, force: true });
  }
});
