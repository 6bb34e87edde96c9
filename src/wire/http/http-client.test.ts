import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { until } from "../../../test/harness/until.ts";
import type {
  HttpClient,
  HttpClientOptions,
  HttpRequest,
  RequestInFlight,
  ResponseHandler,
  TransportFailure,
} from "./http-client.ts";
import type { ResponseHead } from "./response-head.ts";
import { createSocketPool } from "./socket-pool.ts";
import { createUndiciClient } from "./undici-client.ts";

/**
 * Every client, towards the same raw server; the last one through a proxy, so that the server sees the proxy's
 * connections.
 */
const clients: Readonly<Record<string, (options: HttpClientOptions) => HttpClient>> = {
  "our own client": createSocketPool,
  "undici's client": (options) => createUndiciClient({ ...options, proxy: undefined, tls: undefined }),
};

const ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

interface RawServer {
  readonly client: HttpClient;
  readonly sockets: readonly Socket[];
  /** Heads and bodies as they came, in latin1. */
  readonly requests: readonly { readonly head: string; readonly body: string }[];
}

type OnRequest = (socket: Socket, request: { readonly head: string; readonly body: string }) => void;

async function serve(
  create: (options: HttpClientOptions) => HttpClient,
  onRequest: OnRequest,
  connections = 8,
): Promise<RawServer> {
  const sockets: Socket[] = [];
  const requests: { head: string; body: string }[] = [];
  const server: Server = createServer((socket) => {
    sockets.push(socket);
    socket.on("error", () => undefined);
    let text = "";
    socket.setEncoding("latin1").on("data", (chunk: string) => {
      text += chunk;
      for (let end = text.indexOf("\r\n\r\n"); end !== -1; end = text.indexOf("\r\n\r\n")) {
        const length = Number(/content-length: (\d+)/i.exec(text.slice(0, end))?.[1] ?? 0);
        if (text.length < end + 4 + length) return;
        const request = { head: text.slice(0, end), body: text.slice(end + 4, end + 4 + length) };
        text = text.slice(end + 4 + length);
        requests.push(request);
        onRequest(socket, request);
      }
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const client = create(optionsFor((server.address() as AddressInfo).port, connections));
  onTestFinished(() => {
    client.close();
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { client, sockets, requests };
}

function optionsFor(port: number, connections = 8): HttpClientOptions {
  return { origin: `http://127.0.0.1:${port}`, connections, reserved: 2, connectTimeoutMs: 5_000 };
}

/** What came of a request. */
interface Exchange {
  status: number;
  head: ResponseHead | undefined;
  body: string;
  bytes: number;
  /** Once so many bytes have come, the response is paused, until `resume`. */
  pauseAt: number;
  inFlight: RequestInFlight | undefined;
  end: "complete" | TransportFailure | undefined;
  abort(): void;
  resume(): void;
}

function send(client: HttpClient, given: Partial<HttpRequest> = {}, wants: () => boolean = () => true): Exchange {
  const exchange: Exchange = {
    status: 0,
    head: undefined,
    body: "",
    bytes: 0,
    pauseAt: Number.POSITIVE_INFINITY,
    inFlight: undefined,
    end: undefined,
    abort: () => exchange.inFlight?.abort(handler),
    resume() {
      exchange.pauseAt = Number.POSITIVE_INFINITY;
      exchange.inFlight?.resume(handler);
    },
  };
  const handler: ResponseHandler = {
    onConnected(inFlight: RequestInFlight) {
      exchange.inFlight = inFlight;
      return wants();
    },
    onHead(head: ResponseHead) {
      exchange.head = head;
      exchange.status = head.status;
    },
    onBody(bytes: Buffer, start: number, end: number) {
      exchange.body += bytes.toString("latin1", start, end);
      exchange.bytes += end - start;
      if (exchange.bytes > exchange.pauseAt) exchange.inFlight?.pause(handler);
    },
    onComplete: () => void (exchange.end = "complete"),
    onTransportFailure: (failure: TransportFailure) => void (exchange.end = failure),
  };
  client.send({ method: "POST", path: "/mcp?a=b", headers: [], body: "x", ...given }, handler);
  return exchange;
}

async function ended(exchange: Exchange): Promise<Exchange> {
  await until(() => exchange.end !== undefined);
  return exchange;
}

describe.each(Object.entries(clients))("%s", (_name, create) => {
  test("sends method, path, headers and body as they were given", async () => {
    const { client, requests } = await serve(create, (socket) => socket.write(ok));
    const headers = ["content-type", "application/json", "x-two", "\u00e4 b"];
    await ended(send(client, { headers, body: '{"a":"\u00c3\u00a4"}' }));
    await ended(send(client, { method: "GET", path: "/", headers: ["host", "inner.example"], body: null }));
    await ended(send(client, { method: "DELETE", headers, body: null }));
    expect(requests.map(({ head }) => head.split("\r\n")[0])).toEqual([
      "POST /mcp?a=b HTTP/1.1",
      "GET / HTTP/1.1",
      "DELETE /mcp?a=b HTTP/1.1",
    ]);
    const lines = (requests[0]?.head ?? "").toLowerCase().split("\r\n").slice(1).sort();
    expect(lines).toEqual([
      "connection: keep-alive",
      "content-length: 10",
      "content-type: application/json",
      expect.stringMatching(/^host: 127\.0\.0\.1:\d+$/),
      "x-two: \u00e4 b",
    ]);
    expect(requests[0]?.body).toBe('{"a":"\u00c3\u00a4"}');
    expect(requests[1]?.head).toContain("host: inner.example");
    expect(requests[1]?.head.match(/host:/gi)).toHaveLength(1);
  });

  test.each([
    ["a length", "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n\u00c3\u00a4\0z", "\u00c3\u00a4\0z"],
    [
      "chunks",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;x=y\r\nabc\r\n1\r\nd\r\n0\r\nT: 1\r\n\r\n",
      "abcd",
    ],
    ["nothing", "HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n", ""],
    ["no content", "HTTP/1.1 204 No Content\r\n\r\n", ""],
    ["an interim answer before", `HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n${ok}`, "ok"],
  ])("reads an answer with %s, and uses the connection again", async (_what, answer, body) => {
    const { client, sockets } = await serve(create, (socket) => socket.write(answer, "latin1"));
    for (let round = 0; round < 3; round += 1) {
      const exchange = await ended(send(client));
      expect([exchange.end, exchange.body]).toEqual(["complete", body]);
    }
    expect(sockets).toHaveLength(1);
  });

  test("hands out every header, the same name twice too, as it came", async () => {
    const answer = `HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Bearer a="b"\r\nX: \u00c3\u00a4\r\nset-cookie: 1\r\nSet-Cookie: 2\r\n`;
    const { client } = await serve(create, (socket) => socket.write(`${answer}Content-Length: 0\r\n\r\n`, "latin1"));
    const { head, status } = await ended(send(client));
    expect([status, head?.get("www-authenticate"), head?.get("x"), head?.getAll("set-cookie"), head?.get("y")]).toEqual(
      [401, 'Bearer a="b"', "\u00c3\u00a4", ["1", "2"], undefined],
    );
  });

  test("an answer that lasts until the connection closes is complete by that", async () => {
    const { client, sockets } = await serve(create, (socket) => socket.end("HTTP/1.0 200 OK\r\n\r\nall of it"));
    expect(await ended(send(client))).toMatchObject({ end: "complete", body: "all of it" });
    expect(await ended(send(client))).toMatchObject({ end: "complete", body: "all of it" });
    expect(sockets).toHaveLength(2);
  });

  test("a connection that the server says it closes is not used again", async () => {
    const answer = ok.replace("\r\n", "\r\nConnection: close\r\n");
    const { client, sockets } = await serve(create, (socket) => socket.write(answer));
    for (let round = 0; round < 2; round += 1) expect((await ended(send(client))).end).toBe("complete");
    expect(sockets).toHaveLength(2);
  });

  test("a stream arrives piece by piece while it is open", async () => {
    const { client, sockets } = await serve(create, (socket) =>
      socket.write("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"),
    );
    const stream = send(client, { method: "GET", body: null });
    await until(() => stream.head !== undefined);
    for (const piece of ["data: 1\n\n", "data: 2\n\n"]) {
      sockets[0]?.write(`${piece.length.toString(16)}\r\n${piece}\r\n`);
      await until(() => stream.body.endsWith(piece));
      expect(stream.end).toBeUndefined();
    }
    sockets[0]?.write("0\r\n\r\n");
    expect(await ended(stream)).toMatchObject({ end: "complete", body: "data: 1\n\ndata: 2\n\n" });
  });

  test("a response that is paused holds up its server, and goes on where it was", async () => {
    const piece = `10000\r\n${"z".repeat(0x10000)}\r\n`;
    let written = 0;
    const { client, sockets } = await serve(create, (socket) => {
      socket.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
      const fill = (): void => {
        while (written < 400 && socket.writableLength < 2 ** 20) {
          written += 1;
          socket.write(written === 400 ? `${piece}0\r\n\r\n` : piece, "latin1", fill);
        }
      };
      fill();
    });
    const stream = send(client, { method: "GET", body: null });
    stream.pauseAt = 100_000;
    await until(() => stream.bytes > 100_000);
    // What the system holds for the socket is full when the server has to keep the same bytes turn after turn.
    let held = "";
    await until(() => {
      const before = held;
      held = `${written} ${sockets[0]?.writableLength}`;
      return held === before;
    });
    expect(written).toBeLessThan(400);
    expect(stream.end).toBeUndefined();
    stream.resume();
    expect(await ended(stream)).toMatchObject({ end: "complete", bytes: 400 * 0x10000 });
  });

  test("a response that ends in the bytes after which it was to be paused leaves a connection that works", async () => {
    const { client, sockets } = await serve(create, (socket) => socket.write(ok));
    const first = send(client);
    first.pauseAt = 0;
    await until(() => first.bytes === 2);
    first.resume();
    expect((await ended(first)).body).toBe("ok");
    expect(await ended(send(client))).toMatchObject({ end: "complete", body: "ok" });
    expect(sockets).toHaveLength(1);
  });

  test("twenty megabytes go to a server that reads late, and come back whole", async () => {
    const large = "y".repeat(20_000_000);
    let seen = 0;
    const server = createServer((socket) => {
      socket.pause();
      setImmediate(() => setImmediate(() => socket.resume()));
      socket
        .on("error", () => undefined)
        .on("data", (bytes) => {
          seen += bytes.length;
          if (seen >= large.length && bytes.at(-1) === 0x79)
            socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${large.length}\r\n\r\n${large}`);
        });
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    const client = create(optionsFor((server.address() as AddressInfo).port));
    onTestFinished(() => {
      client.close();
      server.close();
    });
    const exchange = await ended(send(client, { body: large }));
    expect([exchange.end, exchange.body.length]).toEqual(["complete", large.length]);
  });

  test("an aborted request is heard of no more, and the server sees its connection close; others go on", async () => {
    const { client, sockets } = await serve(create, (socket, { body }) => {
      if (body === "answer") socket.write(ok);
      else socket.write("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nbeginning");
    });
    const aborted = send(client, { body: "hang" });
    await until(() => aborted.body === "beginning");
    const closed = once(sockets[0] as Socket, "close");
    aborted.abort();
    await closed;
    expect((await ended(send(client, { body: "answer" }))).end).toBe("complete");
    expect(aborted.end).toBeUndefined();
  });

  test("a request that is not wanted any more when its turn comes is never written, and leaves the connection to others", async () => {
    const { client, sockets, requests } = await serve(create, (socket) => socket.write(ok), 1);
    const first = send(client, { body: "first" });
    const unwanted = send(client, { body: "unwanted" }, () => false);
    const last = send(client, { body: "last" });
    await ended(first);
    await ended(last);
    expect(requests.map(({ body }) => body)).toEqual(["first", "last"]);
    expect(unwanted).toMatchObject({ end: undefined, head: undefined });
    expect(sockets).toHaveLength(1);
  });

  test("beyond the limit requests wait for a connection; urgent ones do not", async () => {
    const held: Socket[] = [];
    const { client, requests } = await serve(
      create,
      (socket, { body }) => (body === "urgent" ? socket.write(ok) : held.push(socket)),
      1,
    );
    const first = send(client, { body: "first" });
    const second = send(client, { body: "second" });
    await until(() => held.length === 1);
    expect((await ended(send(client, { body: "urgent", isUrgent: true }))).end).toBe("complete");
    expect(requests.map(({ body }) => body)).toEqual(["first", "urgent"]);
    held[0]?.write(ok);
    await until(() => held.length === 2);
    held[1]?.write(ok);
    expect([(await ended(first)).end, (await ended(second)).end]).toEqual(["complete", "complete"]);
  });

  test.each([
    ["before the answer", ""],
    ["within the head", "HTTP/1.1 200 OK\r\nContent-Le"],
    ["within the body", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nok"],
    ["within chunks", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab"],
  ])("a connection that closes %s is a failure", async (_where, answer) => {
    const { client } = await serve(create, (socket) => socket.end(answer));
    const { end } = await ended(send(client));
    expect(["closed", "malformed"]).toContain((end as TransportFailure).kind);
  });

  test("a connection that is reset says so", async () => {
    const { client } = await serve(create, (socket) => socket.resetAndDestroy());
    expect((await ended(send(client))).end).toEqual({ kind: "closed", reason: "ECONNRESET" });
  });

  test.each([
    ["no HTTP", "220 mail.example ESMTP\r\n\r\n"],
    ["two lengths", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok"],
    ["a length that is no number", "HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\nok"],
    ["a chunk without a size", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nok\r\n"],
    ["a head without an end", `HTTP/1.1 200 OK\r\nX: ${"x".repeat(100_000)}`],
  ])("what no client may make sense of is refused: %s", async (_what, answer) => {
    const { client } = await serve(create, (socket) => socket.write(answer));
    expect((await ended(send(client))).end).toMatchObject({ kind: "malformed" });
  });

  test("a port where nobody listens cannot be connected to", async () => {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    server.close();
    await once(server, "close");
    const client = create(optionsFor(port));
    onTestFinished(() => client.close());
    expect((await ended(send(client))).end).toEqual({ kind: "connect", reason: "ECONNREFUSED" });
  });

  test("a header that could be taken for another request is not sent", async () => {
    const { client, requests } = await serve(create, (socket) => socket.write(ok));
    const refused = await ended(send(client, { headers: ["x", "a\r\nX-Evil: 1"] }));
    expect(refused.end).toMatchObject({ kind: "unsendable" });
    expect((await ended(send(client))).end).toBe("complete");
    expect(requests).toHaveLength(1);
  });

  test("after close, what is under way, what waits and what comes later fails as disposed", async () => {
    const { client, requests, sockets } = await serve(create, () => undefined, 1);
    const inFlight = send(client);
    const waiting = send(client);
    await until(() => requests.length === 1);
    const gone = once(sockets[0] as Socket, "close");
    client.close();
    const later = send(client);
    for (const exchange of [inFlight, waiting, later])
      expect((await ended(exchange)).end).toMatchObject({ kind: "disposed" });
    await gone;
  });

  test("nothing is heard before send has returned", async () => {
    const { client } = await serve(create, (socket) => socket.write(ok));
    client.close();
    const exchange = send(client);
    expect(exchange.end).toBeUndefined();
    await ended(exchange);
  });
});

describe("our own client", () => {
  test("takes only so much of a fast response in one turn of the event loop", async () => {
    const length = 16 * 2 ** 20;
    const { client } = await serve(createSocketPool, (socket) => {
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${length}\r\n\r\n`);
      socket.write(Buffer.alloc(length, 0x7a));
    });
    let inTurn = 0;
    let most = 0;
    let bytes = 0;
    await new Promise<void>((resolve, reject) => {
      const handler: ResponseHandler = {
        onConnected: () => true,
        onHead: () => undefined,
        onBody(_bytes, start, end) {
          if (inTurn === 0) setImmediate(() => (inTurn = 0));
          inTurn += end - start;
          most = Math.max(most, inTurn);
          bytes += end - start;
        },
        onComplete: resolve,
        onTransportFailure: ({ reason }) => reject(new Error(reason)),
      };
      client.send({ method: "GET", path: "/", headers: [], body: null }, handler);
    });
    expect(bytes).toBe(length);
    // What is read when the limit has been reached is one buffer more.
    expect(most).toBeLessThanOrEqual(262_144 + 65_536);
  });
});

describe("a proxy for plain URLs", () => {
  /** Passes requests with whole URLs on, as proxies do; and the pieces of what it was asked. */
  async function proxy(): Promise<{ readonly port: number; readonly heads: readonly string[] }> {
    const heads: string[] = [];
    const server = createServer((socket) => {
      socket.on("error", () => undefined);
      socket.once("data", (bytes) => {
        const text = bytes.toString("latin1");
        heads.push(text.slice(0, text.indexOf("\r\n\r\n")));
        const url = new URL(text.split(" ")[1] as string);
        const target = connect(Number(url.port), url.hostname).on("error", () => socket.destroy());
        target.write(text.replace(url.origin, ""), "latin1");
        target.pipe(socket).pipe(target);
      });
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    onTestFinished(() => void server.close());
    return { port: (server.address() as AddressInfo).port, heads };
  }

  test("is asked for the whole URL, in the server's name, with its user and password", async () => {
    const { port, heads } = await proxy();
    const { client, requests } = await serve(
      (options) => createUndiciClient({ ...options, proxy: `http://u%40x:p@127.0.0.1:${port}`, tls: undefined }),
      (socket) => socket.end(ok),
    );
    expect(await ended(send(client))).toMatchObject({ end: "complete", body: "ok" });
    expect(heads[0]).toMatch(/^POST http:\/\/127\.0\.0\.1:\d+\/mcp\?a=b HTTP\/1\.1/);
    expect(heads[0]).toContain(`proxy-authorization: Basic ${Buffer.from("u@x:p").toString("base64")}`);
    expect(requests[0]?.head).not.toContain(`host: 127.0.0.1:${port}`);
    expect(requests[0]?.body).toBe("x");
  });
});
