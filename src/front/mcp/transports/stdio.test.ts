import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { clientRequest, createLegacyFront } from "../../../../test/harness/legacy-front.ts";
import { createManualClock } from "../../../../test/harness/manual-clock.ts";
import { until } from "../../../../test/harness/until.ts";
import type { Limits } from "../../../config/config.ts";
import { localPrincipal } from "../../../kernel/principal.ts";
import { createAdmission } from "../../http/guards/admission.ts";
import { createLegacyRequests } from "../sessions/legacy.ts";
import { createListenRequests } from "../listen/listen.ts";
import type { Caller } from "../caller.ts";
import { createLongWaits } from "../endpoint/long-waits.ts";
import { serveStdio } from "./stdio.ts";

const limits = { jsonDepth: 64, requestBodyBytes: 4_096 } as Limits;
const modern = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": { roots: {} },
};
const initialize = { protocolVersion: "2025-11-25", capabilities: { sampling: {} } };

/** A gateway on a pair of streams. Its requests wait until the test lets them be answered, or cancels them. */
function serve() {
  const { deps, endpoint } = createLegacyFront();
  const clock = createManualClock();
  const [input, output] = [new PassThrough(), new PassThrough()];
  let text = "";
  output.on("data", (chunk: Buffer) => (text += chunk.toString("latin1")));
  const calls: { readonly caller: Caller; readonly signal: AbortSignal; answer(): void }[] = [];
  const listen = createListenRequests({ ...deps, serverInfoText: "{}" });
  const ended = serveStdio({
    input,
    output,
    endpoint,
    principal: localPrincipal,
    limits,
    parts: {
      legacy: createLegacyRequests(deps),
      listen,
      sessions: deps.sessions,
      clock,
      admission: createAdmission(() => ({ concurrentCalls: 3, callsPerSecond: 100, openStreams: 3 }), clock),
      ofClient: (principal) => principal,
      startupWait: () => undefined,
      tap: { take: undefined },
      waits: createLongWaits(),
      runner: {
        run: async (_request, caller, _channel, signal) =>
          await new Promise((resolve) => {
            const answer = (): void => resolve({ body: '"result":{}', status: 200 });
            calls.push({ caller, signal, answer });
            signal.addEventListener("abort", answer);
          }),
      },
    },
  });
  const messages = (): Record<string, any>[] =>
    text
      .split("\n")
      .slice(0, -1)
      .map((line) => JSON.parse(line) as Record<string, any>);
  const send = (message: object): void => void input.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  return {
    input,
    output,
    ended,
    calls,
    listen,
    endpoint,
    sessions: deps.sessions,
    messages,
    send,
    /** The message with this id, once it has come. */
    answerTo: async (id: unknown) => await until(() => messages().find((message) => message["id"] === id)),
    /** The calls, once there are so many. */
    called: async (count: number) => await until(() => calls.length >= count && calls),
  };
}

test("a client may change its era with every request; each is answered as its caller", async () => {
  const { send, answerTo, called } = serve();
  send({ id: 1, method: "tools/list", params: { _meta: modern } });
  send({ id: 2, method: "initialize", params: initialize });
  send({ id: 3, method: "tools/list" });
  const [first, second] = await called(2);
  expect(first?.caller).toMatchObject({ client: { era: "modern", capabilities: { roots: {} } }, session: undefined });
  expect(second?.caller).toMatchObject({ client: { era: "legacy", capabilities: { sampling: {} } } });
  expect(second?.caller.session).toBeDefined();
  expect(await answerTo(2)).toMatchObject({ result: { protocolVersion: "2025-11-25" } });
  second?.answer();
  first?.answer();
  expect([await answerTo(3), await answerTo(1)]).toMatchObject([{ result: {} }, { result: {} }]);
});

test("a cancelled request of either era gets no answer", async () => {
  const { send, called, messages, answerTo } = serve();
  send({ id: 1, method: "initialize", params: initialize });
  send({ id: "old", method: "tools/list" });
  send({ id: "new", method: "tools/list", params: { _meta: modern } });
  const [old, recent] = await called(2);
  for (const requestId of ["old", "new"]) send({ method: "notifications/cancelled", params: { requestId } });
  await until(() => old?.signal.aborted === true && recent?.signal.aborted);
  send({ id: "last", method: "logging/setLevel", params: { level: "error" } });
  await answerTo("last");
  expect(messages().map(({ id }) => id as unknown)).toEqual([1, "last"]);
});

test("a client that closes its end gets what it asked for, and then it is over", async () => {
  const { send, input, called, ended, answerTo } = serve();
  send({ id: 1, method: "tools/list" });
  const [call] = await called(1);
  input.end();
  let over = false;
  void ended.then(() => (over = true));
  await until(() => input.readableEnded);
  expect(over).toBe(false);
  call?.answer();
  await ended;
  expect(await answerTo(1)).toMatchObject({ result: {} });
});

test("when nobody reads any more all ends at once: calls, the session, subscriptions", async () => {
  const { send, output, called, ended, listen, sessions } = serve();
  send({ id: 1, method: "initialize", params: initialize });
  send({ id: 2, method: "tools/list" });
  send({ id: 3, method: "tools/list", params: { _meta: modern } });
  send({ id: 4, method: "subscriptions/listen", params: { _meta: modern, notifications: {} } });
  const calls = await called(2);
  await until(() => listen.size === 1);
  output.destroy();
  await ended;
  expect(calls.map(({ signal }) => signal.aborted)).toEqual([true, true]);
  expect(calls[1]?.caller.connected?.ended.aborted).toBe(true);
  expect([sessions.size, listen.size]).toEqual([0, 0]);
});

test("its end ends its own subscriptions, with their result, and not those of others of the same person", async () => {
  const { send, input, ended, listen, endpoint, answerTo } = serve();
  const listening = { id: 1, method: "subscriptions/listen", params: { _meta: modern, notifications: {} } };
  const client = { era: "modern" as const, revision: "2026-07-28", capabilities: {} };
  const request = clientRequest("subscriptions/listen", { notifications: {} });
  listen.open(request, { principal: localPrincipal, endpoint, client, via: "stdio", session: undefined }, () => ({
    send: () => true,
    finish: () => undefined,
  }));
  send(listening);
  await until(() => listen.size === 2);
  input.destroy();
  await ended;
  expect(listen.size).toBe(1);
  expect(await answerTo(1)).toMatchObject({ result: { resultType: "complete" } });
});

test("a second initialize replaces the session, and ends what ran in it", async () => {
  const { send, called, answerTo, sessions } = serve();
  send({ id: 1, method: "initialize", params: initialize });
  send({ id: 2, method: "tools/list" });
  const [call] = await called(1);
  send({ id: 3, method: "initialize", params: initialize });
  await answerTo(3);
  expect(call?.signal.reason).toMatchObject({ code: "CALL_CANCELLED" });
  expect(sessions.size).toBe(1);
});

test("one request too many is refused, and room comes back with an answer", async () => {
  const { send, called, answerTo } = serve();
  for (let id = 1; id <= 4; id += 1) send({ id, method: "tools/list" });
  expect(await answerTo(4)).toMatchObject({ error: { data: { code: "RATE_LIMITED" } } });
  const [first] = await called(3);
  first?.answer();
  await answerTo(1);
  send({ id: 5, method: "tools/list" });
  await called(4);
});

test("what cannot be read is refused, and the client goes on", async () => {
  const { input, send, messages, answerTo } = serve();
  input.write("{\n");
  send({ id: 1, method: "tools/list", params: { _meta: { ...modern, [Object.keys(modern)[1] as string]: 1 } } });
  expect(await answerTo(1)).toMatchObject({ error: { data: { code: "PARAMS_INVALID" } } });
  expect(messages()[0]).toMatchObject({ id: null, error: { data: { code: "PARSE_ERROR" } } });
});

test("a line that is too long is refused, and ends the connection", async () => {
  const { input, ended, messages } = serve();
  input.write(`{"a":"${"x".repeat(10_000)}`);
  await ended;
  await until(() => messages().length > 0);
  expect(messages()).toMatchObject([{ id: null, error: { data: { code: "BODY_TOO_LARGE" } } }]);
});
