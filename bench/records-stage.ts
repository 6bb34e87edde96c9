import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { systemClock } from "../src/kernel/runtime/clock.ts";
import type { EventOf } from "../src/kernel/events/event.ts";
import { localPrincipal } from "../src/kernel/principal.ts";
import { createRequestLog, type LogRequest } from "../src/records/calls/call-recorder.ts";
import { createRecordSink, type RecordSink } from "../src/records/calls/record-sink.ts";
import type { RecordStore } from "../src/store/record-store.ts";
import { createSqlStore } from "../src/store/sql/client/sql-store.ts";
import { middleOf } from "./measure/middle.ts";
import { mainThreadMicros, residentBytes } from "./measure/process.ts";
import { directory, here, pause } from "./records-gateway.ts";

type Call = EventOf<"mcp.request.logs">;

interface Recording {
  readonly store: RecordStore;
  readonly sink: RecordSink;
  readonly record: LogRequest;
}

/** What records calls in a gateway, without the gateway. */
function startRecording(): Recording {
  const store = createSqlStore({
    folder: mkdtempSync(join(directory, "stage-")),
    auditKey: new Uint8Array(32),
    clock: systemClock,
    redact: (_kind, row) => row,
    workerFile: pathToFileURL(here("../dist/cli/sql-worker.js")),
  });
  const sink = createRecordSink();
  sink.open(store);
  const loggingOf = () => "metadata" as const;
  const record = createRequestLog({
    sink,
    node: null,
    loggingOf,
    schemasOf: () => undefined,
    redactJson: (text) => text,
    said: (text) => text,
  });
  return { store, sink, record };
}

const instance = "s0" as Call["instance"];
const server = "s0" as Call["server"];

/** As in a call: an object of its own, with numbers that no other has. */
function makeEvent(number: number): Call {
  return {
    type: "mcp.request.logs",
    atMs: Date.now(),
    instance,
    server,
    principal: localPrincipal.id,
    team: null,
    via: "http",
    client: "bench",
    method: "tools/call",
    name: "echo",
    path: "s0:echo",
    durationMs: 1.234 + number / 1e6,
    waitMs: 0,
    argumentBytes: 19,
    resultBytes: 61 + (number % 7),
    cutTokens: 0,
    serverCode: undefined,
    outcome: "ok",
    traceId: undefined,
  };
}

/**
 * What recording takes of the main thread by itself, its hand-over to the other thread and what that answers included:
 * nothing else happens here, so that it is seen far better than between two gateways. What the other thread takes from
 * this one by being there (caches, the processor's clock) is seen only there.
 */
export async function measureStage(quick: boolean): Promise<void> {
  const { store, record } = startRecording();
  let made = 0;
  /** In us for each call. */
  const round = async (run: (event: Call) => void): Promise<number> => {
    const before = mainThreadMicros(process.pid);
    for (let call = 0; call < 1_000; call += 1) run(makeEvent((made += 1)));
    await store.flush();
    return (mainThreadMicros(process.pid) - before) / 1_000;
  };
  let seen = 0;
  const look = (event: Call): void => void (seen += event.resultBytes);
  const keep = (event: Call): void => record(event, {});
  // What V8 compiles on the way is not the cost of a call.
  for (let warm = 0; warm < 50; warm += 1) for (const run of [look, keep]) await round(run);
  const more: number[] = [];
  for (let at = 0; at < (quick ? 100 : 400); at += 1) {
    const without = await round(look);
    more.push((await round(keep)) - without);
  }
  await store.close(10_000);
  const { median, low, high } = middleOf(more);
  print("\n| main thread, by itself | us a call | 95 % | goal 2.5 |");
  print("|---|---|---|---|");
  const interval = `${low.toFixed(2)} to ${high.toFixed(2)}`;
  print(`| recording a call | ${median.toFixed(2)} | ${interval} | ${seen > 0 ? verdict(median <= 2.5) : ""} |`);
}

/** Calls it so many times a second, as smoothly as timers allow. Returns how often that was. */
async function pour(perSecond: number, ms: number, run: () => void, onTurn: () => void): Promise<number> {
  const startedMs = performance.now();
  let given = 0;
  for (let elapsedMs = 0; elapsedMs < ms; elapsedMs = performance.now() - startedMs) {
    for (; given < (elapsedMs / 1_000) * perSecond; given += 1) run();
    onTurn();
    await pause(5);
  }
  return given;
}

/** More than any disk takes: what is not written has to be counted. */
export async function measureFlood(quick: boolean): Promise<void> {
  const { store, sink, record } = startRecording();
  const line = { team: null, instance, server, level: "info", line: "still here" } as const;
  let rows = 0;
  // Servers write lines meanwhile.
  const append = (): void => {
    rows += 1;
    if (rows % 200 === 0) sink.append("log", { atMs: Date.now(), ...line });
    else record(makeEvent(rows), {});
  };
  const head = "given | written | dropped | sum | most queued | goal 20,000 | most RSS MB";
  print(`\n| rows into the store | ${head} |`);
  print("|---|---|---|---|---|---|---|---|");
  // The first time is for V8.
  for (const perSecond of [20_000, 1_000, 10_000, 100_000, 1_000_000]) {
    const before = store.figures();
    let [most, resident] = [0, 0];
    const given = await pour(perSecond, quick ? 3_000 : 10_000, append, () => {
      most = Math.max(most, store.figures().queuedRows);
      resident = Math.max(resident, residentBytes(process.pid) / 1e6);
    });
    await store.flush();
    const { writtenRows, droppedRows } = store.figures();
    const dropped = droppedRows.queue - before.droppedRows.queue;
    const written = writtenRows - before.writtenRows;
    const bounds = `${most} | ${verdict(most <= 20_000)} | ${resident.toFixed(0)}`;
    print(
      `| ${perSecond}/s | ${given} | ${written} | ${dropped} | ${verdict(written + dropped === given)} | ${bounds} |`,
    );
  }
  await store.close(10_000);
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

function verdict(isMet: boolean): string {
  return isMet ? "ok" : "OVER";
}
