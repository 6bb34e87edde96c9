import { createServer, request as httpRequest, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createBodyRoom, type BodyRoom } from "./guards/body-room.ts";
import { readBody } from "./body.ts";

const limits = { bytes: 1_000, room: createBodyRoom(1_000) };
let server: Server;

beforeAll(async () => {
  server = createServer((request, response) => {
    readBody(request, limits, "anna", (error, body) =>
      response.end(error === undefined ? `ok ${body.length} ${body.toString("hex").slice(0, 20)}` : error.code),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
});
afterAll(() => server.closeAllConnections());

interface Sent {
  readonly headers?: Record<string, string>;
  readonly chunks: readonly (string | Buffer)[];
  readonly unfinished?: boolean;
}

async function post({ headers, chunks, unfinished }: Sent): Promise<string> {
  const { port } = server.address() as AddressInfo;
  return await new Promise((resolve, reject) => {
    const request = httpRequest(
      {
        port,
        host: "127.0.0.1",
        method: "POST",
        agent: false,
        headers: { "content-type": "application/json", ...headers },
      },
      (response) => {
        let text = "";
        response.on("data", (chunk: Buffer) => (text += chunk.toString()));
        response.on("end", () => {
          resolve(text);
          request.destroy();
        });
      },
    );
    request.on("error", reject);
    request.flushHeaders();
    for (const chunk of chunks) request.write(chunk);
    if (unfinished !== true) request.end();
  });
}

test("the whole body arrives, in one piece or in many", async () => {
  expect(await post({ chunks: [] })).toBe("ok 0 ");
  expect(await post({ chunks: ["abc"] })).toBe("ok 3 616263");
  expect(await post({ chunks: Array.from({ length: 100 }, () => "abcdefghij") })).toMatch(/^ok 1000 /);
});

test("one byte too many is refused, by Content-Length before anything is read, otherwise at the limit", async () => {
  expect(await post({ chunks: [], headers: { "content-length": "1001" }, unfinished: true })).toBe("BODY_TOO_LARGE");
  expect(await post({ chunks: ["x".repeat(600), "x".repeat(401)], unfinished: true })).toBe("BODY_TOO_LARGE");
  expect(await post({ chunks: ["x".repeat(600), "x".repeat(400)] })).toMatch(/^ok 1000 /);
});

test.each([
  ["application/json", "ok"],
  ["application/json; charset=utf-8", "ok"],
  ["Application/JSON", "ok"],
  ["application/vnd.api+json", "ok"],
  ["text/plain", "MEDIA_TYPE_UNSUPPORTED"],
  ["text/plain; application/json", "MEDIA_TYPE_UNSUPPORTED"],
  ["application/x-www-form-urlencoded", "MEDIA_TYPE_UNSUPPORTED"],
  ["multipart/form-data; boundary=application/json", "MEDIA_TYPE_UNSUPPORTED"],
  ["application/jsonp", "MEDIA_TYPE_UNSUPPORTED"],
  ["", "MEDIA_TYPE_UNSUPPORTED"],
])("a body of type %j: %s", async (type, expected) => {
  expect((await post({ chunks: ["{}"], headers: { "content-type": type } })).split(" ")[0]).toBe(expected);
});

test.each(["gzip", "br", "deflate", "gzip, identity"])("a body in %s is refused", async (encoding) => {
  expect(await post({ chunks: ["{}"], headers: { "content-encoding": encoding } })).toBe("MEDIA_TYPE_UNSUPPORTED");
});

test("bodies that are on their way are counted together, for one person and for all, and given back", () => {
  const MiB = 2 ** 20;
  const room: BodyRoom = createBodyRoom(4 * MiB);
  const taken = (who: string, times: number): number =>
    Array.from({ length: times }, () => room.take(who, 4 * MiB)).filter(Boolean).length;
  expect(taken("anna", 300)).toBe(8);
  expect(["bert", "carl", "dora"].map((who) => taken(who, 300))).toEqual([8, 8, 0]);
  room.give("anna", 4 * MiB);
  expect(taken("dora", 300)).toBe(1);
  expect(taken("anna", 1)).toBe(0);
  // Whoever raises the limit of one body can still send two.
  expect(createBodyRoom(1_024 * MiB).take("anna", 2_048 * MiB)).toBe(true);
});
