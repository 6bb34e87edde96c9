import type { Writable } from "node:stream";
import { GatewayError } from "../../../kernel/failures/gateway-error.ts";
import { settingNow } from "../../../kernel/text/number-text.ts";

/** Queues lines for a server. */
export interface Outbox {
  /** Queues a line. Throws UPSTREAM_BUSY when the queue is full. */
  push(text: string): void;
  /** Queues a line, and returns false when the queue is full. For messages whose loss cannot be reported. */
  offer(text: string): boolean;
  /** Writes the queued lines, and nothing after them. */
  close(): void;
}

/**
 * A message is a line (2025-11-25, basic/transports, stdio), and the arguments in it are bytes as their client wrote
 * them, perhaps on several lines. Between values a space means the same; within strings JSON has no line breaks.
 */
function onOneLine(text: string): string {
  return text.includes("\n") || text.includes("\r") ? text.replaceAll(/[\n\r]/g, " ") : text;
}

/**
 * Under load (`isBusy`), all lines of one turn of the event loop leave in one write; a single call leaves at once. A
 * server that does not read fills the queue up to `limitBytes`. Beyond that requests fail, so memory stays limited
 * (fault 79).
 */
export function createOutbox(stdin: Writable, limitBytes: number, server: string, isBusy: () => boolean): Outbox {
  let pending = "";
  let scheduled = false;
  let closed = false;

  function flush(): void {
    scheduled = false;
    const text = pending;
    pending = "";
    if (!closed && text !== "") stdin.write(text, "latin1");
  }

  function offer(text: string): boolean {
    if (stdin.writableLength + pending.length > limitBytes) return false;
    pending += `${onOneLine(text)}\n`;
    if (scheduled) return true;
    if (isBusy()) {
      scheduled = true;
      setImmediate(flush);
    } else flush();
    return true;
  }

  stdin.on("error", () => {
    closed = true; // EPIPE: the exit of the process gives the reason.
  });
  return {
    offer,
    push(text) {
      if (!offer(text))
        throw new GatewayError("UPSTREAM_BUSY", `${server} does not read its input: ${limitBytes} bytes are queued`, {
          hint: `Call again later, or raise ${settingNow("limits.stdinQueueBytes", limitBytes)}.`,
        });
    },
    close() {
      flush();
      closed = true;
    },
  };
}
