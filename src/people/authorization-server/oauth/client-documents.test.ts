import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { createManualClock } from "../../../../test/harness/manual-clock.ts";
import { createAddressRules } from "../../../servers/logins/protocol/addresses.ts";
import { createOutgoing, type Outgoing } from "../../../servers/logins/outgoing.ts";
import { createDocumentFetch } from "./client-documents.ts";
import { knownDocuments } from "./client-metadata.ts";

const signal = new AbortController().signal;

/** As the gateway's own way out, but that it leads to this machine. */
const toThisMachine: Outgoing = createOutgoing(createAddressRules("private"), {
  serverUrl: "https://invalid.invalid",
  route: async () => await Promise.resolve(undefined),
});

/** What comes of a document that is answered so; the paths that were asked for. */
async function fetchFrom(listener: RequestListener, path = "/app.json") {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url ?? "");
    listener(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`;
  try {
    const outcome = await createDocumentFetch(createManualClock(), toThisMachine)(url, { signal }).then(
      async (response) => (await response.json()) as object,
      (error: unknown) => String(error),
    );
    return { asked, outcome, url };
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}

const document = {
  client_name: "App",
  redirect_uris: ["http://localhost/callback"],
  token_endpoint_auth_method: "none",
};

test("a client's document is taken as it is, with what the library decides by", async () => {
  const { outcome, asked } = await fetchFrom((_request, response) =>
    response.end(JSON.stringify({ client_id: "https://app.example/app.json", ...document, grant_types: ["made-up"] })),
  );
  expect(outcome).toMatchObject({
    client_id: "https://app.example/app.json",
    application_type: "native",
    grant_types: ["authorization_code", "refresh_token"],
  });
  expect(asked).toEqual(["/app.json"]);
});

test("FAULT 102: a client's document that is too large, elsewhere, no JSON or not there is none", async () => {
  const text = (length: number): string => {
    const empty = JSON.stringify({ ...document, padding: "" });
    return JSON.stringify({ ...document, padding: "x".repeat(length - empty.length) });
  };
  const largest = await fetchFrom((_request, response) => response.end(text(65_536)));
  expect(largest.outcome).toMatchObject({ client_name: "App" });
  const larger = await fetchFrom((_request, response) => response.end(text(65_537)));
  expect(larger.outcome).toContain("too large");
  const endless = await fetchFrom((_request, response) => response.end("x".repeat(10_000_000)));
  expect(endless.outcome).toContain("256 KB");
  const moved = await fetchFrom((_request, response) => response.writeHead(302, { location: "/elsewhere.json" }).end());
  expect([moved.outcome, moved.asked]).toEqual([expect.stringContaining("302"), ["/app.json"]]);
  const gone = await fetchFrom((_request, response) => response.writeHead(404).end(JSON.stringify(document)));
  expect(gone.outcome).toContain("404");
  const page = await fetchFrom((_request, response) => response.end("<html>"));
  expect(page.outcome).toContain("JSON");
});

test("FAULT 104: nothing is sent to an address of this machine or its network, also for a client that is known", async () => {
  let connections = 0;
  const server = createServer((_request, response) => response.end(JSON.stringify(document)));
  server.on("connection", () => (connections += 1));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const fetchDocument = createDocumentFetch(createManualClock());
  for (const host of ["127.0.0.1", "localhost", "[::1]", "0x7f.1", "2130706433", "[::ffff:7f00:1]", "0.0.0.0"])
    for (const scheme of ["http", "https"])
      await expect(fetchDocument(`${scheme}://${host}:${port}/app.json`, { signal })).rejects.toThrow();
  expect(connections).toBe(0);
  await new Promise((resolve) => server.close(resolve));
});

test("a client that is known counts where its document cannot be had, by its own name alone", async () => {
  const unreachable = async (): Promise<never> => await Promise.reject(new Error("no Internet here"));
  const fetchDocument = createDocumentFetch(createManualClock(), unreachable);
  for (const [url, known] of Object.entries(knownDocuments)) {
    const response = await fetchDocument(url, { signal });
    expect(await response.json()).toMatchObject({ client_id: url, client_name: known["client_name"] });
    await expect(fetchDocument(`${url}x`, { signal })).rejects.toThrow("no Internet here");
  }
});

test("a document is asked for once in five seconds, whatever came of it, and many at a time are remembered", async () => {
  const asked: string[] = [];
  const clock = createManualClock();
  const fetchDocument = createDocumentFetch(clock, async (url) => {
    asked.push(url);
    return await Promise.resolve({ status: 404, headers: {}, body: Buffer.from("") });
  });
  const look = async (path: string): Promise<void> =>
    await expect(fetchDocument(`https://app.example/${path}`, { signal })).rejects.toThrow("404");
  await Promise.all([look("a"), look("a"), look("b")]);
  await look("a");
  expect(asked).toHaveLength(2);
  await clock.advance(5_000);
  await look("a");
  expect(asked).toHaveLength(3);
  for (let at = 0; at < 102; at += 1) await look(`many-${at}`);
  // The oldest made room.
  await look("a");
  expect(asked.filter((url) => url.endsWith("/a"))).toHaveLength(3);
});
