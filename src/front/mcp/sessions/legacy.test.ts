import { expect, test } from "vitest";
import { createLegacyFront } from "../../../../test/harness/legacy-front.ts";
import type { Question } from "../../../kernel/call/call-context.ts";
import { localPrincipal } from "../../../kernel/principal.ts";
import { readClientMessage, type ClientMessage } from "../../../wire/mcp/client-message.ts";
import { createLegacyRequests } from "./legacy.ts";

type Received = Exclude<ClientMessage, { kind: "request" }>;
const toMessage = (message: object): Received =>
  readClientMessage(Buffer.from(JSON.stringify({ jsonrpc: "2.0", ...message })), 64) as Received;
const never = new AbortController().signal;

function create() {
  const { deps, endpoint } = createLegacyFront();
  const options = { principal: localPrincipal, endpointPath: endpoint.path, revision: "2025-11-25", capabilities: {} };
  return { legacy: createLegacyRequests(deps), session: deps.sessions.create(options) };
}

test("responses and progress reach the question that they are for", async () => {
  const { legacy, session } = create();
  const heard: unknown[] = [];
  const question: Question = {
    method: "sampling/createMessage",
    params: Buffer.from("{}"),
    onProgress: (params) => heard.push(params),
  };
  const [asked, refused] = [question, question].map((one) => session.questions.ask(one, () => true, never));
  legacy.receive(
    toMessage({ method: "notifications/progress", params: { progressToken: "toolyard-1", progress: 1 } }),
    session,
  );
  legacy.receive(toMessage({ id: "toolyard-1", result: { n: 1 } }), session);
  legacy.receive(toMessage({ id: "toolyard-2", error: { code: 1, message: "no" } }), session);
  expect(heard).toEqual([{ progress: 1 }]);
  expect(await asked).toEqual({ kind: "result", result: Buffer.from('{"n":1}') });
  expect(await refused).toEqual({ kind: "error", error: Buffer.from('{"code":1,"message":"no"}') });
});

test("a cancellation ends the request of that session alone", () => {
  const { legacy, session } = create();
  const other = create().session;
  const [mine, others] = [new AbortController(), new AbortController()];
  session.requests.add(1, mine);
  other.requests.add(1, others);
  legacy.receive(toMessage({ method: "notifications/cancelled", params: { requestId: 1 } }), session);
  expect([mine.signal.aborted, others.signal.aborted]).toEqual([true, false]);
});

test("changed roots are passed on; other notifications, and those without a session, do nothing", () => {
  const { legacy, session } = create();
  const changes: unknown[] = [];
  session.onRootsChanged = (params) => changes.push(params);
  legacy.receive(toMessage({ method: "notifications/roots/list_changed", params: { a: 1 } }), session);
  legacy.receive(toMessage({ method: "notifications/initialized" }), session);
  legacy.receive(toMessage({ method: "notifications/roots/list_changed" }), undefined);
  expect(changes).toEqual([{ a: 1 }]);
});
