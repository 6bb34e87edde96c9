import type { StdioTransport } from "../../../config/config.ts";
import { largeBytes } from "../../../wire/json/large-buffers.ts";
import type { ConnectOptions } from "../connect.ts";
import { readBatch, readInbound } from "../../../wire/mcp/server-message.ts";
import { createLineSplitter } from "../messages/line-splitter.ts";
import type { RequestTable } from "../messages/request-table.ts";
import type { ServerProcess } from "./server-process.ts";
import type { BackPressure } from "../messages/back-pressure.ts";

/** Receives what a process writes to stdout. */
export interface OutputListener {
  readonly table: RequestTable;
  /** Counts what the table does not wait for. */
  readonly strays: BackPressure;
  /** Called for each line. */
  readonly onHeard: () => void;
  /** Called when nothing more can be read. */
  readonly onEnd: (reason: string) => void;
}

/** Passes every line of stdout to the table. */
export function readOutput(
  options: ConnectOptions<StdioTransport>,
  child: Pick<ServerProcess, "stdout">,
  { table, strays, onHeard, onEnd }: OutputListener,
): void {
  const { limits, memory, server, tap } = options;
  let taken = 0;
  const splitter = createLineSplitter(
    limits.messageBytes,
    (line) => {
      onHeard();
      taken += 1;
      tap?.("in", line);
      const batch = readBatch(line, limits.depth);
      if (batch !== undefined) {
        for (const message of batch) table.receive(message);
        return;
      }
      if (line.length >= largeBytes) memory.adopt(line);
      table.receive(readInbound(line, limits.depth));
    },
    () => onEnd(`${server} sent a line longer than ${limits.messageBytes} bytes (limits.upstreamMessageBytes)`),
    memory,
  );

  child.stdout.on("data", (chunk: Buffer) => {
    const before = strays.count;
    taken = 0;
    const lines = splitter(chunk);
    // Empty lines are no messages, but each has to be found.
    strays.add(lines - taken);
    if (strays.count > before) strays.restrain(child.stdout);
  });
  child.stdout.on("error", () => undefined);
  child.stdout.on("end", () => {
    // A server that closes stdout can never answer again, so it counts as dead even if it keeps running (fault 83).
    // If it is exiting, its exit follows in a moment and gives a better reason.
    setTimeout(() => onEnd(`${server} closed its output`), outputGraceMs).unref();
  });
}

const outputGraceMs = 50;
