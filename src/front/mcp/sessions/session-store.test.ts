import { expect, test } from "vitest";
import { localPrincipal } from "../../../kernel/principal.ts";
import { createSessionStore } from "./session-store.ts";

const options = { principal: localPrincipal, endpointPath: "/mcp", revision: "2025-11-25", capabilities: {} };

function create(limits = { sessions: 2, sessionIdleMs: 1_000 }) {
  const time = { nowMs: 0 };
  const store = createSessionStore(limits, {
    now: () => time.nowMs,
    monotonic: () => time.nowMs,
    after: () => () => undefined,
  });
  return { store, time };
}

test("a session is found by its principal at its endpoint only", () => {
  const { store } = create();
  const { id } = store.create(options);
  expect(store.find(id, localPrincipal, "/mcp")?.id).toBe(id);
  expect(store.find(id, localPrincipal, "/mcp/flat")).toBeUndefined();
  expect(store.find(id, { ...localPrincipal, id: "bob" as never }, "/mcp")).toBeUndefined();
  expect(store.find("__proto__", localPrincipal, "/mcp")).toBeUndefined();
});

test("an idle session ends, one with a request or a stream does not", () => {
  const { store, time } = create({ sessions: 10, sessionIdleMs: 1_000 });
  const [idle, busy, touched] = [store.create(options), store.create(options), store.create(options)];
  busy.requests.add(1, new AbortController());
  time.nowMs = 1_001;
  store.touch(touched);
  expect(store.find(idle.id, localPrincipal, "/mcp")).toBeUndefined();
  expect(store.find(busy.id, localPrincipal, "/mcp")).toBe(busy);
  expect(store.find(touched.id, localPrincipal, "/mcp")).toBe(touched);
});

test("no more than the limit are open; idle ones make room", () => {
  const { store, time } = create();
  store.create(options);
  store.create(options);
  expect(() => store.create(options)).toThrowError(expect.objectContaining({ code: "SESSION_LIMIT" }));
  time.nowMs = 1_001;
  store.create(options);
  expect(store.size).toBe(1);
});

test("at the limit, who has the most makes room for another, with what was not used for longest", () => {
  const { store, time } = create({ sessions: 4, sessionIdleMs: 1_000 });
  const bob = { ...options, principal: { ...localPrincipal, id: "bob" as never } };
  const [first, second, third] = [store.create(options), store.create(options), store.create(options)];
  store.create(bob);
  time.nowMs = 10;
  store.touch(first);
  third.requests.add(1, new AbortController());
  expect(() => store.create(options)).toThrowError(expect.objectContaining({ code: "SESSION_LIMIT" }));
  store.create(bob);
  expect([first, second, third].map(({ id }) => store.find(id, localPrincipal, "/mcp")?.id)).toEqual([
    first.id,
    undefined,
    third.id,
  ]);
  expect(store.size).toBe(4);
});

test("what ends ends its calls", () => {
  const { store } = create();
  const session = store.create(options);
  const call = new AbortController();
  session.requests.add("a", call);
  store.end(session, "gone");
  expect(call.signal.reason).toMatchObject({ code: "CALL_CANCELLED" });
  expect(store.find(session.id, localPrincipal, "/mcp")).toBeUndefined();
});

test("a session with a request or a stream makes room for nobody", () => {
  const { store } = create({ sessions: 2, sessionIdleMs: 1_000 });
  const bob = { ...options, principal: { ...localPrincipal, id: "bob" as never } };
  const [busy, idle] = [store.create(options), store.create(options)];
  busy.requests.add(1, new AbortController());
  store.create(bob);
  expect(store.find(busy.id, localPrincipal, "/mcp")).toBe(busy);
  expect(store.find(idle.id, localPrincipal, "/mcp")).toBeUndefined();
});

test("a session that the gateway ends for idleness has lapsed; one that its client ended is gone", () => {
  const { store, time } = create({ sessions: 10, sessionIdleMs: 1_000 });
  const [idle, ended] = [store.create(options), store.create({ ...options, clientName: "other" })];
  expect(idle.presence).toMatchObject({ state: "open", sinceMs: 0, lapsedAtMs: undefined });
  expect(idle.presence.program).not.toBe(ended.presence.program);
  store.end(ended, "the client ended the session");
  time.nowMs = 1_001;
  store.expire();
  expect(ended.presence.state).toBe("gone");
  expect(idle.presence).toMatchObject({ state: "lapsed", lapsedAtMs: 1_001 });
});

test("ten thousand sessions are not looked through at each new one, and the last one used stays", () => {
  const { store, time } = create({ sessions: 10_000, sessionIdleMs: 1_000 });
  const bob = { ...options, principal: { ...localPrincipal, id: "bob" as never } };
  const all = Array.from({ length: 10_000 }, () => store.create(options));
  let asked = 0;
  for (const session of all)
    Object.defineProperty(session, "requests", {
      value: {
        get size() {
          asked += 1;
          return session === all[0] ? 1 : 0;
        },
        cancelAll: () => undefined,
      },
    });
  time.nowMs = 10;
  for (const session of all.slice(1, 5_000)) store.touch(session);
  for (let index = 0; index < 100; index += 1) store.create(bob);
  // The busy one is passed, and each new session costs one.
  expect(asked).toBe(101);
  expect(store.size).toBe(10_000);
  expect(all.filter(({ presence }) => presence.state === "lapsed")).toEqual(all.slice(5_000, 5_100));
  time.nowMs = 5_000;
  asked = 0;
  store.expire();
  expect(asked).toBeLessThan(1_000);
});

test("a session that is in use when it is looked at is idle from its last use on", () => {
  const { store, time } = create({ sessions: 10, sessionIdleMs: 1_000 });
  const busy = store.create(options);
  const call = new AbortController();
  busy.requests.add(1, call);
  time.nowMs = 1_500;
  store.expire();
  busy.requests.delete(1, call);
  store.touch(busy);
  time.nowMs = 2_500;
  store.expire();
  expect(store.size).toBe(1);
  time.nowMs = 2_501;
  store.expire();
  expect(store.size).toBe(0);
});

test("a principal's sessions are counted as they come and go", () => {
  const { store } = create({ sessions: 3, sessionIdleMs: 1_000 });
  const of = (id: string) => ({ ...options, principal: { ...localPrincipal, id: id as never } });
  const [a, b] = [store.create(of("a")), store.create(of("a"))];
  store.create(of("b"));
  store.end(a, "gone");
  store.create(of("b"));
  const c = store.create(of("c"));
  // Of b's two, one went.
  expect([...store.all()].map(({ principal }) => principal.id).toSorted()).toEqual(["a", "b", "c"]);
  expect([b, c].every(({ presence }) => presence.state === "open")).toBe(true);
  expect(() => store.create(of("a"))).toThrowError(expect.objectContaining({ code: "SESSION_LIMIT" }));
});
