import type { ConnectionEvents } from "../../connection.ts";
import { readBatch, readInbound, type Inbound } from "../../../../wire/mcp/server-message.ts";
import { largeBytes, type LargeBuffers } from "../../../../wire/json/large-buffers.ts";
import type { RequestTable } from "../../messages/request-table.ts";
import type { BackPressure } from "../../messages/back-pressure.ts";

/** Where received messages go. */
export interface Delivery {
  readonly table: RequestTable;
  readonly strays: BackPressure;
  readonly events: ConnectionEvents;
  readonly maxDepth: number;
  readonly memory: LargeBuffers;
}

/**
 * Passes what came on the stream of request `id` to the table. Returns true when the answer to that request was among
 * it. An answer to another request does not belong on this stream and is dropped (fault 68).
 */
export function deliver(delivery: Delivery, id: number, bytes: Buffer): boolean {
  const batch = readBatch(bytes, delivery.maxDepth);
  if (batch !== undefined) return deliverBatch(delivery, id, batch);
  if (bytes.length >= largeBytes) delivery.memory.adopt(bytes);
  return deliverOne(delivery, id, readInbound(bytes, delivery.maxDepth));
}

function deliverBatch(delivery: Delivery, id: number, batch: readonly Inbound[]): boolean {
  let isAnswered = false;
  for (const message of batch) if (deliverOne(delivery, id, message)) isAnswered = true;
  return isAnswered;
}

function deliverOne({ table, strays, events }: Delivery, id: number, message: Inbound): boolean {
  if (message.kind !== "result" && message.kind !== "error") {
    table.receive(message, id);
    return false;
  }
  if (table.idOf(message.id) === id) {
    table.receive(message, id);
    return true;
  }
  if (message.kind === "error" && message.id === null) {
    // The server could not read the id of what it refuses; on this stream there is only one request.
    table.receive({ kind: "error", id, error: message.error }, id);
    return true;
  }
  strays.add();
  events.onOddity("unknown-id", `answer to ${String(message.id).slice(0, 100)} on the stream of ${id}`);
  return false;
}
