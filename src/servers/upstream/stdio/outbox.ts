import type { Writable } from "node:stream";
import { GatewayError } from "../../../kernel/gateway-error.ts";
import { settingNow } from "../../../kernel/setting-now.ts";

/** Lines on their way to a server. */
export interface Outbox {
  /** Throws UPSTREAM_BUSY when the queue is full. */
  push(text: string): void;
  /** False when it is full: then it was not taken. For what nobody can be told of. */
  offer(text: string): boolean;
  close(): void;
}

/**
 * Under load the writes of one turn of the event loop leave in one write; a call that is alone leaves at once. A
 * server that does not read fills the queue up to a limit; beyond it requests fail and memory stays flat (fault 79).
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
    pending += `${text}\n`;
    if (scheduled) return true;
    if (isBusy()) {
      scheduled = true;
      setImmediate(flush);
    } else flush();
    return true;
  }

  stdin.on("error", () => {
    closed = true; // EPIPE: the exit tells the reason.
  });
  return {
    offer,
    push(text) {
      if (!offer(text))
        throw new GatewayError("UPSTREAM_BUSY", `${server} does not read its input: ${limitBytes} bytes are waiting`, {
          hint: `Call again later, or raise ${settingNow("limits.stdinQueueBytes", limitBytes)}.`,
        });
    },
    close() {
      flush();
      closed = true;
    },
  };
}
