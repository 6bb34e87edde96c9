import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { askEndpoint } from "./asked-endpoint.ts";

const never = new AbortController().signal;

/** What is made of the answers of a real server. */
async function judged(listener: RequestListener, authorization?: string) {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
  try {
    return await askEndpoint({ url, authorization, signal: never });
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

const answer =
  (status: number, body: unknown, headers = {}): RequestListener =>
  (_request, response) =>
    response.writeHead(status, headers).end(typeof body === "string" ? body : JSON.stringify(body));

const gateways = { result: { _meta: { "toolyard/gateways": ["a"] } } };

test.each([
  ["the answer of a gateway", answer(200, gateways), { kind: "toolyard" }],
  ["a page", answer(200, "<html></html>"), { kind: "other", why: "another server" }],
  ["another MCP server", answer(200, { result: { _meta: {} } }), { kind: "other", why: "another server" }],
  ["our refusal", answer(401, {}, { "www-authenticate": 'Bearer realm="toolyard"' }), { kind: "refused" }],
  ["another's refusal", answer(401, {}, { "www-authenticate": "Bearer" }), { kind: "other", why: "status 401" }],
  ["a path that we do not have", answer(404, { type: "urn:toolyard:error:ROUTE_UNKNOWN" }), { kind: "missing" }],
  ["a path that another does not have", answer(404, "no"), { kind: "other", why: "status 404" }],
  ["a redirect, which is not followed", answer(302, "", { location: "/x" }), { kind: "other", why: "status 302" }],
])("%s is told from the others", async (_what, listener, expected) => {
  expect(await judged(listener)).toEqual(expected);
});

test("the credentials are sent as they stand in the client's file", async () => {
  const asked: (string | undefined)[] = [];
  const listener: RequestListener = (request, response) => {
    asked.push(request.headers.authorization, request.headers["mcp-method"] as string);
    response.end(JSON.stringify(gateways));
  };
  await judged(listener, "Bearer abc");
  expect(asked).toEqual(["Bearer abc", "server/discover"]);
});

test("an answer without end is not read to its end, and one that breaks off is no answer", async () => {
  const endless: RequestListener = (_request, response) => {
    const more = () => {
      while (response.write("x".repeat(65_536)));
    };
    response.on("drain", more);
    more();
  };
  expect(await judged(endless)).toEqual({ kind: "other", why: "another server" });
  const broken: RequestListener = (_request, response) => {
    response.writeHead(200, { "content-length": "100" }).write("x");
    setImmediate(() => response.destroy());
  };
  expect(await judged(broken)).toMatchObject({ kind: "silent" });
});

test("nothing answers where nothing listens; a person who interrupts is not told so", async () => {
  const ask = { url: "http://127.0.0.1:1/mcp", authorization: undefined };
  expect(await askEndpoint({ ...ask, signal: never })).toEqual({ kind: "silent", why: "ECONNREFUSED" });
  await expect(askEndpoint({ ...ask, signal: AbortSignal.abort(new Error("stopped")) })).rejects.toThrow("stopped");
});
