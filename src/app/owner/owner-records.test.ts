import { mkdtemp, rm } from "node:fs/promises";
import { PassThrough } from "node:stream";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createTestStore, whenOpened } from "../../../test/harness/records.ts";
import { until } from "../../../test/harness/until.ts";
import { createEventBus } from "../../kernel/events/event-bus.ts";
import type { InstanceId, ServerSlug } from "../../kernel/ids.ts";
import { createRecordHistory } from "../../records/calls/record-history.ts";
import { createRecordSink } from "../../records/calls/record-sink.ts";
import { logServers } from "../../records/calls/server-lines.ts";
import type { RecordStore } from "../../store/record-store.ts";
import type { GatewayParts } from "../gateway-parts.ts";
import { readRecordsCommand, sendRecords, type RecordLine } from "./owner-records.ts";

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
  const gateway = { events, fleet: { all: () => [] }, standing: { history } } as unknown as Pick<
    GatewayParts,
    "standing" | "fleet" | "events"
  >;
  // As small as no socket is, so that a few lines fill it.
  const socket = new PassThrough({ highWaterMark: 2_000 });
  const ended = new AbortController();
  const command = readRecordsCommand({ command: "logs", follow: true, limit: 0 });
  if (command === undefined) throw new Error("it is no command");
  const sent = sendRecords(gateway, command, socket, ended.signal);
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
  const got: RecordLine[] = [];
  createInterface({ input: socket }).on("line", (line) => got.push(JSON.parse(line) as RecordLine));
  const shown = (): number => got.filter(({ log }) => log !== undefined).length;
  const lost = (): number => got.reduce((sum, line) => sum + (line.lost ?? 0), 0);
  await until(() => shown() + lost() >= written);
  expect(shown() + lost()).toBe(written);
  // Those that were sent before it stalled, and the newest hundred, were not.
  expect(lost()).toBeGreaterThanOrEqual(280);
  expect(got.findLast(({ log }) => log !== undefined)?.log?.line).toBe(`line ${written}`);
  ended.abort();
  await sent;
});
