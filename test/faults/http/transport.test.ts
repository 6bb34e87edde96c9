import { readdirSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { rpc, send } from "../../harness/rpc.ts";
import { until } from "../../harness/until.ts";
import { failures } from "../../../src/kernel/failures/failures.ts";
import { ping, post, rawExchange, rawPost, statusOf, useGateway } from "./front.ts";

const gateway = useGateway({ limits: { bodyTimeoutMs: 3_000 } });
const bodyLimit = 4 * 1024 * 1024;

/** Opens a socket, writes the bytes and leaves it open. */
async function open(
  bytes: string,
): Promise<Socket & { readonly received: () => string; readonly isClosed: () => boolean }> {
  const { hostname, port } = new URL(gateway().url);
  let text = "";
  let closed = false;
  const socket = connect(Number(port), hostname);
  socket.on("data", (chunk: Buffer) => (text += chunk.toString("latin1")));
  socket.on("error", () => undefined);
  socket.on("close", () => (closed = true));
  await new Promise<void>((resolve) => socket.once("connect", () => resolve()));
  socket.write(bytes);
  return Object.assign(socket, { received: () => text, isClosed: () => closed });
}

describe("FAULT 13: a body over the limit", () => {
  test("is refused by its Content-Length before any of it is read", async () => {
    const answer = await rawExchange(gateway().url, rawPost(gateway().url, `Content-Length: ${bodyLimit + 1}\r\n`, ""));
    expect(statusOf(answer)).toBe(413);
    expect(answer).toContain('"code":-31101');
  });

  test("is cut at the limit when its length is not given, and the client reads why", async () => {
    const chunk = Buffer.from(`10000\r\n${"x".repeat(65_536)}\r\n`);
    const head = rawPost(gateway().url, "Transfer-Encoding: chunked\r\n", "");
    const answer = await rawExchange(
      gateway().url,
      Buffer.concat([
        Buffer.from(head),
        ...Array.from({ length: bodyLimit / 65_536 + 1 }, () => chunk),
        Buffer.from("0\r\n\r\n"),
      ]),
    );
    expect(statusOf(answer)).toBe(413);
  });

  test("that a client sends whole is answered, not reset", async () => {
    const { port } = new URL(gateway().url);
    for (const size of [bodyLimit + 1, 3 * bodyLimit]) {
      const response = await fetch(`http://127.0.0.1:${port}/mcp`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: Buffer.alloc(size, 0x20),
      });
      expect([response.status, ((await response.json()) as { error: { code: number } }).error.code]).toEqual([
        413, -31101,
      ]);
    }
  });

  test("of just the limit is read", async () => {
    const body = `${ping}${" ".repeat(bodyLimit - ping.length)}`;
    expect((await post(gateway().url, body)).json.result).toEqual({});
  });
});

test("FAULT 19: a compressed body is refused, bomb or not", async () => {
  const bomb = gzipSync(Buffer.alloc(50_000_000));
  for (const [encoding, body] of [
    ["gzip", bomb],
    ["br", brotliCompressSync(Buffer.from(ping))],
    ["deflate", bomb],
    ["gzip, identity", bomb],
    ["x-unknown", bomb],
  ] as const) {
    expect([encoding, (await post(gateway().url, body, { "content-encoding": encoding })).status]).toEqual([
      encoding,
      415,
    ]);
  }
  expect((await post(gateway().url, ping, { "content-encoding": "identity" })).status).toBe(200);
});

describe("FAULT 20: heads that two parsers could read in two ways", () => {
  const length = `Content-Length: ${ping.length}\r\n`;
  const cases: readonly (readonly [string, string])[] = [
    ["Content-Length and Transfer-Encoding", `${length}Transfer-Encoding: chunked\r\n`],
    ["two lengths that differ", `${length}Content-Length: 3\r\n`],
    ["two lengths that agree", `${length}${length}`],
    ["a length with a sign", `Content-Length: +${ping.length}\r\n`],
    ["a length in hexadecimal", "Content-Length: 0x28\r\n"],
    ["a folded line", `X-A: 1\r\n folded\r\n${length}`],
    ["a bare LF", `X-A: 1\n${length}`],
    ["a bare CR", `X-A: 1\r${length}`],
    ["a space before the colon", `Content-Length : ${ping.length}\r\n`],
    ["a NUL in a value", `X-A: a\0b\r\n${length}`],
    ["a header of 17 KB", `X-A: ${"a".repeat(17 * 1024)}\r\n${length}`],
    ["2,000 headers", `${"a:b\r\n".repeat(2_000)}${length}`],
    ["2,000 headers of 30 bytes", `${"a: bbbbbbbbbbbbbbbbbbbbbbbbb\r\n".repeat(2_000)}${length}`],
    ["a transfer coding that nobody knows", "Transfer-Encoding: chunked, x\r\n"],
    ["two transfer codings", "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"],
  ];
  test.each(cases)("%s", async (_what, headers) => {
    const answer = await rawExchange(gateway().url, rawPost(gateway().url, headers, ping));
    expect([400, 431, 501]).toContain(statusOf(answer));
    expect(answer).not.toContain('"result"');
  });

  test("chunks that are none", async () => {
    for (const body of ["ZZ\r\n", "-1\r\nx\r\n0\r\n\r\n", `28\n${ping}\r\n0\r\n\r\n`, "fffffffffffffffff\r\n"]) {
      expect(
        statusOf(await rawExchange(gateway().url, rawPost(gateway().url, "Transfer-Encoding: chunked\r\n", body))),
      ).toBe(400);
    }
  });

  test("a request hidden in the body of another is not run", async () => {
    const hidden = rawPost(gateway().url, length, ping);
    const answer = await rawExchange(
      gateway().url,
      rawPost(gateway().url, `Content-Length: ${hidden.length}\r\n`, hidden),
    );
    expect(statusOf(answer)).toBe(400);
    expect(answer.match(/HTTP\/1\.1/g)).toHaveLength(1);
  });
});

test("FAULT 21: another content type is refused", async () => {
  for (const type of [
    "text/plain",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=a",
    "text/json",
    "application/jsonx",
    "application",
    "json",
  ]) {
    const answer = await send(`${gateway().url}/mcp`, { headers: { "content-type": type }, body: ping });
    expect([type, answer.status, answer.json.error.code]).toEqual([type, 415, -31104]);
  }
  for (const type of ["application/json;charset=utf-8", "APPLICATION/JSON", "application/json ; x=y"]) {
    expect((await send(`${gateway().url}/mcp`, { headers: { "content-type": type }, body: ping })).status).toBe(200);
  }
});

test("FAULT 22: methods that are not served say which are", async () => {
  for (const method of ["GET", "DELETE", "PUT", "PATCH", "HEAD", "TRACE", "PROPFIND"]) {
    for (const path of ["/mcp", "/mcp/flat", "/mcp/server/bad"]) {
      const answer = await send(`${gateway().url}${path}`, { method });
      expect([method, answer.status]).toEqual([method, 405]);
      expect(answer.headers.allow).toContain("POST");
    }
  }
  for (const path of ["/healthz", "/readyz"])
    expect((await send(`${gateway().url}${path}`, { method: "DELETE" })).status).toBe(405);
});

describe("FAULT 23: rare forms of HTTP", () => {
  const { length } = ping;

  test("Expect: 100-continue is answered, another expectation refused", async () => {
    const answer = await rawExchange(
      gateway().url,
      rawPost(gateway().url, `Expect: 100-continue\r\nContent-Length: ${length}\r\n`, ping),
    );
    expect(answer).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 /);
    const other = await rawExchange(
      gateway().url,
      rawPost(gateway().url, `Expect: 200-maybe\r\nContent-Length: ${length}\r\n`, ping),
    );
    expect(statusOf(other)).toBe(417);
  });

  test("a target in absolute form is served when it names us, and judged by its own host", async () => {
    const { host } = new URL(gateway().url);
    const absolute = (target: string): string =>
      rawPost(gateway().url, `Content-Length: ${length}\r\n`, ping).replace("POST /mcp", `POST ${target}`);
    expect(statusOf(await rawExchange(gateway().url, absolute(`http://${host}/mcp`)))).toBe(200);
    expect(statusOf(await rawExchange(gateway().url, absolute("http://evil.com/mcp")))).toBe(403);
    expect(statusOf(await rawExchange(gateway().url, absolute(`http://${host}@evil.com/mcp`)))).toBe(400);
    expect(statusOf(await rawExchange(gateway().url, absolute("http:///mcp")))).toBe(400);
  });

  test("OPTIONS *, CONNECT, HTTP/2's preface, TLS and HTTP/0.9 get a refusal or a close", async () => {
    const { host } = new URL(gateway().url);
    expect(
      statusOf(await rawExchange(gateway().url, `OPTIONS * HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`)),
    ).toBe(404);
    for (const bytes of [
      `CONNECT evil.com:443 HTTP/1.1\r\nHost: ${host}\r\n\r\n`,
      "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
      "\x16\x03\x01\x02\x00\x01\x00\r\n\r\n",
      "GET /mcp\r\n\r\n",
      `GET /mcp HTTP/3.0\r\nHost: ${host}\r\n\r\n`,
    ]) {
      expect([0, 400, 403, 404, 405, 505]).toContain(statusOf(await rawExchange(gateway().url, bytes)));
    }
  });

  test("what is no HTTP is told so, as a problem; after a request, only once that has its answer", async () => {
    const head = `POST /mcp HTTP/1.1\r\nHost: ${new URL(gateway().url).host}\r\n`;
    for (const [bytes, status, code] of [
      ["\x16\x03\x01\r\n\r\n", 400, "REQUEST_INVALID"],
      [`${head}X: ${"a".repeat(17_000)}\r\n\r\n`, 431, "HEADERS_TOO_LARGE"],
      [`${head}Connection: close\r\n${"X: a\r\n".repeat(300)}\r\n`, 431, "HEADERS_TOO_LARGE"],
    ] as const) {
      const received = await rawExchange(gateway().url, bytes);
      expect(statusOf(received)).toBe(status);
      expect(received).toContain(`"${code}"`);
      expect(received).toMatch(/connection: close/i);
    }
    const whole = rawPost(gateway().url, `Content-Length: ${length}\r\n`, ping).replace("Connection: close\r\n", "");
    const received = await rawExchange(gateway().url, `${whole}no HTTP\r\n\r\n`);
    expect(received.match(/HTTP\/1\.1 /g)).toHaveLength(1);
    expect(JSON.parse(received.slice(received.indexOf("\r\n\r\n")))).toMatchObject({ id: 1, result: {} });
  });

  test("paths are taken as they are: no dots, no double slashes, no escapes lead to another route", async () => {
    for (const path of [
      "//mcp",
      "/./mcp",
      "/x/../mcp",
      "/%6dcp",
      "/mcp%2f",
      "/MCP",
      "/mcp;x",
      "/mcp/server/",
      "/mcp/server/..",
      "/mcp/server/a/b",
    ]) {
      const answer = await rawExchange(
        gateway().url,
        rawPost(gateway().url, `Content-Length: ${length}\r\n`, ping).replace("POST /mcp", `POST ${path}`),
      );
      expect([path, statusOf(answer)]).toEqual([path, 404]);
    }
    expect((await post(`${gateway().url}/mcp?x=/healthz`, ping)).status).toBe(200);
  });
});

test("FAULT 24: sockets that trickle their head, or say nothing, are closed; others are served meanwhile", async () => {
  const { host } = new URL(gateway().url);
  const sockets = await Promise.all(
    Array.from(
      { length: 30 },
      async (_, index) => await open(index % 3 === 0 ? "" : `POST /mcp HTTP/1.1\r\nHost: ${host}\r\n`),
    ),
  );
  const trickle = setInterval(() => {
    for (const socket of sockets)
      if (socket.writable && !socket.isClosed() && socket.received() === "") socket.write("a");
  }, 500);
  try {
    await until(async () => {
      expect((await rpc(`${gateway().url}/mcp`, "tools/list")).status).toBe(200);
      return sockets.every((socket) => socket.isClosed());
    });
  } finally {
    clearInterval(trickle);
  }
});

test("FAULT 25: a body that does not end is given up with 408, also one that was refused already", async () => {
  const sockets = [
    ...(await Promise.all(
      Array.from({ length: 10 }, async () => await open(rawPost(gateway().url, "Content-Length: 1000\r\n", "{"))),
    )),
    ...(await Promise.all(
      Array.from(
        { length: 10 },
        async () => await open(rawPost(gateway().url, "Transfer-Encoding: chunked\r\n", "5\r\n{\r\n")),
      ),
    )),
  ];
  const refused = await open(
    rawPost(gateway().url, "Content-Length: 1000\r\n", "{")
      .replace("application/json", "text/plain")
      .replace("Connection: close\r\n", ""),
  );
  const trickle = setInterval(() => {
    for (const socket of [...sockets, refused]) if (socket.writable && !socket.isClosed()) socket.write(" ");
  }, 300);
  try {
    await until(() => [...sockets, refused].every((socket) => socket.isClosed()));
  } finally {
    clearInterval(trickle);
  }
  for (const socket of sockets)
    expect([
      [400, failures.REQUEST_INVALID.rpc],
      [408, failures.BODY_TIMEOUT.rpc],
    ]).toContainEqual(refusalOf(socket.received()));
  expect(refusalOf(sockets[0]!.received())).toEqual([408, failures.BODY_TIMEOUT.rpc]);
  expect(statusOf(refused.received())).toBe(415);
});

/** Status, and the code of the JSON-RPC error. */
function refusalOf(received: string): [number, number] {
  const body = JSON.parse(received.slice(received.indexOf("\r\n\r\n"))) as { error: { code: number } };
  return [statusOf(received), body.error.code];
}

test("FAULT 26: who does not read a stream loses it; the gateway holds a bounded part of it", async () => {
  // 40 MB of log messages and no reader: far beyond the stream's buffer and the kernel's.
  const call = JSON.stringify({
    jsonrpc: "2.0",
    id: 1,
    method: "tools/call",
    params: {
      name: "execute_mcp_tool",
      arguments: { tool_path: "bad:log", arguments: { text: "x".repeat(10_000), times: 4_000 } },
    },
  });
  const socket = await open("");
  socket.pause();
  socket.write(
    rawPost(gateway().url, `Accept: text/event-stream, application/json\r\nContent-Length: ${call.length}\r\n`, call),
  );
  const readBefore = (await send(`${gateway().url}/healthz`, { method: "GET" })).status;
  expect(readBefore).toBe(200);
  await until(() => socket.isClosed() || socketGone(socket));
  expect((await rpc(`${gateway().url}/mcp`, "tools/list")).json.result.tools).toHaveLength(4);
});

/** A paused socket hears of nothing until something is written to it that cannot arrive. */
function socketGone(socket: Socket): boolean {
  if (socket.writable) socket.write("\r\n");
  return socket.destroyed || socket.errored !== null;
}

test("FAULT 28: connections that come and go leave no descriptor behind", async () => {
  const count = (): number => readdirSync(`/proc/${String(gateway().process.pid)}/fd`).length;
  const before = count();
  for (let round = 0; round < 10; round += 1) {
    const sockets = await Promise.all(
      Array.from({ length: 50 }, async (_, index) => await open(index % 2 === 0 ? "" : "POST /mcp HTTP/1.1\r\nHo")),
    );
    for (const [index, socket] of sockets.entries()) {
      if (index % 3 === 0) socket.resetAndDestroy();
      else socket.destroy();
    }
  }
  await until(() => count() <= before);
});
