import type { Writable } from "node:stream";
import { GatewayError } from "../../shared/gateway-error.ts";

/**
 * Under load the writes of one turn of the event loop leave in one write; a call that is alone leaves at once. A server that does not read fills the queue up to a limit; beyond
 * it requests fail and memory stays flat (FAULTS.md 79).
 */
export function createOutbox(
  stdin: Writable,
  limitBytes: number,
  server: string,
  isBusy: () => boolean,
): { push(text: string, must: boolean): void; close(): void } {
  let pending = "";
  let scheduled = false;
  let closed = false;

  function flush(): void {
    scheduled = false;
    const text = pending;
    pending = "";
    if (!closed && text !== "") stdin.write(text, "latin1");
  }

  stdin.on("error", () => {
    closed = true; // EPIPE: the exit tells the reason.
  });
  return {
    push(text, must) {
      if (!must && stdin.writableLength + pending.length > limitBytes) {
        throw new GatewayError("UPSTREAM_BUSY", `${server} does not read its input: ${limitBytes} bytes are waiting`);
      }
      pending += `${text}\n`;
      if (scheduled) return;
      if (!isBusy()) {
        flush();
        return;
      }
      scheduled = true;
      setImmediate(flush);
    },
    close() {
      flush();
      closed = true;
    },
  };
}
