import { describe, expect, onTestFinished, test, vi } from "vitest";
import { GatewayError } from "../../../kernel/failures/gateway-error.ts";
import type { OddityKind, UpstreamRequest } from "../connection.ts";
import { readInbound } from "../../../wire/mcp/server-message.ts";
import { parseErrorObject } from "../../../wire/mcp/error-object.ts";
import { createRequestTable } from "./request-table.ts";
import { createBackPressure } from "./back-pressure.ts";

function setUp(options: { questionsAllowed?: boolean } = {}) {
  const oddities: OddityKind[] = [];
  const sent: string[] = [];
  const timedOut: string[] = [];
  const strays = createBackPressure();
  const table = createRequestTable({
    server: "tested",
    strays,
    events: {
      onNotification: (method) => void sent.push(`notified ${method}`),
      onStderr: () => undefined,
      onOddity: (kind) => void oddities.push(kind),
    },
    send: (text) => void sent.push(text),
    declared: () =>
      options.questionsAllowed === false ? undefined : { roots: {}, sampling: {}, elicitation: { form: {}, url: {} } },
    onTimeout: (request) => {
      timedOut.push(request.method);
      // What is asked at that very moment must have its deadline too.
      if (timedOut.length === 1) void open({ method: "ping", timeoutMs: 10 }).catch(() => undefined);
    },
  });
  const open = (request: Partial<UpstreamRequest> = {}): Promise<unknown> =>
    table.open(
      {
        method: "tools/call",
        params: [],
        signal: new AbortController().signal,
        timeoutMs: 60_000,
        maxTimeoutMs: 60_000,
        ...request,
      },
      () => undefined,
    );
  const receive = (text: string, stream?: number): void => table.receive(readInbound(Buffer.from(text), 50), stream);
  return { table, open, receive, strays, oddities, sent, timedOut };
}

describe("requests that wait", () => {
  test("FAULT 67 and 68: each is settled once, by its own id; everything else is dropped and counted", async () => {
    const { open, receive, oddities, table } = setUp();
    const first = open();
    const second = open();
    receive('{"id":2,"result":{"n":2}}');
    receive('{"id":2,"result":{"n":3}}');
    receive('{"id":"1","result":{}}');
    receive('{"id":99,"result":{}}');
    receive('{"id":null,"error":{"code":1,"message":""}}');
    receive('{"id":1,"error":{"code":-5,"message":"no"}}');
    await expect(second).resolves.toMatchObject({ kind: "result", result: Buffer.from('{"n":2}') });
    await expect(first).resolves.toMatchObject({ kind: "error" });
    expect(oddities).toEqual(["second-answer", "unknown-id", "unknown-id", "unknown-id"]);
    expect(table.size).toBe(0);
  });

  test("what answers no request that waits is counted as stray, answers are not", () => {
    const { open, receive, strays } = setUp();
    for (let call = 0; call < 3; call += 1) void open().catch(() => undefined);
    receive('{"id":1,"result":{}}');
    receive('{"id":2,"error":{"code":1,"message":""}}');
    receive('{"id":3,"result":}');
    expect(strays.count).toBe(0);
    for (const stray of [
      '{"id":1,"result":{}}',
      '{"method":"notifications/progress","params":{"progressToken":1,"progress":1}}',
      '{"id":"q","method":"ping"}',
      "no message",
    ])
      receive(stray);
    expect(strays.count).toBe(4);
  });

  test("of what is no message the first hundred are told of, and all are counted", () => {
    const { receive, strays, oddities } = setUp();
    for (let line = 0; line < 300; line += 1) receive("no message");
    expect(oddities).toHaveLength(100);
    expect(strays.count).toBe(300);
  });

  test("those of clients can be looked at while they wait, the connection's own are left out", async () => {
    const { open, receive, table } = setUp();
    const call = open({ nameHeader: "get-sum" });
    const list = open({ method: "tools/list" });
    expect(table.pending()).toEqual([{ method: "tools/call", name: "get-sum", sinceMs: expect.any(Number) }]);
    receive('{"id":1,"result":{}}');
    await call;
    expect(table.pending()).toEqual([]);
    table.failAll(() => new GatewayError("UPSTREAM_CLOSED", "gone"));
    await expect(list).rejects.toMatchObject({ code: "UPSTREAM_CLOSED" });
  });

  test("when the connection is over nothing holds it until a deadline that nobody waits for", async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const { open, receive, table } = setUp();
    const [answered, waiting] = [open({ timeoutMs: 600_000, maxTimeoutMs: 600_000 }), open()];
    receive('{"id":1,"result":{}}');
    await answered;
    expect(vi.getTimerCount()).toBe(1);
    table.failAll(() => new GatewayError("UPSTREAM_CLOSED", "gone"));
    await expect(waiting).rejects.toMatchObject({ code: "UPSTREAM_CLOSED" });
    expect(vi.getTimerCount()).toBe(0);
  });

  test("FAULT 66: silence ends in UPSTREAM_TIMEOUT and a cancellation; what is asked in that moment ends too", async () => {
    const { open, sent, timedOut } = setUp();
    const alive = setInterval(() => undefined, 1_000);
    await expect(open({ timeoutMs: 20 })).rejects.toMatchObject({ code: "UPSTREAM_TIMEOUT" });
    expect(sent[0]).toContain('"notifications/cancelled","params":{"requestId":1');
    await expect.poll(() => timedOut).toEqual(["tools/call", "ping"]);
    clearInterval(alive);
  });

  test("the caller's cancellation is told to the server, and fails the call", async () => {
    const { open, sent, table } = setUp();
    const controller = new AbortController();
    const call = open({ signal: controller.signal });
    controller.abort();
    await expect(call).rejects.toMatchObject({ code: "CALL_CANCELLED" });
    expect(sent).toEqual([expect.stringContaining("notifications/cancelled")]);
    await expect(open({ signal: controller.signal })).rejects.toMatchObject({ code: "CALL_CANCELLED" });
    expect(table.size).toBe(0);
  });

  test("FAULT 41: an answer that is none fails its request at once; one that is too deep too, unless it is a list", async () => {
    const { open, receive } = setUp();
    const calls = [open(), open(), open({ method: "tools/list" })];
    const deep = `{"d":${"[".repeat(60)}${"]".repeat(60)}}`;
    receive('{"id":1,"error":null}');
    receive(`{"id":2,"result":${deep}}`);
    receive(`{"id":3,"result":${deep}}`);
    await expect(calls[0]).rejects.toMatchObject({ code: "UPSTREAM_PROTOCOL" });
    await expect(calls[1]).rejects.toMatchObject({ code: "UPSTREAM_PROTOCOL" });
    await expect(calls[2]).resolves.toMatchObject({ kind: "result" });
  });

  test("a stream spoils no other stream's request", async () => {
    const { open, receive, table } = setUp();
    void open().catch(() => undefined);
    receive('{"id":1,"error":null}', 2);
    expect(table.size).toBe(1);
    receive('{"id":1,"error":null}', 1);
    expect(table.size).toBe(0);
  });

  test("FAULT 51: progress without an owner is dropped and counted", () => {
    const { open, receive, oddities } = setUp();
    const steps: unknown[] = [];
    void open({ onProgress: (params) => steps.push(params) });
    for (const token of ["1", '"1"', "7", "null"])
      receive(`{"method":"notifications/progress","params":{"progressToken":${token},"progress":1}}`);
    expect(steps).toEqual([{ progress: 1 }]);
    expect(oddities).toEqual(["unknown-progress", "unknown-progress", "unknown-progress"]);
  });

  test("a question belongs to the only call in flight; lists and pings of ours do not count", async () => {
    const { open, receive, sent } = setUp();
    const ask = async (): Promise<never> =>
      await Promise.resolve({ kind: "result", result: Buffer.from('{"action":"accept"}') } as never);
    void open({ ask });
    void open({ method: "tools/list" });
    void open({ method: "ping" });
    receive('{"id":"q","method":"elicitation/create","params":{}}');
    await expect.poll(() => sent).toEqual(['{"jsonrpc":"2.0","id":"q","result":{"action":"accept"}}']);
    void open({ ask });
    receive('{"id":"r","method":"sampling/createMessage"}');
    await expect.poll(() => sent[1]).toContain("interactive: true");
  });

  test("the client is asked without members that are null, and progress has none", async () => {
    const { open, receive, sent } = setUp();
    const asked: string[] = [];
    const steps: unknown[] = [];
    const ask: NonNullable<UpstreamRequest["ask"]> = async ({ params }) => {
      asked.push(params.toString());
      return await Promise.resolve({ kind: "result", result: Buffer.from("{}") });
    };
    void open({ ask, onProgress: (params) => steps.push(params) });
    receive('{"id":"q","method":"sampling/createMessage","params":{"systemPrompt":null,"maxTokens":1,"_meta":null}}');
    receive(
      '{"method":"notifications/progress","params":{"progressToken":1,"progress":1,"total":null,"message":null}}',
    );
    await expect.poll(() => sent).toHaveLength(1);
    expect(asked).toEqual(['{"maxTokens":1}']);
    expect(steps).toEqual([{ progress: 1 }]);
  });

  test("who was asked to open an address is remembered by its id, unless that is as long as a message", async () => {
    const { open, receive, sent, oddities } = setUp();
    const told: string[] = [];
    const ask = async (): Promise<never> =>
      await Promise.resolve({ kind: "result", result: Buffer.from('{"action":"accept"}') } as never);
    void open({ ask, replies: { send: (text) => told.push(text) > 0 } });
    for (const elicitationId of ["x".repeat(1_000), "y".repeat(1_001)]) {
      const params = { mode: "url", elicitationId };
      receive(JSON.stringify({ id: "q", method: "elicitation/create", params }));
      receive(JSON.stringify({ method: "notifications/elicitation/complete", params }));
    }
    expect(told).toEqual([expect.stringContaining('"xxx')]);
    expect(sent).toEqual([]);
    expect(oddities).toEqual(["unknown-id"]);
  });

  test("roots are the connection's own: no call is asked for them, and without any the server is refused", async () => {
    const { open, receive, sent, oddities } = setUp();
    const ask = vi.fn<NonNullable<UpstreamRequest["ask"]>>();
    void open({ ask });
    receive('{"id":"r","method":"roots/list","params":{}}');
    await expect.poll(() => sent[0]).toContain("no roots were declared");
    expect(oddities).toContain("roots-refused");
    expect(ask).not.toHaveBeenCalled();
  });

  test("FAULT 84: a modern server's request is refused and counted; a ping is answered", async () => {
    const { open, receive, sent, oddities } = setUp({ questionsAllowed: false });
    void open();
    receive('{"id":1,"method":"sampling/createMessage","params":{}}');
    receive('{"id":2,"method":"ping"}');
    await expect.poll(() => sent.length).toBe(2);
    expect(sent.join("\n")).toContain('"id":2,"result":{}');
    expect(sent.join("\n")).toContain('"code":-32600');
    expect(oddities).toEqual(["request-refused"]);
  });

  test("the end of the connection fails them all", async () => {
    const { open, table } = setUp();
    const calls = [open(), open()];
    const { GatewayError } = await import("../../../kernel/failures/gateway-error.ts");
    table.failAll(() => new GatewayError("UPSTREAM_CLOSED", "gone"));
    for (const call of calls) await expect(call).rejects.toMatchObject({ code: "UPSTREAM_CLOSED" });
  });

  test("an error object is read whatever it is", () => {
    expect(parseErrorObject(Buffer.from('{"code":-1,"message":"m","data":[1]}'))).toEqual({
      code: -1,
      message: "m",
      data: [1],
    });
    for (const text of ["{}", '"x"', "[]", "{broken", '{"code":"1","message":2}'])
      expect(parseErrorObject(Buffer.from(text))).toMatchObject({ code: -32603 });
  });
});
