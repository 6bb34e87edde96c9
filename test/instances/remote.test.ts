import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createToken } from "../../src/people/identity/token.ts";
import { badServer, startGateway, type RunningGateway } from "../harness/gateway.ts";
import { execute, rpc, send } from "../harness/rpc.ts";
import { until } from "../harness/until.ts";
import { startBadHttpServer } from "./bad-http-server.ts";
import { discover, standingOf } from "./observing.ts";

let directory: string;
beforeEach(async () => void (directory = await mkdtemp(join(tmpdir(), "toolyard-remote-"))));
afterEach(async () => await rm(directory, { recursive: true, force: true }));

const quick = { probeIntervalMs: 1_000, idleCheckMs: 100, callRetryMs: 100 };
const statusOf = async (gateway: RunningGateway): Promise<string> => (await standingOf(gateway.url, "remote")).status;

function gatewayFor(url: string, over: object = {}): Promise<RunningGateway> {
  return startGateway({
    config: { mcpServers: { remote: { url, ...over } }, toolyard: { instances: quick } },
    directory,
  });
}

describe.each(["legacy", "modern"])("a %s server over HTTP", (era) => {
  test("that dies is offline, its tools are hidden with a reason; when it is back they are listed anew", async () => {
    const first = await startBadHttpServer(0, "--era", era, "--tools", "2");
    await using gateway = await gatewayFor(first.url);
    await until(async () => (await statusOf(gateway)) === "online");
    await first[Symbol.asyncDispose]();
    const failed = await execute(gateway.url, "remote:tool-1");
    expect(JSON.parse(failed.content[0].text).code).toMatch(/^(CONNECT_FAILED|SERVER_OFFLINE|UPSTREAM_CLOSED)$/);
    await until(async () => (await statusOf(gateway)) === "offline");
    expect((await discover(gateway.url, { query: "tool-1" })).tools).toEqual([]);
    await using second = await startBadHttpServer(first.port, "--era", era, "--tools", "3");
    await until(async () => (await statusOf(gateway)) === "online");
    await until(async () => (await discover(gateway.url, { query: "" })).total_tools === 3);
    expect((await execute(gateway.url, "remote:tool-3")).structuredContent).toMatchObject({ tool: "tool-3" });
    void second;
  });

  test("that is not there at the start is found by a probe", async () => {
    const first = await startBadHttpServer(0);
    await first[Symbol.asyncDispose]();
    await using gateway = await gatewayFor(first.url);
    await until(async () => (await statusOf(gateway)) === "offline");
    expect(await standingOf(gateway.url, "remote")).toMatchObject({
      reason: expect.stringMatching(/refused|reach|connect/i) as string,
    });
    await using second = await startBadHttpServer(first.port, "--era", era);
    await until(async () => (await statusOf(gateway)) === "online");
    void second;
  });

  test("announces a change of its list, which is fetched without a restart", async () => {
    // Without a session a legacy server has no stream to announce anything on.
    await using server = await startBadHttpServer(0, "--era", era, "--session");
    await using gateway = await gatewayFor(server.url);
    await until(async () => (await statusOf(gateway)) === "online");
    await execute(gateway.url, "remote:rename", { to: "brand-new" });
    await until(async () =>
      (await discover(gateway.url, { query: "brand-new", server: "remote" })).tools.some(
        (tool: { tool_path: string }) => tool.tool_path === "remote:brand-new",
      ),
    );
  });
});

describe.each(["legacy", "modern"])("a %s server over stdio", (era) => {
  test("announces a change of its list, and still goes to sleep", async () => {
    const config = {
      mcpServers: { bad: badServer("--era", era) },
      // Longer than the second in which announcements are gathered, also on a busy machine: who sleeps first is not
      // asked again.
      toolyard: { instances: { idleCheckMs: 100, idleGraceMs: 0, idleTimeoutMs: 5_000 } },
    };
    await using gateway = await startGateway({ config, directory });
    await until(async () => (await standingOf(gateway.url, "bad")).tools > 0);
    await execute(gateway.url, "bad:rename", { to: "brand-new" });
    await until(async () =>
      (await discover(gateway.url, { query: "brand-new", server: "bad" })).tools.some(
        (tool: { tool_path: string }) => tool.tool_path === "bad:brand-new",
      ),
    );
    await until(async () => (await standingOf(gateway.url, "bad")).status === "dormant");
  });
});

test("FAULT 50: a storm of announcements is followed once a second", async () => {
  const record = join(directory, "record");
  const config = { mcpServers: { bad: badServer("--record", record) } };
  await using gateway = await startGateway({ config, directory });
  await until(async () => (await standingOf(gateway.url, "bad")).tools > 0);
  const startedMs = performance.now();
  const { content } = await execute(gateway.url, "bad:storm", { perSecond: 1_000, ms: 2_000 });
  expect(Number(/\d+/.exec(content[0].text)?.[0])).toBeGreaterThan(200);
  const lists = (await readFile(record, "utf8")).split("\n").filter((line) => line.includes("tools/list"));
  // One for each second that the storm took on this machine, and those of the start.
  const seconds = (performance.now() - startedMs) / 1_000;
  expect(lists.length).toBeLessThan(seconds + 6);
});

test("a list that says how long it is good for is fetched again after that, in the background", async () => {
  const record = join(directory, "record");
  await using server = await startBadHttpServer(0, "--era", "modern", "--ttl-ms", "300", "--record", record);
  await using gateway = await gatewayFor(server.url);
  await until(async () => (await readFile(record, "utf8").catch(() => "")).split('"tools/list"').length > 3);
  expect(await statusOf(gateway)).toBe("online");
});

test("an upstream session that expired is replaced, and the call that found out is answered", async () => {
  await using server = await startBadHttpServer(0, "--session");
  await using gateway = await gatewayFor(server.url);
  await until(async () => (await statusOf(gateway)) === "online");
  await execute(gateway.url, "remote:expire-all-sessions");
  for (let call = 0; call < 5; call += 1)
    expect((await execute(gateway.url, "remote:echo", { call })).structuredContent).toEqual({ call });
  expect(await statusOf(gateway)).toBe("online");
});

test("a resource that is subscribed to stays so when its server crashes", async () => {
  const record = join(directory, "record");
  const pids = join(directory, "pids");
  const config = {
    mcpServers: { bad: badServer("--resources", "--record", record, "--write-pid", pids) },
    toolyard: { instances: { restartDelaysMs: [10, 10, 10] } },
  };
  await using gateway = await startGateway({ config, directory });
  await until(async () => (await standingOf(gateway.url, "bad")).tools > 0);
  const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
  const init = {
    jsonrpc: "2.0",
    id: 1,
    method: "initialize",
    params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "t", version: "1" } },
  };
  const made = await send(`${gateway.url}/mcp/server/bad`, { headers, body: JSON.stringify(init) });
  const session = { ...headers, "mcp-session-id": String(made.headers["mcp-session-id"]) };
  const subscribed = await send(`${gateway.url}/mcp/server/bad`, {
    headers: session,
    body: '{"jsonrpc":"2.0","id":2,"method":"resources/subscribe","params":{"uri":"bad://text"}}',
  });
  expect(subscribed.json.result).toEqual({});
  const heard: string[] = [];
  const stream = request(
    `${gateway.url}/mcp/server/bad`,
    {
      method: "GET",
      headers: { accept: "text/event-stream", "mcp-session-id": session["mcp-session-id"] },
      agent: false,
    },
    (response) => {
      response.on("data", (chunk: Buffer) => heard.push(chunk.toString()));
      response.on("error", () => undefined);
    },
  );
  stream.on("error", () => undefined);
  stream.end();
  await execute(gateway.url, "bad:crash-self");
  await until(async () => (await readFile(record, "utf8")).split('"resources/subscribe"').length >= 3);
  await execute(gateway.url, "bad:resource-updated");
  await until(() => heard.join("").includes("notifications/resources/updated"));
  stream.destroy();
});

test("FAULT 103: no server ever gets the client's token, nor another server's, also behind a redirect", async () => {
  const token = createToken();
  const trapped: string[] = [];
  const trap = createServer((request, response) => {
    trapped.push(JSON.stringify(request.headers));
    response.writeHead(500).end();
  });
  await new Promise<void>((resolve) => trap.listen(0, "127.0.0.1", resolve));
  const trapUrl = `http://127.0.0.1:${(trap.address() as AddressInfo).port}/mcp`;
  await using one = await startBadHttpServer(0);
  await using two = await startBadHttpServer(0);
  const config = {
    mcpServers: {
      one: { url: one.url, headers: { Authorization: "Bearer canary-of-one" } },
      two: { url: two.url, headers: { "X-Key": "canary-of-two" } },
      local: badServer(),
    },
    toolyard: { auth: { tokenHash: token.hash } },
  };
  await using gateway = await startGateway({ config, directory });
  const call = async (tool: string, args: object = {}): Promise<string> => {
    const asked = { name: "execute_mcp_tool", arguments: { tool_path: tool, arguments: args } };
    return (
      await rpc(`${gateway.url}/mcp`, "tools/call", asked, {
        authorization: `Bearer ${token.token}`,
        cookie: `token=${token.token}`,
        "x-api-key": token.token,
      })
    ).text;
  };
  const seen = {
    one: await until(async () => {
      const text = await call("one:headers");
      return text.includes("canary-of-one") && text;
    }),
    two: await until(async () => {
      const text = await call("two:headers");
      return text.includes("canary-of-two") && text;
    }),
    local: await until(async () => {
      const text = await call("local:env");
      return text.includes("PATH") && text;
    }),
  };
  expect(Object.values(seen).join("")).not.toContain(token.token);
  expect(seen.one).not.toContain("canary-of-two");
  expect(seen.two).not.toContain("canary-of-one");
  expect(seen.local).not.toContain("canary-of");
  await call("one:redirect", { url: trapUrl });
  expect(trapped.join("")).not.toContain("canary-of-one");
  trap.close();
});

test("FAULT 105: a server that answers 401 for ever is asked a few times, not for ever", async () => {
  let requests = 0;
  const wall = createServer((request, response) => {
    requests += 1;
    request.resume();
    response
      .writeHead(401, { "WWW-Authenticate": 'Bearer resource_metadata="http://127.0.0.1:1/none"' })
      .end("x".repeat(1_000_000));
  });
  await new Promise<void>((resolve) => wall.listen(0, "127.0.0.1", resolve));
  await using gateway = await gatewayFor(`http://127.0.0.1:${(wall.address() as AddressInfo).port}/mcp`);
  await until(async () => (await statusOf(gateway)) === "requires_reauth");
  const before = requests;
  expect(before).toBeLessThanOrEqual(3);
  const refused = JSON.parse((await execute(gateway.url, "remote:anything")).content[0].text);
  expect(refused.code).toMatch(/SERVER_NEEDS_LOGIN|TOOL_UNKNOWN/);
  for (let look = 0; look < 20; look += 1) await discover(gateway.url, { query: "anything" });
  expect(requests).toBe(before);
  expect((await standingOf(gateway.url, "remote")).action).toContain("toolyard login remote");
  wall.closeAllConnections();
  wall.close();
});
