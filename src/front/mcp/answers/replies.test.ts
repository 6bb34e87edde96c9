import { once } from "node:events";
import { request as send, createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { createResponses } from "../../../../test/harness/open-response.ts";
import { until } from "../../../../test/harness/until.ts";
import { GatewayError } from "../../../kernel/failures/gateway-error.ts";
import { refuse, sendReply, sendReplyEvent } from "./replies.ts";

const open = createResponses();
const ok = { body: '"result":{"a":1}', status: 200 };
const message = '{"jsonrpc":"2.0","id":7,"result":{"a":1}}';

test("a reply is the whole response", async () => {
  const { response, client, received } = await open();
  sendReply(response, "7", ok, ["Mcp-Session-Id", "s"]);
  const { statusCode, headers } = await client();
  expect(statusCode).toBe(200);
  expect(headers).toMatchObject({
    "content-type": "application/json",
    "content-length": String(message.length),
    "mcp-session-id": "s",
  });
  (await client()).resume();
  await until(() => received() === message);
});

test("for a client that takes only event streams it is one event", async () => {
  const { response, client, received } = await open();
  sendReplyEvent(response, "7", ok, ["Mcp-Session-Id", "s"]);
  const { headers } = await client();
  expect(headers).toMatchObject({ "content-type": "text/event-stream", "mcp-session-id": "s" });
  (await client()).resume();
  await until(() => received() === `event: message\ndata: ${message}\n\n`);
});

test("a status that no event stream has is sent as JSON all the same", async () => {
  const { response, client } = await open();
  sendReplyEvent(response, "7", { body: '"error":{}', status: 503 });
  const { statusCode, headers } = await client();
  expect([statusCode, headers["content-type"]]).toEqual([503, "application/json"]);
});

test("a refusal has its row's status, and says when to come back", async () => {
  const { response, client, received } = await open();
  refuse(response, new GatewayError("RATE_LIMITED", "too many", { data: { retry_after_s: 3 } }), ["Allow", "GET"], "7");
  const { statusCode, headers } = await client();
  expect(statusCode).toBe(429);
  expect(headers).toMatchObject({ "retry-after": "3", allow: "GET" });
  (await client()).resume();
  await until(() => received().includes('"id":7') && received().includes("RATE_LIMITED"));
});

test("what has been answered already is not refused as well", async () => {
  const { response, client, received } = await open();
  sendReply(response, "7", ok);
  refuse(response, new GatewayError("INTERNAL", "late"));
  const reading = await client();
  reading.resume();
  await once(reading, "end");
  expect(received()).toBe(message);
});

test("a client that is refused while it still sends can read why", async () => {
  const server = createServer((_request, response) =>
    refuse(response, new GatewayError("BODY_TOO_LARGE", "too large")),
  );
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const sending = send({ host: "127.0.0.1", port: (server.address() as AddressInfo).port, method: "POST" });
  sending.on("error", () => undefined);
  sending.write(Buffer.alloc(4 * 1_048_576));
  const [answer] = (await once(sending, "response")) as [IncomingMessage];
  expect(answer.statusCode).toBe(413);
  answer.resume();
  sending.end(Buffer.alloc(1_048_576));
  await once(answer, "end");
  server.closeAllConnections();
  server.close();
});
