import { expect, test } from "vitest";
import type { Question } from "../../../kernel/call/call-context.ts";
import { localPrincipal } from "../../../kernel/principal.ts";
import { createSession } from "./session.ts";

const options = {
  principal: localPrincipal,
  endpointPath: "/mcp",
  revision: "2025-11-25",
  capabilities: {},
  clientName: "tester",
  nowMs: 7,
};
const roots: Question = { method: "roots/list", params: Buffer.from("{}") };
const never = new AbortController().signal;

test("servers know the client by another id than the one that stands for it in requests", () => {
  const [one, two] = [createSession(options), createSession(options)];
  expect(new Set([one.id, one.connected.id, two.id, two.connected.id]).size).toBe(4);
  expect(one).toMatchObject({ lastUseMs: 7, presence: { sinceMs: 7, state: "open" } });
});

test("outside of a call the client is asked on the channel that it has open", async () => {
  const session = createSession(options);
  await expect(session.connected.ask?.(roots, never)).rejects.toMatchObject({ code: "CLIENT_CANNOT_ANSWER" });
  const sent: string[] = [];
  session.pushes.attachLine((message) => sent.push(message));
  const asked = session.connected.ask?.(roots, never);
  expect(sent).toHaveLength(1);
  const { id } = JSON.parse(sent[0] ?? "") as { id: string };
  const answer = { kind: "result" as const, result: Buffer.from('{"roots":[]}') };
  session.questions.answer(id, answer);
  expect(await asked).toEqual(answer);
});

test("when it ends all that belongs to it ends, once", async () => {
  const session = createSession(options);
  const call = new AbortController();
  const ends: string[] = [];
  session.requests.add(1, call);
  session.watched.add("a", "key of a", () => void ends.push("resource"));
  session.onClose = () => void ends.push("onClose");
  session.connected.ended.addEventListener("abort", () => void ends.push("connected"));
  session.close("the client ended the session");
  session.close("again");
  expect(ends).toEqual(["resource", "onClose", "connected"]);
  const ended = { code: "CALL_CANCELLED", message: "the client ended the session" };
  expect(call.signal.reason).toMatchObject(ended);
  expect(session.connected.ended.reason).toMatchObject(ended);
  expect(session.presence.state).toBe("gone");
  await expect(session.questions.ask(roots, () => true, never)).rejects.toMatchObject({
    code: "CLIENT_CANNOT_ANSWER",
  });
});

test("one that has lapsed stays so: its client may come back with another", () => {
  const session = createSession(options);
  session.presence.state = "lapsed";
  session.close("the session was idle for too long");
  expect(session.presence.state).toBe("lapsed");
});

test("a client that several gateways ask knows the questions of each apart", () => {
  const ids = new Set(
    ["first", "second"].map((gateway) => {
      const session = createSession({ ...options, sealed: { id: "tys1.a.b", connectedId: "c" } });
      const sent: string[] = [];
      session.pushes.attachLine((message) => sent.push(message));
      session.connected.ask?.(roots, never).catch(() => gateway);
      return (JSON.parse(sent[0] ?? "") as { id: string }).id;
    }),
  );
  expect(ids.size).toBe(2);
});
