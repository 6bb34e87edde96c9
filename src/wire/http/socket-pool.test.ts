import { once } from "node:events";
import { createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { afterEach, expect, test } from "vitest";
import { until } from "../../../test/harness/until.ts";
import type { HttpClient, TransportFailure } from "./http-client.ts";
import { createSocketPool } from "./socket-pool.ts";

const small = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
const largeBody = "x".repeat(20_000_000);
const cleanups: (() => void)[] = [];
afterEach(() => cleanups.splice(0).forEach((cleanup) => cleanup()));

/** A real server on a socket, that does with each connection as it is told; and a pool towards it. */
async function serve(onSocket: (socket: Socket) => void, connections = 1) {
  const accepted: Socket[] = [];
  const server: Server = createServer((socket) => {
    accepted.push(socket);
    socket.on("error", () => undefined);
    onSocket(socket);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const port = (server.address() as AddressInfo).port;
  const pool = createSocketPool({
    origin: `http://127.0.0.1:${port}`,
    connections,
    reserved: 1,
    connectTimeoutMs: 2_000,
  });
  cleanups.push(() => {
    pool.close();
    for (const socket of accepted) socket.destroy();
    server.close();
  });
  return { pool, accepted };
}

/** What came of a request: the body, or why there is none. */
function post(
  pool: HttpClient,
  body: string,
  headers: readonly string[] = [],
  isUrgent = false,
): Promise<string | TransportFailure> {
  return new Promise((resolve) => {
    let answer = "";
    pool.send(
      { method: "POST", path: "/", headers, body, isUrgent },
      {
        onConnected: () => true,
        onHead: () => undefined,
        onBody: (bytes, start, end) => (answer += bytes.toString("latin1", start, end)),
        onComplete: () => resolve(answer),
        onTransportFailure: resolve,
      },
    );
  });
}

/** Calls `answer` whenever a whole request was read. */
function eachRequest(socket: Socket, answer: (body: string) => void): void {
  let text = "";
  socket.setEncoding("latin1").on("data", (chunk: string) => {
    text += chunk;
    for (;;) {
      const end = text.indexOf("\r\n\r\n") + 4;
      const length = Number(/content-length: (\d+)/.exec(text.slice(0, end))?.[1]);
      if (end < 4 || text.length < end + length) return;
      const body = text.slice(end, end + length);
      text = text.slice(end + length);
      answer(body);
    }
  });
}

test("one after the other, requests of all sizes share one connection", async () => {
  const { pool, accepted } = await serve((socket) => eachRequest(socket, () => socket.write(small)));
  const megabyte = largeBody.slice(0, 1_000_000);
  for (const body of ["a", megabyte, "b", megabyte, "c"]) expect(await post(pool, body)).toBe("ok");
  expect(accepted).toHaveLength(1);
});

test("a server that answers before it has read everything keeps its connection when it reads the rest", async () => {
  const { pool, accepted } = await serve((socket) => {
    let hasAnswered = false;
    let bytes = 0;
    socket.on("data", (chunk) => {
      bytes += chunk.length;
      if (!hasAnswered || bytes > largeBody.length + 200) socket.write(small);
      hasAnswered = true;
    });
  });
  expect(await post(pool, largeBody)).toBe("ok");
  expect(await post(pool, "n".repeat(100))).toBe("ok");
  expect(accepted).toHaveLength(1);
});

test("a server that answers and never reads the rest loses its connection", async () => {
  const { pool, accepted } = await serve((socket) => {
    if (accepted.length > 1) eachRequest(socket, () => socket.write(small));
    else socket.once("data", () => socket.pause().write(small));
  });
  expect(await post(pool, largeBody)).toBe("ok");
  expect(await post(pool, "next")).toBe("ok");
  expect(accepted).toHaveLength(2);
  accepted[0]!.resume();
  await until(() => accepted[0]!.destroyed);
  expect(accepted[0]!.bytesRead).toBeLessThan(largeBody.length);
});

test("what is urgent does not wait behind requests that wait for it, and takes no more connections than are reserved", async () => {
  const held: Socket[] = [];
  const { pool, accepted } = await serve((socket) =>
    eachRequest(socket, (body) => {
      if (body === "held") held.push(socket);
      else socket.write(small);
      if (body === "release") held.shift()?.write(small);
    }),
  );
  const waiting = Promise.all([post(pool, "held"), post(pool, "held")]);
  await until(() => held.length === 1);
  for (const body of ["release", "release"]) {
    await until(() => held.length === 1);
    expect(await post(pool, body, [], true)).toBe("ok");
  }
  expect(await waiting).toEqual(["ok", "ok"]);
  expect(accepted).toHaveLength(2);
});

test("a server that closes right behind every answer loses no request", async () => {
  const { pool, accepted } = await serve((socket) => eachRequest(socket, () => socket.end(small)), 20);
  for (let first = 0; first < 3; first += 1) {
    expect(await post(pool, "first")).toBe("ok");
    await until(() => accepted.every((socket) => socket.destroyed));
  }
  const answers = await Promise.all(
    Array.from({ length: 20 }, async () => {
      const own: unknown[] = [];
      for (let sent = 0; sent < 50; sent += 1) own.push(await post(pool, "next"));
      return own;
    }),
  );
  expect(new Set(answers.flat())).toEqual(new Set(["ok"]));
});

test("what comes without a request ends the connection, and is nobody's answer", async () => {
  const { pool, accepted } = await serve((socket) =>
    eachRequest(socket, (body) => socket.write(body === "first" ? small : small.replace("ok", "no"))),
  );
  expect(await post(pool, "first")).toBe("ok");
  accepted[0]!.write(small.replace("ok", "XX"));
  await until(() => accepted[0]!.destroyed);
  expect(await post(pool, "second")).toBe("no");
  expect(accepted).toHaveLength(2);
});

test("a connection that its server will close within a second is not used again", async () => {
  const brief = small.replace("Content-Length", "Keep-Alive: timeout=1\r\nContent-Length");
  const { pool, accepted } = await serve((socket) => eachRequest(socket, () => socket.write(brief)));
  for (const body of ["a", "b"]) expect(await post(pool, body)).toBe("ok");
  expect(accepted).toHaveLength(2);
});

test("a pool that was destroyed sends nothing, and says why", async () => {
  const { pool, accepted } = await serve(() => undefined);
  pool.close();
  expect(await post(pool, "late")).toMatchObject({ kind: "disposed" });
  expect(accepted).toHaveLength(0);
});
