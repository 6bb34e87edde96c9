import { GatewayError } from "../../../kernel/failures/gateway-error.ts";
import type { Principal } from "../../../kernel/principal.ts";
import type { AnswerChannel } from "../streams/answer-channel.ts";
import { toWireError } from "../answers/wire-error.ts";
import type { Era } from "../../../kernel/call/call-context.ts";
import { createSlotTable } from "../../../kernel/runtime/slot-table.ts";

/** One request over HTTP that has not been answered. */
export interface RunningRequest {
  readonly id: number;
  readonly principal: Principal;
  readonly era: Era;
  readonly method: string;
  readonly channel: AnswerChannel;
  readonly controller: AbortController;
}

/** Every request over HTTP that has not been answered: what has to end when its principal goes, or the gateway does. */
export interface RunningRequests {
  /** The number of the next request. */
  nextId(): number;
  add(request: RunningRequest): void;
  delete(request: RunningRequest): void;
  /** Answers those for which the predicate holds with the failure, and cancels what works on them. */
  endWhere(gone: (principal: Principal) => boolean, why: () => GatewayError): void;
  readonly size: number;
  /** How many there have ever been. */
  readonly total: number;
}

/**
 * Counts work whose answer is not a request's own among the running ones: its controller is all there is to end.
 * Returns what ends the counting.
 */
export function trackController(
  running: RunningRequests,
  principal: Principal,
  controller: AbortController,
): () => void {
  const request: RunningRequest = {
    ...{ id: running.nextId(), principal, controller, channel: noChannel },
    ...{ era: "legacy", method: "tools/call" },
  };
  running.add(request);
  return () => running.delete(request);
}

const noChannel: RunningRequest["channel"] = Object.freeze({ send: () => false, finish: () => undefined });

export function createRunningRequests(): RunningRequests {
  const running = createSlotTable<RunningRequest>();
  let total = 0;
  return {
    nextId: () => running.nextId(),
    add(request) {
      total += 1;
      running.put(request);
    },
    delete: (request) => void running.take(request.id),
    endWhere(gone, why) {
      for (const request of running.values()) {
        if (!gone(request.principal)) continue;
        const failure = why();
        const reply = toWireError(failure, request.era, request.method);
        request.channel.finish(reply.body, failure.row.http);
        request.controller.abort(failure);
      }
    },
    get size() {
      return running.size;
    },
    get total() {
      return total;
    },
  };
}
