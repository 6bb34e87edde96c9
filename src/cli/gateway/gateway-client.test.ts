import { createServer, get, type IncomingMessage, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import type { showStatus } from "../../operations/records/status-operations.ts";
import { createGatewayClient, type GatewayClient } from "./gateway-client.ts";
import { readAll } from "./rest-way.ts";

/** A client of a server that answers so. */
async function clientOf(answer: RequestListener, isStreaming: boolean): Promise<GatewayClient & AsyncDisposable> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const open = async (path: string): Promise<IncomingMessage> =>
    await new Promise((resolve, reject) => get(base + path, { agent: false }, resolve).on("error", reject));
  const client = createGatewayClient({
    ...{ base, isStreaming },
    async send({ path }) {
      const response = await open(path);
      return { status: response.statusCode ?? 0, text: await readAll(response) };
    },
    async open({ path }) {
      const response = await open(path);
      return { status: response.statusCode ?? 0, chunks: response };
    },
  });
  return { ...client, [Symbol.asyncDispose]: async () => void server.close() };
}

test("what a gateway elsewhere says moves no cursor, whatever it is a part of", async () => {
  const said = { version: "\u001b]0;title\u0007\u009b2J", servers: [{ reason: "a\tb\nc\u001b[2J" }] };
  await using client = await clientOf((_request, response) => response.end(JSON.stringify(said)), false);
  const answer: unknown = await client.ask<typeof showStatus>("GET /api/status", {});
  expect(answer).toEqual({ version: " ]0;title  2J", servers: [{ reason: "a\tb\nc [2J" }] });
});

test.each([
  ["an export fails", false],
  ["what has no end of its own ends", true],
])("where an answer is cut off, %s, without the line that was cut", async (_what, isEndless) => {
  const cut: RequestListener = (_request, response) => {
    response.write('{"id":1}\n{"id"', () => response.destroy());
  };
  await using client = await clientOf(cut, true);
  const lines: string[] = [];
  const reading = (async () => {
    for await (const line of client.lines({ path: "/api/audit", accept: "application/x-ndjson", isEndless }))
      lines.push(line);
  })();
  if (isEndless) await reading;
  else await expect(reading).rejects.toMatchObject({ code: "GATEWAY_UNREACHABLE" });
  expect(lines).toEqual(['{"id":1}']);
});
