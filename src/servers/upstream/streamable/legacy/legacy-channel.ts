import { writeNotification } from "../../../../wire/mcp/envelope.ts";
import { createSlotTable } from "../../../../kernel/runtime/slot-table.ts";
import { toGatewayError } from "../../../../kernel/failures/gateway-error.ts";
import type { JsonObject } from "../../../../kernel/text/json-bytes.ts";
import { encodeRequest } from "../../messages/encode.ts";
import { readEach } from "../../../../wire/mcp/server-message.ts";
import { createRequestTable } from "../../messages/request-table.ts";
import { withFiniteTimeouts, type Channel } from "../../connection.ts";
import { LegacyCall, type LegacyCallHost } from "./legacy-call.ts";
import { createCurrentSession, type SessionOptions } from "./current-session.ts";
import { endSession, postInSession } from "./legacy-session.ts";

/** Requests and notifications in a session. */
export interface LegacyChannel extends Channel {
  notify(method: string, params: JsonObject): Promise<void>;
  /** Ends the session; takes no longer than the tuning allows. */
  end(): Promise<void>;
}

/**
 * Sends requests in a session (2025-11-25, transports, Streamable HTTP), which is replaced when the server has lost
 * it.
 */
export function createLegacyChannel(options: SessionOptions): LegacyChannel {
  const { wire, events, signal } = options;
  const calls = createSlotTable<LegacyCall>();
  const current = createCurrentSession(options, (bytes) => {
    readEach(bytes, wire.limits.depth, (message) => table.receive(message));
  });

  const table = createRequestTable({
    server: wire.address.server,
    events,
    strays: wire.strays,
    roots: wire.roots,
    declared: () => current.dialect.capabilities,
    send(text, reason, id) {
      const cancelled = reason === "cancel" && id !== undefined ? calls.get(id) : undefined;
      if (cancelled?.isSent === false) {
        // The request still waits for a connection. If it were sent after its cancellation, it would run.
        cancelled.abort();
        return;
      }
      // The server need not answer a cancelled request, so its stream could stay open; and if the server hangs, it
      // does not accept the cancellation either. The request is ended in both cases.
      const end = () => cancelled?.abort();
      const timer = cancelled === undefined ? undefined : setTimeout(end, wire.tuning.afterAnswerMs);
      void post(text).finally(() => {
        clearTimeout(timer);
        end();
      });
    },
  });

  async function post(text: string): Promise<void> {
    try {
      const failure = await postInSession(wire, current.session, text, signal);
      if (failure !== undefined) events.onOddity("notification-refused", failure.message);
    } catch (error) {
      if (!signal.aborted) events.onOddity("notification-refused", toGatewayError(error).message);
    }
  }

  const host: LegacyCallHost = {
    table,
    strays: wire.strays,
    events,
    maxDepth: wire.limits.depth,
    memory: wire.memory,
    wire,
    calls,
    renew: current.renew,
    isLost: current.isLost,
    onAnswered: current.noteAnswered,
    isProven: current.isProven,
  };

  return {
    request(request) {
      const finite = withFiniteTimeouts(request);
      return table.open(finite, (id) => {
        const call = new LegacyCall(host, id, finite, encodeRequest(id, finite, current.dialect));
        calls.put(call);
        call.send(current.session);
      });
    },
    async notify(method, params) {
      const failure = await postInSession(wire, current.session, writeNotification(method, params), signal);
      if (failure !== undefined) throw failure;
    },
    failAll(error) {
      table.failAll(error);
      for (const call of calls.values()) call.abort();
    },
    get size() {
      return table.size;
    },
    pending: table.pending,
    async end() {
      current.close();
      await endSession(wire, current.session);
    },
  };
}
