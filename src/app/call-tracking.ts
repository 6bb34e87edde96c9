import type { RunningRequest, RunningRequests } from "../front/mcp/running-requests.ts";
import type { Principal } from "../kernel/principal.ts";

/** Counts a call that comes in another way than MCP among the running ones. Returns what ends that. */
export type TrackCall = (principal: Principal, controller: AbortController) => () => void;

export function createCallTracking(running: RunningRequests): TrackCall {
  return (principal, controller) => {
    const request: RunningRequest = {
      id: running.nextId(),
      principal,
      era: "legacy",
      method: "tools/call",
      channel: noChannel,
      controller,
    };
    running.add(request);
    return () => running.delete(request);
  };
}

/** It has no JSON-RPC answer, so that there is nothing to end but its controller. */
const noChannel: RunningRequest["channel"] = Object.freeze({
  send: () => false,
  finish: () => undefined,
});
