import { GatewayError } from "../../../kernel/failures/gateway-error.ts";
import type { JsonObject } from "../../../kernel/text/json-bytes.ts";

/**
 * One client's requests that are being worked on, by id, so that `notifications/cancelled` finds them. Ids are parsed
 * values and not the client's spelling, because the notification may spell the same id with other escapes.
 */
export interface CancellableRequests {
  add(id: string | number, controller: AbortController): void;
  delete(id: string | number, controller: AbortController): void;
  /** Cancels what the params of `notifications/cancelled` name; false when there is no such request. */
  cancel(params: JsonObject): boolean;
  cancelAll(reason: string): void;
  /** Different ids that are in use. */
  readonly size: number;
}

/** Clients may use an id twice. Almost none do, so a list is made only for those that do. */
type SameId = AbortController | readonly AbortController[];

/** The client's own words are passed on to the server and to the record of the call: no more than this of them. */
const longestReason = 200;

export function createCancellableRequests(): CancellableRequests {
  const byId = new Map<string | number, SameId>();
  return {
    add(id, controller) {
      const same = byId.get(id);
      byId.set(id, same === undefined ? controller : [...toList(same), controller]);
    },
    delete(id, controller) {
      const same = byId.get(id);
      if (same === controller) byId.delete(id);
      if (same === undefined || same instanceof AbortController) return;
      const rest = same.filter((other) => other !== controller);
      if (rest.length === 0) byId.delete(id);
      else byId.set(id, rest);
    },
    cancel({ requestId, reason }) {
      if (typeof requestId !== "string" && typeof requestId !== "number") return false;
      const why = typeof reason === "string" ? `: ${reason.slice(0, longestReason)}` : "";
      const named = toList(byId.get(requestId) ?? []);
      for (const controller of named)
        controller.abort(new GatewayError("CALL_CANCELLED", `the client cancelled the request${why}`));
      return named.length > 0;
    },
    cancelAll(reason) {
      for (const same of byId.values())
        for (const controller of toList(same)) controller.abort(new GatewayError("CALL_CANCELLED", reason));
    },
    get size() {
      return byId.size;
    },
  };
}

function toList(same: SameId): readonly AbortController[] {
  return same instanceof AbortController ? [same] : same;
}
