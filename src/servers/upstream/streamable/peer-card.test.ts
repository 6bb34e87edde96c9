import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { createSocketPool } from "../../../wire/http/socket-pool.ts";
import { readPeerCard } from "./peer-card.ts";

const icon = { src: "data:image/png;base64,iVBORw0KGgo=", mimeType: "image/png" };
const never = (): AbortSignal => new AbortController().signal;

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function read(body: string, { status = 200, headers = {}, path = "/mcp" } = {}) {
  const seen: (readonly [url: string, headers: NodeJS.Dict<string | string[]>])[] = [];
  const origin = await serve((request, response) => {
    seen.push([request.url ?? "", request.headers]);
    response.writeHead(status, headers).end(body);
  });
  return { looks: await readPeerCard({ origin, path }, createSocketPool, never()), seen, origin };
}

test("title and icons are read at the reserved place, without a credential", async () => {
  const { looks, seen } = await read(JSON.stringify({ title: " Weather ", icons: [icon], name: "a/b" }));
  expect(looks).toEqual({ title: "Weather", icons: [icon] });
  const [[url, headers] = ["", {}]] = seen;
  expect(url).toBe("/mcp/server-card");
  expect(headers["accept"]).toContain("application/mcp-server-card+json");
  expect(Object.keys(headers)).not.toContain("authorization");
});

test.each([
  ["/mcp/?key=1", "/mcp/server-card?key=1"],
  ["/", "/server-card"],
])("the card of %s is at %s", async (path, expected) => {
  expect((await read("{}", { path })).seen[0]?.[0]).toBe(expected);
});

test.each([
  ["no JSON", "<html>"],
  ["a list", "[]"],
  ["null", "null"],
  ["nothing", ""],
  ["members of other kinds", JSON.stringify({ title: { a: 1 }, icons: "x" })],
  ["a blank title", JSON.stringify({ title: "  \n ", icons: [] })],
  ["a body of a megabyte", JSON.stringify({ title: "x", more: "y".repeat(2 ** 20) })],
  ["nests without end", "[".repeat(60_000)],
])("a card that is %s says nothing", async (_what, body) => {
  expect((await read(body)).looks).toEqual({});
});

test("a long title is cut, and icons that lead elsewhere are left out", async () => {
  const icons = [
    { src: "javascript:alert(1)" },
    { src: "https://tracker.example/pixel.png" },
    { src: "data:text/html,<script>" },
    { src: 7 },
    null,
    ...Array.from({ length: 20 }, () => icon),
  ];
  const { looks } = await read(JSON.stringify({ title: "\u202eT".repeat(10_000), icons }));
  expect(String(looks?.["title"])).toHaveLength(100);
  expect(looks?.["icons"]).toEqual(Array.from({ length: 8 }, () => icon));
});

test("a redirect is not followed, and a refusal is no card", async () => {
  let visits = 0;
  const elsewhere = await serve((_request, response) => {
    visits += 1;
    response.end(JSON.stringify({ title: "Somebody else" }));
  });
  const headers = { location: `${elsewhere}/mcp/server-card` };
  for (const status of [301, 302, 307, 401, 404, 500])
    expect((await read(JSON.stringify({ title: "x" }), { status, headers })).looks).toEqual({});
  expect(visits).toBe(0);
});

test("a connection that ends first leaves it open", async () => {
  const ended = new AbortController();
  const origin = await serve(() => ended.abort());
  expect(await readPeerCard({ origin, path: "/mcp" }, createSocketPool, ended.signal)).toBeUndefined();
});

test("a server that cannot be reached says nothing", async () => {
  const origin = "http://127.0.0.1:1";
  expect(await readPeerCard({ origin, path: "/mcp" }, createSocketPool, never())).toEqual({});
});
