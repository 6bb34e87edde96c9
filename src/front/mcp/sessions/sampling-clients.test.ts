import { expect, test } from "vitest";
import { createManualClock } from "../../../../test/harness/manual-clock.ts";
import { localPrincipal, type Principal } from "../../../kernel/principal.ts";
import { createSamplingClients } from "./sampling-clients.ts";
import { createSessionStore } from "./session-store.ts";
import type { Session } from "./session.ts";

const never = new AbortController().signal;
const params = Buffer.from('{"maxTokens":1}');

interface Sent {
  readonly id?: string;
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
}

function create(mayWrite: (principal: Principal) => boolean = () => true) {
  const clock = createManualClock();
  const sessions = createSessionStore({ sessions: 100, sessionIdleMs: 1_000 }, clock, () => clients.noteReachable());
  const clients = createSamplingClients({ sessions, mayWrite });
  const connect = (given: { path?: string; name?: string; capabilities?: object } = {}) => {
    const { path = "/mcp", name = "a", capabilities = { sampling: {} } } = given;
    const revision = "2025-11-25";
    const session = sessions.create({
      ...{ principal: localPrincipal, revision, clientName: name },
      endpointPath: path,
      capabilities: capabilities as Session["capabilities"],
    });
    const sent: Sent[] = [];
    session.pushes.attachLine((message) => sent.push(JSON.parse(message) as Sent));
    return { session, sent };
  };
  const initialize = ({ session }: { session: Session }): void => {
    session.isInitialized = true;
    session.onReachable();
  };
  return { clients, sessions, clock, connect, initialize };
}

test("a client is asked for nothing before it has said that it is initialized, and then somebody is told", async () => {
  const { clients, connect, initialize } = create();
  const told: boolean[] = [];
  const forget = clients.onReady(() => told.push(clients.isReady()));
  const client = connect();
  expect(told).toEqual([false]);
  await expect(clients.ask(params, never)).rejects.toMatchObject({ code: "CLIENT_CANNOT_ANSWER" });
  expect(client.sent).toEqual([]);
  initialize(client);
  expect(told).toEqual([false, true]);
  forget();
  initialize(client);
  expect(told).toHaveLength(2);
});

test.each([
  ["declares no sampling", { capabilities: { roots: {} } }],
  ["declares something else", { capabilities: { sampling: true } }],
  ["sees one server", { path: "/mcp/server/github" }],
  ["sees one instance", { path: "/i/github/mcp" }],
  ["sees one server over HTTP+SSE", { path: "/sse/server/github" }],
])("a client that %s is never asked", (_what, given) => {
  const { clients, connect, initialize } = create();
  initialize(connect(given));
  expect(clients.isReady()).toBe(false);
  for (const path of ["/mcp", "/mcp/flat", "/sse"]) {
    const other = create();
    other.initialize(other.connect({ path }));
    expect(other.clients.isReady()).toBe(true);
  }
});

test("the client of somebody who may not write is never asked", () => {
  const { clients, connect, initialize } = create(({ id }) => id !== localPrincipal.id);
  initialize(connect());
  expect(clients.isReady()).toBe(false);
});

test("the question goes to the client that was used last, and its answer comes back", async () => {
  const { clients, clock, connect, initialize } = create();
  const first = connect();
  await clock.advance(10);
  const second = connect({ name: "b" });
  for (const one of [first, second]) initialize(one);
  const asked = clients.ask(params, never);
  expect([first.sent.length, second.sent.length]).toEqual([0, 1]);
  const [question] = second.sent;
  expect(question).toMatchObject({ method: "sampling/createMessage", params: { maxTokens: 1 } });
  second.session.questions.answer(question?.id ?? "", { kind: "result", result: Buffer.from("{}") });
  expect(await asked).toMatchObject({ kind: "result" });
  expect(clients.isReady()).toBe(true);
});

test("who says no, or does not answer in time, is left alone, in the next session too; who leaves is not", async () => {
  const { clients, sessions, connect, initialize } = create();
  const no = connect({ name: "no" });
  initialize(no);
  const refused = clients.ask(params, never);
  no.session.questions.answer(no.sent[0]?.id ?? "", { kind: "error", error: Buffer.from('{"code":-1}') });
  expect(await refused).toMatchObject({ kind: "error" });
  initialize(connect({ name: "no" }));
  expect(clients.isReady()).toBe(false);

  const silent = connect({ name: "silent" });
  initialize(silent);
  const deadline = new AbortController();
  const late = clients.ask(params, deadline.signal);
  deadline.abort(new Error("late"));
  await expect(late).rejects.toThrow("late");
  expect(silent.sent.map(({ method }) => method)).toEqual(["sampling/createMessage", "notifications/cancelled"]);
  expect(clients.isReady()).toBe(false);

  const leaving = connect({ name: "leaving" });
  initialize(leaving);
  const left = clients.ask(params, never);
  sessions.end(leaving.session, "the client ended the session");
  await expect(left).rejects.toMatchObject({ code: "CALL_CANCELLED" });
  initialize(connect({ name: "leaving" }));
  expect(clients.isReady()).toBe(true);
});
