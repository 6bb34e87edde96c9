import { setImmediate } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { clientRequest, createLegacyFront } from "../../../../test/harness/legacy-front.ts";
import type { InstanceId } from "../../../kernel/ids.ts";
import { localPrincipal } from "../../../kernel/principal.ts";
import { joinText } from "../answers/result-text.ts";
import { createSessionStart, type StartedSession } from "./session-start.ts";
import type { SealedSessions } from "./sealed-sessions.ts";
import type { Session } from "./session.ts";

const initialize = (params: object = {}) =>
  clientRequest("initialize", { protocolVersion: "2025-11-25", capabilities: {}, ...params });

function bodyOf({ reply }: StartedSession): Record<string, any> {
  return JSON.parse(`{${joinText(reply.body)}}`) as Record<string, any>;
}

/** A session whose pushes are kept. */
function startSession() {
  const front = createLegacyFront();
  const { session } = createSessionStart(front.deps).initialize(initialize(), localPrincipal, front.endpoint);
  const pushed: Record<string, unknown>[] = [];
  session?.pushes.attachLine((message) => pushed.push(JSON.parse(message) as Record<string, unknown>));
  return { ...front, session: session as Session, pushed };
}

test("the answer says what the endpoint offers; the session keeps what the client said", () => {
  const { deps, endpoint } = createLegacyFront();
  const params = { capabilities: { roots: {} }, clientInfo: { name: "tester" }, protocolVersion: "2025-06-18" };
  const started = createSessionStart(deps).initialize(initialize(params), localPrincipal, endpoint);
  expect(started.reply.status).toBe(200);
  expect(bodyOf(started)["result"]).toMatchObject({
    protocolVersion: "2025-06-18",
    capabilities: { tools: { listChanged: true }, resources: { subscribe: true } },
    serverInfo: { name: "toolyard" },
    instructions: expect.stringContaining("files"),
    _meta: { "toolyard/gateways": ["this gateway"] },
  });
  expect(started.session).toMatchObject({
    revision: "2025-06-18",
    capabilities: { roots: {} },
    endpointPath: "/mcp/flat",
    presence: { state: "open", program: expect.stringContaining("tester") },
  });
});

test("an unknown revision gets the newest that has sessions, and capabilities that are no object are none", () => {
  const { deps, endpoint } = createLegacyFront();
  const params = { protocolVersion: "1999-01-01", capabilities: "all" };
  const { session } = createSessionStart(deps).initialize(initialize(params), localPrincipal, endpoint);
  expect(session).toMatchObject({ revision: "2025-11-25", capabilities: {} });
});

test("one session too many is refused, with a status of its own", () => {
  const { deps, endpoint } = createLegacyFront();
  const start = createSessionStart(deps).initialize;
  start(initialize(), localPrincipal, endpoint);
  start(initialize(), localPrincipal, endpoint);
  const refused = start(initialize(), localPrincipal, endpoint);
  expect(refused.session).toBeUndefined();
  expect(refused.reply.status).not.toBe(200);
  expect(bodyOf(refused)["error"].data).toMatchObject({ code: "SESSION_LIMIT" });
});

test("an endpoint whose server does not exist makes no session", () => {
  const { deps, endpoint } = createLegacyFront();
  const exposure = {
    ...endpoint.exposure,
    transparent() {
      throw new Error("no such server");
    },
  };
  const refused = createSessionStart(deps).initialize(initialize(), localPrincipal, { ...endpoint, exposure });
  expect(refused).toMatchObject({ session: undefined, reply: { status: 200 } });
  expect(deps.sessions.size).toBe(0);
});

test("the session hears of changed lists until it ends", () => {
  const { deps, events, session, pushed, done } = startSession();
  const change = () =>
    events.emit({ type: "catalog.changed", instance: "files" as InstanceId, kinds: ["tools", "prompts"] } as never);
  change();
  expect(pushed.map(({ method }) => method)).toEqual([
    "notifications/tools/list_changed",
    "notifications/prompts/list_changed",
  ]);
  deps.sessions.end(session, "over");
  change();
  expect(pushed).toHaveLength(2);
  expect(done).toEqual(["drop level"]);
});

test("it is told of updates in its own spelling of the resource", () => {
  const { events, session, pushed } = startSession();
  session.watched.add("files|a.txt", "files\na.txt", () => undefined);
  events.emit({ type: "resource.updated", instance: "files" as InstanceId, uri: "a.txt" } as never);
  events.emit({ type: "resource.updated", instance: "files" as InstanceId, uri: "b.txt" } as never);
  expect(pushed).toMatchObject([{ method: "notifications/resources/updated", params: { uri: "files|a.txt" } }]);
});

test("changed roots are told to the client's own instances, and to no server that others share", () => {
  const { session, done } = startSession();
  session.onRootsChanged?.({});
  expect(done).toEqual(["notifications/roots/list_changed to own of the client"]);
});

describe("a session of another gateway", () => {
  const facts = { revision: "2025-06-18", capabilities: { roots: {} }, clientName: "tester", connectedId: "c-1" };

  /** A gateway that knows one id, which `ended` may say was ended. */
  function arrive(ended: () => Promise<boolean> = async () => false) {
    const front = createLegacyFront();
    const followed: Session[] = [];
    const sealed: SealedSessions = {
      seal: () => "sealed id",
      open: (id) => (id === "sealed id" ? facts : undefined),
      isEnded: ended,
      follow: (session) => void followed.push(session),
      tellEnd: () => undefined,
    };
    const start = createSessionStart({ ...front.deps, sealed: () => sealed });
    const again = (id = "sealed id", known?: Promise<void>) => start.again(id, localPrincipal, front.endpoint, known);
    return { ...front, start, again, followed };
  }

  test("is made again as its client declared itself, once, and is followed", async () => {
    const { again, deps, followed } = arrive();
    const [one, two] = await Promise.all([again(), again()]);
    expect(one).toMatchObject({
      ...{ id: "sealed id", revision: "2025-06-18", capabilities: { roots: {} }, clientName: "tester" },
      ...{ connected: { id: "c-1" }, isInitialized: true, endpointPath: "/mcp/flat" },
    });
    expect(two).toBe(one);
    expect([deps.sessions.size, followed]).toEqual([1, [one]]);
    expect(again("another id")).toBeUndefined();
  });

  test("is not made again after its end, nor before anything is known of its servers", async () => {
    expect(await arrive(async () => true).again()).toBeUndefined();
    const { again, deps } = arrive();
    let tell = (): void => undefined;
    const coming = again("sealed id", new Promise((resolve) => (tell = resolve)));
    await setImmediate();
    expect(deps.sessions.size).toBe(0);
    tell();
    expect(await coming).toMatchObject({ id: "sealed id" });
  });

  test("takes the place of one that is held for somebody who has lost something since", async () => {
    const { again, deps, endpoint, start } = arrive();
    const before = start.initialize(initialize(), { ...localPrincipal }, endpoint, true).session as Session;
    expect(before.id).toBe("sealed id");
    const session = await again();
    expect(session).not.toBe(before);
    expect(before.connected.ended.aborted).toBe(true);
    expect([...deps.sessions.all()]).toEqual([session]);
  });

  test("hears of changes as one that began here does", async () => {
    const { again, events } = arrive();
    const session = await again();
    const pushed: string[] = [];
    session?.pushes.attachLine((message) => pushed.push(message));
    const news = {
      type: "catalog.changed" as const,
      atMs: 0,
      instance: "files" as InstanceId,
      kinds: ["tools" as const],
    };
    events.emit({ ...news, server: "files" as never, added: 0, removed: 0 } as never);
    expect(pushed.join()).toContain("notifications/tools/list_changed");
  });

  test("only ids that clients are given are sealed", () => {
    const { start, endpoint } = arrive();
    expect(start.initialize(initialize(), localPrincipal, endpoint).session?.id).not.toBe("sealed id");
  });
});
