import { once } from "node:events";
import { expect, test } from "vitest";
import { createResponses } from "../../../../test/harness/open-response.ts";
import { until } from "../../../../test/harness/until.ts";
import { localPrincipal } from "../../../kernel/principal.ts";
import { openSessionStream } from "./http-legacy.ts";
import { createSession, type Session } from "../sessions/session.ts";

const open = createResponses();
const newSession = (): Session =>
  createSession({
    principal: localPrincipal,
    endpointPath: "/mcp",
    revision: "2025-11-25",
    capabilities: {},
    nowMs: 0,
  });

/** A GET of the session, read by its client. */
async function get(session: Session, headers: Record<string, string> = {}) {
  const opened = await open(headers);
  let closed = 0;
  openSessionStream(session, opened.request, opened.response, { onClose: () => void (closed += 1) });
  const client = await opened.client();
  client.resume();
  return { client, received: opened.received, closed: () => closed };
}

test("a GET is the session's push channel until its client leaves", async () => {
  const session = newSession();
  const { client, received, closed } = await get(session);
  expect(client.headers["content-type"]).toBe("text/event-stream");
  expect(session.pushes.send('{"a":1}')).toBe(true);
  await until(() => received().includes('data: {"a":1}'));
  expect(closed()).toBe(0);
  client.destroy();
  await until(() => closed() === 1);
  expect(session.pushes.open).toBe(false);
});

test("with Last-Event-ID it is the rest of that stream, what comes later, and its end", async () => {
  const session = newSession();
  const log = session.streams.open();
  log?.append('{"n":1}');
  log?.append('{"n":2}');
  const { client, received } = await get(session, { "last-event-id": `${log?.id}_1` });
  log?.append('{"n":3}');
  const ended = once(client, "end");
  log?.end();
  await ended;
  expect(received().match(/"n":\d/g)).toEqual(['"n":2', '"n":3']);
  expect(session.pushes.open).toBe(false);
});

test("a client that leaves again is followed by nobody", async () => {
  const session = newSession();
  const log = session.streams.open();
  const { client, received, closed } = await get(session, { "last-event-id": `${log?.id}_0` });
  client.destroy();
  await until(() => closed() === 1);
  log?.append('{"n":1}');
  expect(received()).toBe("");
});

test("an id that is not known opens a new stream", async () => {
  const session = newSession();
  await get(session, { "last-event-id": "unknown_1" });
  expect(session.pushes.open).toBe(true);
});

test("a client that comes back for a long stream and does not read it loses it", async () => {
  const session = newSession();
  const log = session.streams.open();
  const { request, response, client } = await open({ "last-event-id": `${log?.id}_0` });
  openSessionStream(session, request, response, { onClose: () => undefined });
  await client();
  const megabyte = `"${"x".repeat(1_048_576)}"`;
  for (let count = 0; count < 32; count += 1) log?.append(megabyte);
  expect(response.destroyed).toBe(true);
});
