import type { StoreFigures } from "../../store/record-store.ts";
import { counter, gauge, type Metric } from "./metrics-text.ts";

/** What waits in a gateway and what it keeps, at one moment. */
export interface GatewayFigures {
  /** Requests, searches included, that were not answered yet. */
  readonly requestsInFlight: number;
  /** Calls that wait for a server to be up. */
  readonly waitingCalls: number;
  /** Servers that wait for their turn to be started. */
  readonly waitingStarts: number;
  /** Sessions of legacy clients. */
  readonly sessions: number;
  /** Streams that clients keep open for notifications. */
  readonly streams: number;
  /** What was cut off results, for as long as it can be read. */
  readonly kept: { readonly results: number; readonly memoryBytes: number; readonly diskBytes: number };
}

/** As metrics. */
export function readGatewayFigures(figures: GatewayFigures): readonly Metric[] {
  const { kept } = figures;
  return [
    gauge("toolyard_requests_in_flight", "Requests that were not answered yet.", figures.requestsInFlight),
    gauge("toolyard_waiting_calls", "Calls that wait for a server to be up.", figures.waitingCalls),
    gauge("toolyard_waiting_starts", "Servers that wait for their turn to be started.", figures.waitingStarts),
    gauge("toolyard_sessions", "Sessions of clients.", figures.sessions),
    gauge("toolyard_open_streams", "Streams that clients keep open.", figures.streams),
    gauge("toolyard_kept_results", "Results whose rest is kept to be read.", kept.results),
    gauge("toolyard_kept_results_memory_bytes", "Memory taken by the rests of results.", kept.memoryBytes),
    gauge("toolyard_kept_results_disk_bytes", "Disk space taken by the rests of results.", kept.diskBytes),
  ];
}

/** As metrics; none without a store. */
export function readStoreFigures(figures: StoreFigures | undefined): readonly Metric[] {
  if (figures === undefined) return [];
  const dropped = Object.entries(figures.droppedRows).map(([reason, value]) => ({ labels: { reason }, value }));
  return [
    gauge("toolyard_store_queued_rows", "Records that wait to be handed to the store.", figures.queuedRows),
    gauge("toolyard_store_sent_rows", "Records that the store has and has not written yet.", figures.sentRows),
    counter("toolyard_store_written_rows_total", "Records written.", figures.writtenRows),
    counter("toolyard_store_dropped_rows_total", "Records lost, by why.", dropped),
    counter("toolyard_store_commits_total", "Batches of records written.", figures.commits),
    counter("toolyard_store_commit_seconds_total", "Time spent in writing them.", figures.commitMsSum / 1_000),
    gauge("toolyard_store_commit_max_seconds", "The longest that a batch took.", figures.commitMsMax / 1_000),
    counter("toolyard_store_worker_starts_total", "Starts of the store's thread.", figures.workerStarts),
  ];
}
