import type { Opened } from "../../servers/instance/instance-deps.ts";
import type { UpstreamRequest } from "../../servers/upstream/connection.ts";

/**
 * Every node subscribes to the resources that its clients watch, over one connection to the server: the
 * server hears of the end of a subscription only when the last node gives it up.
 */
export function countSubscriptions(request: Opened["request"]): Opened["request"] {
  const counts = new Map<string, number>();

  /** Undefined where a node gives up what others have. */
  function count(uri: string, by: 1 | -1): number | undefined {
    const left = Math.max(0, (counts.get(uri) ?? 0) + by);
    if (left === 0) counts.delete(uri);
    else counts.set(uri, left);
    return by === -1 && left > 0 ? undefined : left;
  }

  return async (asked) => {
    const by = changes.get(asked.method);
    if (by === undefined) return await request(asked);
    const uri = uriOf(asked);
    if (count(uri, by) === undefined) {
      asked.onSent?.();
      return { kind: "result", result: Buffer.from("{}") };
    }
    try {
      const reply = await request(asked);
      if (by === 1 && reply.kind === "error") count(uri, -1);
      return reply;
    } catch (error) {
      if (by === 1) count(uri, -1);
      throw error;
    }
  };
}

const changes: ReadonlyMap<string, 1 | -1> = new Map([
  ["resources/subscribe", 1],
  ["resources/unsubscribe", -1],
]);

function uriOf({ params }: UpstreamRequest): string {
  return String(params.find(([key]) => key === "uri")?.[1] ?? "");
}
