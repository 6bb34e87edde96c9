import { expect, test } from "vitest";
import type { Caller } from "../caller.ts";
import { createLongWaits } from "./long-waits.ts";
import { toCallContext } from "./request-context.ts";
import { readClientMessage, type ClientRequest } from "../../../wire/mcp/client-message.ts";

const signal = new AbortController().signal;
const caller = {
  principal: { id: "local" },
  client: { era: "legacy", capabilities: {} },
  endpoint: { exposure: { isTransparent: false } },
} as unknown as Caller;

test("progress grows, and holds no number that JavaScript cannot write", () => {
  const sent: string[] = [];
  const request = readClientMessage(
    Buffer.from('{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":{"progressToken":"t"}}}'),
    64,
  ) as ClientRequest;
  const replies = { send: (text: string) => sent.push(text) > 0 };
  const { onProgress } = toCallContext(
    request,
    caller,
    createLongWaits().begin(replies, request.params),
    signal,
    undefined,
  );
  for (const params of [
    '{"progress":1}',
    '{"progress":1e400}',
    '{"progress":2,"total":1e400,"message":"m"}',
    '{"progress":2}',
  ])
    onProgress?.(JSON.parse(params) as { [key: string]: unknown });
  expect(sent.map((text) => (JSON.parse(text) as { params: unknown }).params)).toEqual([
    { progressToken: "t", progress: 1 },
    { progressToken: "t", progress: 2, message: "m" },
  ]);
});
