import { request as httpRequest, type IncomingMessage } from "node:http";
import { afterEach, describe, expect, test } from "vitest";
import { send, type RawAnswer } from "../../harness/rpc.ts";
import { until } from "../../harness/until.ts";
import { post, useGateway } from "./front.ts";

const gateway = useGateway({ limits: { sessions: 40, sessionIdleMs: 2_000 } }, ["--resources", "--prompts"]);
const both = { accept: "application/json, text/event-stream" };
let lastId = 100;

interface SessionOptions {
  readonly revision?: string;
  readonly capabilities?: object;
  readonly path?: string;
}

/** A legacy client's session: `call` posts a request in it. */
interface TestSession {
  readonly id: string;
  readonly headers: Readonly<Record<string, string>>;
  call(
    method: string,
    params?: object,
    headers?: Readonly<Record<string, string>>,
    id?: number | string,
  ): Promise<RawAnswer>;
  tool(
    name: string,
    args?: object,
    headers?: Readonly<Record<string, string>>,
    id?: number | string,
  ): Promise<RawAnswer>;
  notify(method: string, params?: object): Promise<RawAnswer>;
}

const openSessions: TestSession[] = [];
const openStreams: Stream[] = [];

afterEach(async () => {
  for (const stream of openStreams.splice(0)) stream.close();
  for (const session of openSessions.splice(0))
    await send(`${gateway().url}/mcp`, { method: "DELETE", headers: session.headers });
});

async function initialize(options: SessionOptions = {}): Promise<RawAnswer> {
  const params = {
    protocolVersion: options.revision ?? "2025-11-25",
    capabilities: options.capabilities ?? {},
    clientInfo: { name: "test", version: "1" },
  };
  return await post(
    `${gateway().url}${options.path ?? "/mcp"}`,
    JSON.stringify({ jsonrpc: "2.0", id: 0, method: "initialize", params }),
    both,
  );
}

async function startSession(options: SessionOptions = {}): Promise<TestSession> {
  const url = `${gateway().url}${options.path ?? "/mcp"}`;
  const made = await initialize(options);
  const id = String(made.headers["mcp-session-id"]);
  const headers = { "mcp-session-id": id, "mcp-protocol-version": options.revision ?? "2025-11-25" };
  const call: TestSession["call"] = async (method, params = {}, more = both, given = (lastId += 1)) =>
    await post(url, JSON.stringify({ jsonrpc: "2.0", id: given, method, params }), { ...headers, ...more });
  const session: TestSession = {
    id,
    headers,
    call,
    tool: async (name, args = {}, more = both, given = (lastId += 1)) =>
      await call(
        "tools/call",
        { name: "execute_mcp_tool", arguments: { tool_path: `bad:${name}`, arguments: args } },
        more,
        given,
      ),
    notify: async (method, params = {}) => await post(url, JSON.stringify({ jsonrpc: "2.0", method, params }), headers),
  };
  openSessions.push(session);
  return session;
}

interface Stream {
  readonly status: number;
  text(): string;
  ended(): boolean;
  /** All messages so far. */
  messages(): {
    readonly id?: unknown;
    readonly method?: string;
    readonly params?: Record<string, unknown>;
    readonly result?: Record<string, unknown>;
  }[];
  close(): void;
}

/** Opens an event stream and leaves it open. */
async function stream(options: {
  method?: string;
  headers: Readonly<Record<string, string>>;
  body?: string;
  path?: string;
}): Promise<Stream> {
  return await new Promise((resolve, reject) => {
    const request = httpRequest(
      `${gateway().url}${options.path ?? "/mcp"}`,
      { method: options.method ?? "GET", agent: false, headers: { accept: "text/event-stream", ...options.headers } },
      (response: IncomingMessage) => {
        let text = "";
        let ended = false;
        response.on("data", (chunk: Buffer) => (text += chunk.toString()));
        response.on("error", () => undefined);
        response.on("close", () => (ended = true));
        const opened: Stream = {
          status: response.statusCode ?? 0,
          text: () => text,
          ended: () => ended,
          messages: () => readEvents(text),
          close: () => request.destroy(),
        };
        openStreams.push(opened);
        resolve(opened);
      },
    );
    request.on("error", reject);
    request.end(options.body);
  });
}

function readEvents(text: string): ReturnType<Stream["messages"]> {
  return text
    .split("\n\n")
    .map((event) =>
      event
        .split("\n")
        .flatMap((line) => (line.startsWith("data: ") ? [line.slice(6)] : []))
        .join("\n"),
    )
    .filter((data) => data.trim() !== "")
    .map((data) => JSON.parse(data) as never);
}

describe("a session's life", () => {
  test("initialize gives an id; requests in it are answered, notifications accepted", async () => {
    const answer = await initialize();
    expect(answer.headers["mcp-session-id"]).toMatch(/^[\x21-\x7e]{16,}$/);
    expect(answer.json.result).toMatchObject({ protocolVersion: "2025-11-25", serverInfo: { name: "toolyard" } });
    const session = await startSession();
    const accepted = await session.notify("notifications/initialized");
    expect([accepted.status, accepted.text]).toEqual([202, ""]);
    expect((await session.call("tools/list")).json.result.tools).toHaveLength(4);
    expect((await session.call("ping")).json.result).toEqual({});
  });

  test("every legacy revision is answered with itself, an unknown one with our newest", async () => {
    for (const revision of ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"])
      expect((await initialize({ revision })).json.result.protocolVersion).toBe(revision);
    for (const revision of ["2026-07-28", "1999-01-01", ""])
      expect((await initialize({ revision })).json.result.protocolVersion).toBe("2025-11-25");
  });

  test("DELETE ends it: its stream, its calls, and its id", async () => {
    const session = await startSession();
    const listening = await stream({ headers: session.headers });
    const hanging = session.tool("hang");
    await until(async () => (await session.tool("in-flight")).json?.result?.structuredContent?.inFlight !== 0);
    const deleted = await send(`${gateway().url}/mcp`, { method: "DELETE", headers: session.headers });
    expect([200, 204]).toContain(deleted.status);
    await hanging;
    await until(() => listening.ended());
    expect((await session.call("ping")).status).toBe(404);
    expect((await send(`${gateway().url}/mcp`, { method: "DELETE", headers: session.headers })).status).toBe(404);
  });

  test("an unknown id, and one of another endpoint, are 404", async () => {
    const session = await startSession();
    for (const id of ["nobody", "__proto__", "", `${session.id}x`]) {
      const headers = { "mcp-session-id": id };
      expect([id, (await post(gateway().url, '{"jsonrpc":"2.0","id":1,"method":"ping"}', headers)).status]).toEqual([
        id,
        404,
      ]);
      expect(
        (await send(`${gateway().url}/mcp`, { method: "GET", headers: { ...headers, accept: "text/event-stream" } }))
          .status,
      ).toBe(404);
    }
    expect(
      (await post(`${gateway().url}/mcp/flat`, '{"jsonrpc":"2.0","id":1,"method":"ping"}', session.headers)).status,
    ).toBe(404);
  });

  test("an idle one expires; one with a stream, or a call under way, does not", async () => {
    const [idle, listening, calling] = [await startSession(), await startSession(), await startSession()];
    const events = await stream({ headers: listening.headers });
    // A call that takes longer than a session may be idle.
    expect((await calling.tool("slow", { ms: 4_000 })).status).toBe(200);
    expect((await idle.call("ping")).status).toBe(404);
    expect((await listening.call("ping")).status).toBe(200);
    expect((await calling.call("ping")).status).toBe(200);
    expect(events.ended()).toBe(false);
  });

  test("no more than the limit are open; the one too many is told to come back", async () => {
    const answers = await Promise.all(Array.from({ length: 60 }, async () => await initialize()));
    const refused = answers.filter((answer) => answer.status === 429);
    expect(refused.length).toBeGreaterThanOrEqual(20);
    expect(refused[0]?.json.error.code).toBe(-31117);
    for (const { status, headers } of answers)
      if (status === 200)
        await send(`${gateway().url}/mcp`, {
          method: "DELETE",
          headers: { "mcp-session-id": String(headers["mcp-session-id"]) },
        });
    await until(async () => (await initialize()).status === 200);
  });

  test("without one, requests are answered all the same", async () => {
    expect(
      (await post(gateway().url, '{"jsonrpc":"2.0","id":1,"method":"tools/list"}')).json.result.tools,
    ).toHaveLength(4);
  });
});

describe("the GET stream", () => {
  test("keeps itself alive with comments, and brings what changes", async () => {
    const session = await startSession();
    const events = await stream({ headers: session.headers });
    expect(events.status).toBe(200);
    const { resources } = (await session.call("resources/list")).json.result;
    const { uri } = resources.find((resource: { uri: string }) =>
      decodeURIComponent(resource.uri).includes("bad://text"),
    );
    expect((await session.call("resources/subscribe", { uri })).json.result).toEqual({});
    await session.tool("resource-updated");
    await until(() =>
      events
        .messages()
        .some(({ method, params }) => method === "notifications/resources/updated" && params?.["uri"] === uri),
    );
    await until(() => events.text().includes(": keep-alive\n\n"));
    expect((await session.call("resources/unsubscribe", { uri })).json.result).toEqual({});
  });

  test("a new one takes the place of the one before", async () => {
    const session = await startSession();
    const first = await stream({ headers: session.headers });
    await stream({ headers: session.headers });
    await until(() => first.ended());
  });

  test("needs a session and an Accept that takes it", async () => {
    const session = await startSession();
    expect(
      (await send(`${gateway().url}/mcp`, { method: "GET", headers: { accept: "text/event-stream" } })).status,
    ).toBe(405);
    const refused = await send(`${gateway().url}/mcp`, {
      method: "GET",
      headers: { ...session.headers, accept: "application/json" },
    });
    expect(refused.status).toBe(406);
    expect(refused.json.error.data.hint).toContain("Accept: text/event-stream");
    expect(refused.json.error.data.hint).not.toContain("application/json");
  });
});

describe("Accept", () => {
  test.each([
    ["application/json, text/event-stream", "application/json"],
    ["application/json", "application/json"],
    ["*/*", "application/json"],
    ["text/html", "application/json"],
    ["text/event-stream", "text/event-stream"],
    [undefined, "application/json"],
  ])("%s: an answer alone comes as %s", async (accept, type) => {
    const session = await startSession();
    const headers: Record<string, string> = accept === undefined ? {} : { accept };
    for (const answer of [
      await session.call("tools/list", {}, headers),
      await session.tool("echo", { a: 1 }, headers),
    ]) {
      expect([answer.status, answer.headers["content-type"]]).toEqual([200, type]);
      const message = type === "application/json" ? answer.json : readEvents(answer.text).at(-1);
      expect(message.result).toBeDefined();
    }
    const made = await post(
      gateway().url,
      '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}',
      headers,
    );
    expect(made.headers["content-type"]).toBe(type);
    await send(`${gateway().url}/mcp`, {
      method: "DELETE",
      headers: { "mcp-session-id": String(made.headers["mcp-session-id"]) },
    });
  });

  test("progress comes before the answer to those who take streams, and not at all to the others", async () => {
    const session = await startSession();
    const params = {
      name: "execute_mcp_tool",
      arguments: { tool_path: "bad:progress", arguments: { steps: 3 } },
      _meta: { progressToken: "p" },
    };
    const streamed = await session.call("tools/call", params);
    const messages = readEvents(streamed.text);
    expect(messages.map(({ method, params: sent }) => method ?? sent)).toEqual([
      ...messages.slice(0, -1).map(() => "notifications/progress"),
      undefined,
    ]);
    expect(messages.length).toBeGreaterThan(1);
    expect(messages.slice(0, -1).every(({ params: sent }) => sent?.["progressToken"] === "p")).toBe(true);
    expect(messages.at(-1)?.result).toBeDefined();
    expect((await session.call("tools/call", params, { accept: "application/json" })).json.result).toBeDefined();
  });
});

test("Last-Event-ID brings what a stream that broke off had left, each message once", async () => {
  const session = await startSession();
  const params = {
    name: "execute_mcp_tool",
    arguments: { tool_path: "bad:progress", arguments: { steps: 40, ms: 50 } },
    _meta: { progressToken: 7 },
  };
  const body = JSON.stringify({ jsonrpc: "2.0", id: "resumed", method: "tools/call", params });
  const broken = await stream({
    method: "POST",
    headers: { ...session.headers, ...both, "content-type": "application/json" },
    body,
  });
  await until(() => broken.messages().length >= 3);
  broken.close();
  const lastId = /id: (\S+)\n(?![^]*\nid: )/.exec(broken.text().slice(0, broken.text().lastIndexOf("\n\n")))?.[1] ?? "";
  const seen = broken.messages().length;
  const rest = await stream({ headers: { ...session.headers, "last-event-id": lastId } });
  await until(() => rest.ended());
  const all = [...broken.messages(), ...rest.messages()];
  const steps = all
    .filter(({ method }) => method === "notifications/progress")
    .map(({ params: sent }) => sent?.["progress"]);
  expect(steps).toEqual([...new Set(steps)].toSorted((a, b) => Number(a) - Number(b)));
  expect(all.filter(({ id }) => id === "resumed")).toHaveLength(1);
  expect(rest.messages().at(-1)).toMatchObject({ id: "resumed", result: expect.anything() });
  expect(seen).toBeGreaterThanOrEqual(3);
});

describe("notifications/cancelled", () => {
  test.each([7, "seven", "sieben ä", "\u0007"])("ends the call of id %j", async (id) => {
    const session = await startSession();
    const hanging = session.tool("hang", {}, both, id);
    await until(async () => {
      await session.notify("notifications/cancelled", { requestId: id, reason: "enough" });
      return await Promise.race([
        hanging.then(() => true),
        new Promise<false>((resolve) => setTimeout(() => resolve(false), 50)),
      ]);
    });
  });

  test("of another session's call, or of none, does nothing", async () => {
    const [mine, other] = [await startSession(), await startSession()];
    const slow = mine.tool("slow", { ms: 500 }, both, 9);
    for (const requestId of [9, "9", null, {}, undefined]) await other.notify("notifications/cancelled", { requestId });
    await mine.notify("notifications/cancelled", { requestId: "9" });
    expect((await slow).json.result.isError).toBeUndefined();
  });
});

describe("a server's question", () => {
  test("reaches the client on the call's stream, and its answer the server", async () => {
    const session = await startSession({ capabilities: { elicitation: {} } });
    const body = JSON.stringify({
      jsonrpc: "2.0",
      id: "asking",
      method: "tools/call",
      params: { name: "execute_mcp_tool", arguments: { tool_path: "bad:elicit", arguments: {} } },
    });
    const events = await stream({
      method: "POST",
      headers: { ...session.headers, ...both, "content-type": "application/json" },
      body,
    });
    const question = await until(() => events.messages().find(({ method }) => method === "elicitation/create"));
    const answer = { jsonrpc: "2.0", id: question.id, result: { action: "accept", content: { name: "Ada" } } };
    // An answer from another session must not be taken for it.
    const other = await startSession();
    await post(
      gateway().url,
      JSON.stringify({ ...answer, result: { action: "accept", content: { name: "Mallory" } } }),
      other.headers,
    );
    const accepted = await post(gateway().url, JSON.stringify(answer), session.headers);
    expect(accepted.status).toBe(202);
    await until(() => events.ended());
    const result = JSON.stringify(events.messages().find(({ id }) => id === "asking"));
    expect(result).toContain("Ada");
    expect(result).not.toContain("Mallory");
    expect((await post(gateway().url, JSON.stringify(answer), session.headers)).status).toBe(202);
  });

  test("that the client cannot answer is an error for the server, not a hang", async () => {
    const session = await startSession();
    expect((await session.tool("elicit")).status).toBe(200);
  });

  test("answers to questions that nobody asked are accepted and dropped", async () => {
    const session = await startSession();
    for (const id of [1, "toolyard-1", "__proto__"])
      expect(
        (await post(gateway().url, JSON.stringify({ jsonrpc: "2.0", id, result: {} }), session.headers)).status,
      ).toBe(202);
    expect((await post(gateway().url, '{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"m"}}')).status).toBe(202);
  });
});

test("FAULT 4: a session of revision 2025-03-26 takes batches, one of 2025-11-25 does not", async () => {
  const batch = '[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":2,"method":"tools/list"}]';
  const old = await startSession({ revision: "2025-03-26" });
  const answer = await post(gateway().url, batch, { "mcp-session-id": old.id });
  expect(answer.json.map(({ id }: { id: number }) => id).toSorted()).toEqual([1, 2]);
  const newer = await startSession();
  expect((await post(gateway().url, batch, { "mcp-session-id": newer.id })).status).toBe(400);
});

test("a request without a session is cancelled upstream when its client goes; one of a session is not", async () => {
  const inFlight = async (): Promise<unknown> => {
    const answer = await post(gateway().url, toolCall("in-flight"));
    return (JSON.parse(answer.json.result.content[0].text) as { inFlight: number }).inFlight;
  };
  // The question itself is one of those that are counted.
  await until(async () => (await inFlight()) === 1);
  const session = await startSession();
  const controllers = [new AbortController(), new AbortController()];
  const headers = [{ "content-type": "application/json" }, { "content-type": "application/json", ...session.headers }];
  const calls = controllers.map(async ({ signal }, index) => {
    await fetch(`${gateway().url}/mcp`, {
      method: "POST",
      headers: headers[index] ?? {},
      body: toolCall("hang"),
      signal,
    }).catch(() => undefined);
  });
  await until(async () => (await inFlight()) === 3);
  for (const controller of controllers) controller.abort();
  await Promise.all(calls);
  await until(async () => (await inFlight()) === 2);
  await send(`${gateway().url}/mcp`, { method: "DELETE", headers: session.headers });
  await until(async () => (await inFlight()) === 1);
});

function toolCall(name: string): string {
  return JSON.stringify({
    jsonrpc: "2.0",
    id: 1,
    method: "tools/call",
    params: { name: "execute_mcp_tool", arguments: { tool_path: `bad:${name}`, arguments: {} } },
  });
}
