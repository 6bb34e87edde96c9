import { afterAll, beforeAll, expect, test } from "vitest";
import { badServer, startGateway, type RunningGateway } from "../harness/gateway.ts";
import { until } from "../harness/until.ts";
import { openSession, type OpenStream, type RawSession } from "./stream.ts";
import { openSse } from "./sse-client.ts";

let gateway: RunningGateway;
beforeAll(async () => {
  gateway = await startGateway({ config: { mcpServers: { asker: badServer("--era=legacy") } } });
});
afterAll(async () => await gateway[Symbol.asyncDispose]());

const capabilities = { elicitation: { form: {} } };
const asking = { name: "execute_mcp_tool", arguments: { tool_path: "asker:elicit" } };
const isQuestion = (message: { method?: string }): boolean => message.method === "elicitation/create";

const connect = async (): Promise<RawSession> => await openSession(`${gateway.url}/mcp`, { capabilities });

/** Begins a call whose server asks, and waits for the question. */
async function begin(session: RawSession, id: number): Promise<{ stream: OpenStream; question: string }> {
  const stream = await session.call(id, "tools/call", asking);
  const { id: question } = (await stream.next(isQuestion)) as { id: string };
  return { stream, question };
}

test("FAULT O: a client that drops its connection with a question open has cancelled it, and its call ends", async () => {
  const session = await connect();
  const { stream } = await begin(session, 1);
  const last = stream.events.find(({ id }) => id !== undefined)?.id;
  stream.close();
  // The next client's question reaches it: its server has no other call in flight.
  const other = await connect();
  const answered = await until(async () => {
    const next = await other.call(`try-${Math.random()}`, "tools/call", asking);
    const message = await next.next((one) => isQuestion(one) || one.result !== undefined || one.error !== undefined);
    if (!isQuestion(message)) return false;
    await other.say({ id: message.id, result: { action: "accept", content: { name: "ann" } } });
    return (await next.next((one) => one.result !== undefined)) as object;
  });
  expect(JSON.stringify(answered)).toContain("ann");
  // A client that comes back late finds that its question was taken back, and the result.
  const late = await session.listen(last);
  const result = await late.next((message) => message.id === 1);
  expect(JSON.stringify(result)).toContain("cancel");
  expect(late.messages.some((message) => message.method === "notifications/cancelled")).toBe(true);
});

test("a client that comes back in time is still asked, and its answer counts", async () => {
  const session = await connect();
  const { stream, question } = await begin(session, 1);
  const last = stream.events.find(({ id }) => id !== undefined)?.id;
  stream.close();
  const back = await session.listen(last);
  await back.next(isQuestion);
  await session.say({ id: question, result: { action: "accept", content: { name: "bob" } } });
  expect(JSON.stringify(await back.next((message) => message.id === 1))).toContain("bob");
});

test("FAULT O: over HTTP+SSE a stream that ends has cancelled what was asked on it", async () => {
  const sse = await openSse(`${gateway.url}/sse`);
  await sse.initialize(capabilities);
  void sse.call(7, "tools/call", asking).catch(() => undefined);
  await sse.next(isQuestion);
  sse.close();
  const session = await connect();
  await until(async () => {
    const stream = await session.call(`again-${Math.random()}`, "tools/call", asking);
    const message = await stream.next((one) => isQuestion(one) || one.result !== undefined);
    if (!isQuestion(message)) return false;
    await session.say({ id: message.id, result: { action: "decline" } });
    return true;
  });
  await session.end();
});
