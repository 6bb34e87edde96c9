import { systemClock } from "../../src/kernel/runtime/clock.ts";
import { workerUrl } from "../../src/kernel/runtime/run-worker.ts";
import type { AuditEntry, EventRecord, RequestRecord, ServerLogLine, UsageHour } from "../../src/store/record-rows.ts";
import type { RecordKind, RecordRows, RecordStore } from "../../src/store/record-store.ts";
import { createSqlStore, type SqlStoreLimits, type SqlStoreOptions } from "../../src/store/sql/client/sql-store.ts";
import { createWaitingBatch } from "../../src/store/sql/row-text.ts";
import type { RowText } from "../../src/store/sql/requests/packed-calls.ts";
import { until } from "./until.ts";

export const sqlWorkerFile = workerUrl(
  new URL("../../src/store/sql/client/sql-store.ts", import.meta.url).href,
  "sql-worker",
);
export const auditKey = new Uint8Array(32).fill(7);

export type TestStoreOptions = Partial<Omit<SqlStoreOptions, "limits">> & { readonly limits?: Partial<SqlStoreLimits> };

/** A store in that folder, with its real worker and its real databases. */
export function createTestStore(folder: string, options: TestStoreOptions = {}): RecordStore {
  return createSqlStore({
    folder,
    auditKey,
    clock: systemClock,
    workerFile: sqlWorkerFile,
    redact: (_kind, row) => row,
    ...options,
    limits: { lookMs: 20, pauseMs: 1, ...options.limits },
  });
}

/** Tried both databases. */
export async function whenOpened(store: RecordStore): Promise<RecordStore> {
  await until(() => store.health().status !== "opening");
  return store;
}

export function requestOf(store: Pick<RecordStore, "nextId">, given: Partial<RequestRecord> = {}): RequestRecord {
  return {
    id: store.nextId(),
    atMs: Date.now(),
    team: null,
    principal: "local",
    client: "claude-code",
    instance: "files",
    server: "files",
    via: "mcp",
    method: "tools/call",
    name: "files:read",
    outcome: "ok",
    code: null,
    durationMs: 1.5,
    waitMs: 0,
    argumentTokens: 12,
    resultTokens: 340,
    isResultCut: false,
    traceId: null,
    message: null,
    node: null,
    serverNode: null,
    body: null,
    ...given,
  };
}

/** These rows on their way to the worker. */
export function batchOf<Kind extends RecordKind>(kind: Kind, rows: readonly RecordRows[Kind][]): RowText {
  const batch = createWaitingBatch(kind);
  for (const row of rows) batch.add(row, 0);
  return batch.empty((row) => row);
}

export function lineOf(store: Pick<RecordStore, "nextId">, given: Partial<ServerLogLine> = {}): ServerLogLine {
  const about = { team: null, instance: "files", server: "files" };
  return { id: store.nextId(), atMs: Date.now(), ...about, level: "info", line: "ready", ...given };
}

export function eventOf(store: Pick<RecordStore, "nextId">, given: Partial<EventRecord> = {}): EventRecord {
  const about = { team: null, principal: null, installation: null, instance: "files", server: "files" };
  return { id: store.nextId(), atMs: Date.now(), type: "mcp.server.started", ...about, detail: "{}", ...given };
}

export function usageOf(given: Partial<UsageHour> = {}): UsageHour {
  const who = { team: null, principal: "local", instance: "files", server: "files", tool: "files:read", client: "c" };
  const sums = { calls: 1, durationMsSum: 3, durationMsMax: 3, argumentTokens: 5, resultTokens: 7, cut: 0 };
  return { hourMs: 0, ...who, code: "", ...sums, buckets: [1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], ...given };
}

export function entryOf(given: Partial<AuditEntry> = {}): AuditEntry {
  const what = { action: "token.create", object: "t1", outcome: "ok", ip: null, detail: "{}" } as const;
  return { atMs: 1_000, actor: "local", via: "owner", team: null, ...what, ...given };
}
