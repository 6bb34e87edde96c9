import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openOwnerSocket, type OwnerSocket } from "../../src/cli/gateway/owner-client.ts";
import { startGateway } from "../harness/gateway.ts";
import { askOwner } from "../harness/owner-door.ts";
import { locksIn } from "../harness/places.ts";

let directory: string;
beforeEach(async () => void (directory = await mkdtemp(join(tmpdir(), "toolyard-owner-"))));
afterEach(async () => await rm(directory, { recursive: true, force: true }));

async function openDoor(): Promise<OwnerSocket> {
  const [holder] = locksIn(join(directory, "data"));
  if (holder === undefined) throw new Error("no gateway runs");
  return await openOwnerSocket(holder, "rest", "/mcp");
}

test.each([
  ["no request", "{ nonsense\n"],
  ["a request without a version", "GET\r\n\r\n"],
  ["a command of an older version", '{"command":"stop"}\n'],
  ["an address with a NUL", "GET /api/status HTTP/1.1\r\nHost: a b\0\r\n\r\n"],
  ["a head without an end", `GET / HTTP/1.1\r\nX: ${"x".repeat(70_000)}`],
])("behind the owner's door, %s is refused, and the next connection is served", async (_what, text) => {
  await using gateway = await startGateway({ config: { mcpServers: {} }, directory });
  const { socket } = await openDoor();
  const closed = new Promise((resolve) => socket.once("close", resolve));
  socket.on("error", () => undefined);
  let answer = "";
  socket.on("data", (chunk: Buffer) => (answer += chunk.toString()));
  socket.write(text);
  await closed;
  expect(answer === "" || answer.startsWith("HTTP/1.1 4")).toBe(true);
  const { status, text: body } = await askOwner(join(directory, "data"), "GET", "/api/status");
  expect([status, JSON.parse(body)]).toMatchObject([200, { pid: gateway.process.pid }]);
});
