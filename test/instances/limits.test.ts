import { request } from "node:http";
import { execFileSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createToken } from "../../src/people/identity/token.ts";
import { badServer, startGateway } from "../harness/gateway.ts";
import { execute, modernRpc, rpc, send } from "../harness/rpc.ts";
import { until } from "../harness/until.ts";
import { aliveIn, discover, standingOf, startsIn } from "./observing.ts";

let directory: string;
beforeEach(async () => void (directory = await mkdtemp(join(tmpdir(), "toolyard-limits-"))));
afterEach(async () => await rm(directory, { recursive: true, force: true }));

const noisy = createToken();
const victim = createToken();
const bearer = ({ token }: { readonly token: string }) => ({ authorization: `Bearer ${token}` });

function configWith(limits: object): object {
  return {
    mcpServers: { bad: { ...badServer(), scope: "shared" } },
    toolyard: { principals: { noisy: { tokenHash: noisy.hash }, victim: { tokenHash: victim.hash } }, limits },
  };
}

describe("FAULT K: one user too many times", () => {
  test("requests a second: 429 with Retry-After and the request's id, in both eras; the other user is served", async () => {
    await using gateway = await startGateway({ config: configWith({ callsPerSecond: 1 }), directory });
    const startedMs = performance.now();
    const legacy = await Promise.all(
      Array.from({ length: 50 }, async () => await rpc(`${gateway.url}/mcp`, "tools/list", {}, bearer(noisy))),
    );
    const seconds = (performance.now() - startedMs) / 1_000;
    const refused = legacy.filter((answer) => answer.status === 429);
    // One at once, and one for each second that all of them took.
    expect(legacy.length - refused.length).toBeLessThanOrEqual(2 + seconds);
    expect(refused.length).toBeGreaterThan(0);
    expect(refused[0]?.headers["retry-after"]).toBe("1");
    expect(refused[0]?.json).toMatchObject({
      id: expect.any(Number) as number,
      error: { data: { code: "RATE_LIMITED" } },
    });
    const modern = await modernRpc(`${gateway.url}/mcp`, "tools/list", {}, {}, bearer(noisy));
    expect([200, 429]).toContain(modern.status);
    expect((await rpc(`${gateway.url}/mcp`, "tools/list", {}, bearer(victim))).status).toBe(200);
    await until(async () => (await rpc(`${gateway.url}/mcp`, "tools/list", {}, bearer(noisy))).status === 200);
  });

  test("two hundred hung calls take only their own user's places", async () => {
    await using gateway = await startGateway({
      config: configWith({ concurrentCalls: 20, callsPerSecond: 10_000 }),
      directory,
    });
    await until(async () => (await standingOf(gateway.url, "bad", bearer(victim))).status === "online");
    const hung: ReturnType<typeof request>[] = [];
    const statuses: (number | undefined)[] = [];
    for (let call = 0; call < 200; call += 1) {
      const body = JSON.stringify({
        jsonrpc: "2.0",
        id: call,
        method: "tools/call",
        params: { name: "execute_mcp_tool", arguments: { tool_path: "bad:hang", arguments: {} } },
      });
      const asked = request(
        `${gateway.url}/mcp`,
        { method: "POST", agent: false, headers: { "content-type": "application/json", ...bearer(noisy) } },
        (response) => {
          statuses.push(response.statusCode);
          response.resume();
        },
      );
      asked.on("error", () => undefined);
      asked.end(body);
      hung.push(asked);
    }
    await until(() => statuses.length >= 180);
    expect(new Set(statuses)).toEqual(new Set([429]));
    const echo = await rpc(
      `${gateway.url}/mcp`,
      "tools/call",
      { name: "execute_mcp_tool", arguments: { tool_path: "bad:echo", arguments: { a: 1 } } },
      bearer(victim),
    );
    expect(echo.json.result.structuredContent).toEqual({ a: 1 });
    for (const asked of hung) asked.destroy();
    // Their places are free again when they have gone.
    await until(async () => (await rpc(`${gateway.url}/mcp`, "tools/list", {}, bearer(noisy))).status === 200);
  });

  test("open streams, in both eras", async () => {
    await using gateway = await startGateway({
      config: configWith({ openStreams: 3, callsPerSecond: 10_000 }),
      directory,
    });
    const init = JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "initialize",
      params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "t", version: "1" } },
    });
    const open: ReturnType<typeof request>[] = [];
    const statuses: (number | undefined)[] = [];
    const stream = (options: object, body?: string): void => {
      const asked = request(`${gateway.url}/mcp`, { agent: false, ...options }, (response) => {
        statuses.push(response.statusCode);
        response.on("error", () => undefined).resume();
      });
      asked.on("error", () => undefined);
      asked.end(body);
      open.push(asked);
    };
    for (let session = 0; session < 4; session += 1) {
      const made = await send(`${gateway.url}/mcp`, {
        headers: { "content-type": "application/json", ...bearer(noisy) },
        body: init,
      });
      stream({
        method: "GET",
        headers: { accept: "text/event-stream", "mcp-session-id": made.headers["mcp-session-id"], ...bearer(noisy) },
      });
      await until(() => statuses.length === session + 1);
    }
    expect(statuses).toEqual([200, 200, 200, 429]);
    const theirs = await send(`${gateway.url}/mcp`, {
      headers: { "content-type": "application/json", ...bearer(victim) },
      body: init,
    });
    stream({
      method: "GET",
      headers: { accept: "text/event-stream", "mcp-session-id": theirs.headers["mcp-session-id"], ...bearer(victim) },
    });
    await until(() => statuses[4] === 200);
    for (const asked of open) asked.destroy();
  });

  test("results of hundreds of megabytes are refused, and the gateway serves on", async () => {
    await using gateway = await startGateway({ config: configWith({ callsPerSecond: 10_000 }), directory });
    await until(async () => (await standingOf(gateway.url, "bad", bearer(victim))).status === "online");
    const asked = {
      name: "execute_mcp_tool",
      arguments: { tool_path: "bad:big", arguments: { blocks: 100, bytes: 10_000_000 } },
    };
    const answer = await rpc(`${gateway.url}/mcp`, "tools/call", asked, bearer(noisy));
    expect(answer.text.length).toBeLessThan(10_000);
    expect((await rpc(`${gateway.url}/mcp`, "tools/list", {}, bearer(victim))).status).toBe(200);
  });
});

test("a thousand clients at once are all served", async () => {
  await using gateway = await startGateway({ config: { mcpServers: { bad: badServer() } }, directory });
  await until(async () => (await standingOf(gateway.url, "bad")).status === "online");
  const answers = await Promise.all(
    Array.from({ length: 1_000 }, async (_value, n) => await execute(gateway.url, "bad:echo", { n })),
  );
  answers.forEach((result, n) => expect(result.structuredContent).toEqual({ n }));
});

test.runIf(process.platform === "linux")(
  "FAULT 81: a server that starts processes without end is killed by the watchdog, with its tree, and the others work",
  async () => {
    const pids = join(directory, "pids");
    await using gateway = await startGateway({
      config: {
        mcpServers: { bomb: badServer("--write-pid", pids), good: badServer() },
        toolyard: { instances: { restartDelaysMs: [60_000] } },
      },
      directory,
    });
    await until(async () =>
      (await discover(gateway.url, { query: "" })).servers.every(
        (entry: { status: string }) => entry.status === "online",
      ),
    );
    const bombed = execute(gateway.url, "bomb:fork-bomb", { count: 1_000 });
    expect((await execute(gateway.url, "good:echo", { a: 1 })).structuredContent).toEqual({ a: 1 });
    await until(() => startsIn(pids).length > 0 && aliveIn(pids).length === 0, 90_000);
    // Answered once, whether it was done before the watchdog looked or killed while it worked.
    expect(await bombed).toHaveProperty("content");
    expect((await execute(gateway.url, "good:echo", { a: 2 })).structuredContent).toEqual({ a: 2 });
  },
);

test.runIf(process.platform === "linux" && hasPrlimit())(
  "FAULT 82: without file descriptors a start fails with a clear error, and works again when there are some",
  async () => {
    const config = {
      mcpServers: { bad: badServer() },
      toolyard: { instances: { idleCheckMs: 100, idleGraceMs: 0, idleTimeoutMs: 300, callRetryMs: 0 } },
    };
    await using gateway = await startGateway({ config, directory });
    await until(async () => (await standingOf(gateway.url, "bad")).status === "dormant");
    const limit = (files: number): void =>
      void execFileSync("prlimit", ["--pid", String(gateway.process.pid), `--nofile=${files}:4096`]);
    // As many as are open now, and the few that a connection needs: none for a child's pipes.
    limit(readdirSync(`/proc/${gateway.process.pid}/fd`).length + 2);
    const failed = await execute(gateway.url, "bad:echo");
    expect(failed.isError).toBe(true);
    expect(JSON.parse(failed.content[0].text)).toMatchObject({ code: "SPAWN_FAILED" });
    expect((await send(`${gateway.url}/healthz`, { method: "GET" })).status).toBe(200);
    limit(4096);
    await until(async () => (await execute(gateway.url, "bad:echo", { a: 1 })).structuredContent?.a === 1);
  },
);

function hasPrlimit(): boolean {
  try {
    execFileSync("prlimit", ["--version"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}
