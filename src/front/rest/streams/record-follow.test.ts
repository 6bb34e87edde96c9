import { mkdtemp, rm } from "node:fs/promises";
import { PassThrough } from "node:stream";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createTestStore, whenOpened } from "../../../../test/harness/records.ts";
import { until } from "../../../../test/harness/until.ts";
import { createEventBus } from "../../../kernel/events/event-bus.ts";
import type { InstanceId, ServerSlug } from "../../../kernel/ids.ts";
import { createRecordHistory } from "../../../records/calls/record-history.ts";
import { createRecordSink } from "../../../records/calls/record-sink.ts";
import { logServers } from "../../../records/calls/server-lines.ts";
import type { PageQuery, RecordStore } from "../../../store/record-store.ts";
import { logToJson, type LogJson } from "../../../records/calls/record-json.ts";
import type { Reader } from "../../../records/calls/record-history.ts";
import { countLostLines } from "../../../operations/records/log-gaps.ts";
import type { RecordList } from "../../../operations/reply.ts";
import type { ServerLogLine } from "../../../store/record-rows.ts";
import { followRecords } from "./record-export.ts";

let folder: string;
let store: RecordStore;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "toolyard-owner-"));
  store = await whenOpened(createTestStore(folder));
});
afterEach(async () => {
  await store.close(10_000);
  await rm(folder, { recursive: true, force: true });
});

test("a reader of `logs` that stalls gets the newest lines, and is told how many were lost meanwhile", async () => {
  const events = createEventBus((error) => {
    throw error;
  });
  const sink = createRecordSink();
  sink.open(store);
  logServers(events, sink);
  const source = { isOn: true, store: () => store, problems: () => [], dropped: 0 };
  const history = createRecordHistory({ source, instancesOf: () => [], isInstance: () => true });
  // As small as no socket is, so that a few lines fill it.
  const socket = new PassThrough({ highWaterMark: 2_000 });
  const ended = new AbortController();
  const owner: Reader = { id: "local", calls: "all", contents: "all", logs: "all" };
  const read = async (page: PageQuery) => await history.logs(owner, page);
  const countLost = () => countLostLines(events, () => true);
  const list = { name: "logs", columns: [], limit: 0, before: undefined, file: "", read, toJson: logToJson };
  const followed = { newest: 0, wakenBy: ["mcp.server.logs"], events, read, countLost } as const;
  const sent = followRecords<ServerLogLine>(list as unknown as RecordList<ServerLogLine>, followed, {
    writer: socket,
    signal: ended.signal,
    begin: () => undefined,
  });
  let written = 0;
  const write = (lines: number): void => {
    for (let at = 0; at < lines; at += 1) {
      written += 1;
      const about = { instance: "one" as InstanceId, server: "one" as ServerSlug, installation: "one" as InstanceId };
      // Ten in each second to come, so that none is too many.
      const atMs = Date.now() + Math.floor(written / 10) * 1_000;
      const whose = { principal: undefined, team: undefined };
      events.emit({ type: "mcp.server.logs", atMs, ...about, ...whose, level: "stderr", line: `line ${written}` });
    }
  };
  // Only what is written from now on counts, and nothing says when that is.
  await until(() => {
    write(1);
    return socket.readableLength > 0;
  });
  write(60);
  await until(() => socket.writableNeedDrain);
  for (let round = 0; round < 8; round += 1) {
    write(50);
    await store.flush();
  }
  const got: (LogJson & { readonly lost?: number })[] = [];
  createInterface({ input: socket }).on("line", (line) => got.push(JSON.parse(line) as (typeof got)[number]));
  const shown = (): number => got.filter(({ line }) => line !== undefined).length;
  const lost = (): number => got.reduce((sum, { lost: lines = 0 }) => sum + lines, 0);
  await until(() => shown() + lost() >= written);
  expect(shown() + lost()).toBe(written);
  // Those that were sent before it stalled, and the newest hundred, were not.
  expect(lost()).toBeGreaterThanOrEqual(280);
  expect(got.findLast(({ line }) => line !== undefined)?.line).toBe(`line ${written}`);
  ended.abort();
  await sent.catch(() => undefined);
});

test("a reader who wants no rows of before gets those that come, whatever there is already", async () => {
  const events = createEventBus((error) => {
    throw error;
  });
  const rows = [1, 2, 3].map((id) => ({ id }));
  const read = async ({ limit, before = Infinity, after = -1 }: PageQuery) => {
    const found = rows.filter(({ id }) => id < before && id > after).toReversed();
    return { rows: found.slice(0, limit), next: found.length > limit ? (found[limit - 1]?.id ?? null) : null };
  };
  const list = { name: "rows", columns: [], limit: 0, before: undefined, file: "", read, toJson: (row: object) => row };
  const followed = { newest: 0, wakenBy: ["mcp.server.logs"], events, read } as const;
  const ended = new AbortController();
  const writer = new PassThrough();
  let begun = false;
  const sent = followRecords(list as unknown as RecordList<{ id: number }>, followed, {
    ...{ writer, signal: ended.signal },
    begin: () => (begun = true),
  });
  await until(() => begun);
  rows.push({ id: 4 });
  const lines: string[] = [];
  createInterface({ input: writer }).on("line", (line) => lines.push(line));
  await until(() => lines.length > 0);
  expect(lines).toEqual(['{"id":4}']);
  ended.abort();
  await sent.catch(() => undefined);
});
