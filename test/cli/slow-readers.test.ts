import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openOwnerSocket } from "../../src/cli/gateway/owner-client.ts";
import type { GatewayHolder } from "../../src/store/gateway-holder.ts";
import { badServer, mainFile, startGateway, type RunningGateway } from "../harness/gateway.ts";
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

function holder(): GatewayHolder {
  const gateways = join(directory, "data", "gateways");
  const [name = ""] = readdirSync(gateways);
  const lock = readdirSync(join(gateways, name)).find((file) => file.includes("lock")) ?? "";
  return JSON.parse(readFileSync(join(gateways, name, lock), "utf8")) as GatewayHolder;
}

describe("a reader that closes its side of the connection", () => {
  test.each([
    [{ command: "events" }, '"ok":true'],
    [{ command: "events", types: ["mcp.request.*"] }, '"ok":true'],
    [{ command: "calls", follow: true, limit: 1 }, '"call"'],
    [{ command: "logs", follow: true, limit: 1 }, '"log"'],
  ])("and not the other is let go by the gateway: %j", async (command, begun) => {
    await run(gateway.url, "bad:stderr", { text: "WARN: something" });
    const { socket } = await openOwnerSocket(holder(), "control", "/mcp");
    const lines: string[] = [];
    createInterface({ input: socket }).on("line", (line) => lines.push(line));
    socket.write(`${JSON.stringify(command)}\n`);
    await until(() => lines.some((line) => line.includes(begun)));
    const ended = once(socket, "end");
    socket.end();
    await ended;
    await run(gateway.url, "bad:echo", {});
    await untilOnline(gateway.url);
  });

  test("together with the command still gets what it asked for", async () => {
    const { socket } = await openOwnerSocket(holder(), "control", "/mcp");
    const lines: string[] = [];
    createInterface({ input: socket }).on("line", (line) => lines.push(line));
    const ended = once(socket, "end");
    socket.end(`${JSON.stringify({ command: "calls", limit: 2 })}\n`);
    await ended;
    expect(lines.filter((line) => line.includes('"call"'))).toHaveLength(2);
  });
});
