import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openOwnerSocket } from "../../src/cli/gateway/owner-client.ts";
import { badServer, mainFile, startGateway, type RunningGateway } from "../harness/gateway.ts";
import { locksIn } from "../harness/places.ts";
import { run, untilOnline } from "../harness/rest.ts";
import { until } from "../harness/until.ts";

let directory: string;
let gateway: RunningGateway;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "toolyard-readers-"));
  gateway = await startGateway({ directory, config: { mcpServers: { bad: badServer(), other: badServer() } } });
  await untilOnline(gateway.url);
});
afterAll(async () => {
  await gateway.stop();
  await rm(directory, { recursive: true, force: true });
});

const place = (): string[] => ["--config", gateway.configFile, "--data-dir", join(directory, "data")];

test("`logs -f` says how many lines of a flood were lost", async () => {
  const child = spawn(process.execPath, [mainFile, "logs", "bad", "-f", "--json", "--limit", "0", ...place()], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ended = once(child, "close");
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  const shown = (text: string): number => stdout.split("\n").filter((line) => line.includes(text)).length;
  await until(async () => {
    await run(gateway.url, "bad:stderr", { text: "WARN: is anybody there" });
    return shown("anybody") > 0;
  });
  // Fifty of a second are recorded.
  await until(async () => {
    await run(gateway.url, "bad:stderr", { text: "WARN: of the flood", times: 40 });
    return /^toolyard: [1-9]\d* lines? (?:were|was) lost$/m.test(stderr);
  });
  expect(shown("of the flood")).toBeGreaterThan(0);
  child.kill();
  await ended;
});

describe("a reader that closes its side of the connection", () => {
  test.each([
    ["/api/events", "id: "],
    ["/api/events?types=mcp.request.*", "id: "],
    ["/api/calls?follow=true&newest=1", '"method"'],
    ["/api/logs?follow=true&newest=1", '"line"'],
  ])("and not the other is let go by the gateway: %s", async (path, begun) => {
    await run(gateway.url, "bad:stderr", { text: "WARN: something" });
    const [holder] = locksIn(join(directory, "data"));
    if (holder === undefined) throw new Error("no gateway runs");
    const { socket } = await openOwnerSocket(holder, "rest", "/mcp");
    const lines: string[] = [];
    createInterface({ input: socket }).on("line", (line) => lines.push(line));
    socket.write(`GET ${path} HTTP/1.1\r\nHost: toolyard\r\n\r\n`);
    await until(() => lines.some((line) => line.includes(begun)));
    const ended = once(socket, "end");
    socket.end();
    await ended;
    await run(gateway.url, "bad:echo", {});
    await untilOnline(gateway.url);
  });
});
