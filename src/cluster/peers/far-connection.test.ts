import { expect, test } from "vitest";
import { toSentFailure } from "../../kernel/failures/gateway-error.ts";
import type { Peer, UpstreamRequest } from "../../servers/upstream/connection.ts";
import { createWaitingRequests } from "../../servers/upstream/waiting-requests.ts";
import { createFarConnection } from "./far-connection.ts";
import type { FrameHead, FrameStream } from "./frames.ts";
import { moved } from "./messages.ts";

/** A connection with one request that was sent to the other node. */
function withRequest() {
  const frames: FrameHead[] = [];
  const far = createFarConnection({
    frames: { send: (head: FrameHead) => void frames.push(head) } as unknown as FrameStream,
    ...{ node: "two", c: 1, server: "notes", waiting: createWaitingRequests },
    onEnd: () => undefined,
  });
  const connection = far.toOpened({} as Peer);
  const { signal } = new AbortController();
  const times = { timeoutMs: 60_000, maxTimeoutMs: 60_000 };
  const asked = { method: "tools/call", params: [], era: "legacy", signal, ...times } as unknown as UpstreamRequest;
  const outcome = connection.request(asked).then(
    () => "answered",
    ({ code }: { readonly code: string }) => code,
  );
  return { far, connection, outcome, id: Number(frames.find(({ k }) => k === "request")?.["id"]) };
}

test("a request on its way when the server moved is answered by the node, although the connection is left", async () => {
  const { far, connection, outcome, id } = withRequest();
  far.end({ kind: "moved", node: "two" });
  await connection[Symbol.asyncDispose]();
  far.take({ k: "failed", c: 1, id, sent: false, failure: toSentFailure(moved("notes", "two")) }, Buffer.alloc(0));
  expect(await outcome).toBe("INSTANCE_MOVED");
});

test("a request on its way when the connection is left, or the node is lost, fails at once", async () => {
  const left = withRequest();
  await left.connection[Symbol.asyncDispose]();
  expect(await left.outcome).toBe("UPSTREAM_CLOSED");
  const lost = withRequest();
  lost.far.end({ kind: "moved", node: "two" });
  lost.far.end({ kind: "moved", node: "two", isLost: true });
  expect(await lost.outcome).toBe("OUTCOME_UNKNOWN");
});
