import { Client as ModernClient, StreamableHTTPClientTransport as ModernHttp } from "@modelcontextprotocol/client";
import { Client as LegacyClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as LegacyHttp } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { createHash } from "node:crypto";
import { mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { badServer, startGateway, type RunningGateway } from "../harness/gateway.ts";
import { post, untilOnline } from "../harness/rest.ts";
import { rpc, send } from "../harness/rpc.ts";
import { onlyPlace } from "../harness/places.ts";

describe("the endpoint of one instance", () => {
  let gateway: RunningGateway;
  let token: string;
  let other: string;
  let url: string;

  beforeAll(async () => {
    gateway = await startGateway({
      config: {
        mcpServers: {
          one: badServer("--behaviours=canary,echo,structured", "--resources"),
          two: badServer("--behaviours=canary"),
        },
      },
    });
    await untilOnline(gateway.url);
    const made = await post(`${gateway.url}/api/instances/one/token`);
    token = made.json.token;
    url = gateway.url + made.json.endpoint;
    other = (await post(`${gateway.url}/api/instances/two/token`)).json.token;
  });
  afterAll(async () => await gateway[Symbol.asyncDispose]());

  const bearer = (value: string): Record<string, string> => ({ authorization: `Bearer ${value}` });

  test("a token is ty_inst_ and 64 hex digits; only its hash is kept, for the owner alone", async () => {
    expect(token).toMatch(/^ty_inst_[0-9a-f]{64}$/);
    const file = join(onlyPlace(join(gateway.directory, "data")), "instance-tokens.json");
    const kept = await readFile(file, "utf8");
    expect(kept).not.toContain(token);
    expect(kept).toContain(createHash("sha256").update(token).digest("hex"));
    expect((await stat(file)).mode & 0o777).toBe(0o600);
  });

  test("shows original names and full definitions, and calls them", async () => {
    const { tools } = (await rpc(url, "tools/list", {}, bearer(token))).json.result;
    expect(tools.map((tool: { name: string }) => tool.name)).toEqual(
      ["canary", "echo", "structured"].sort(
        (a, b) =>
          tools.findIndex((tool: { name: string }) => tool.name === a) -
          tools.findIndex((tool: { name: string }) => tool.name === b),
      ),
    );
    expect(tools.find((tool: { name: string }) => tool.name === "structured").outputSchema).toBeDefined();
    expect((await rpc(url, "tools/call", { name: "canary" }, bearer(token))).json.result.structuredContent.tool).toBe(
      "canary",
    );
    expect((await rpc(url, "resources/list", {}, bearer(token))).json.result.resources[0].uri).toMatch(/^bad:/);
  });

  test("clients of both eras work with it", async () => {
    const requestInit = { headers: bearer(token) };
    const legacy = new LegacyClient({ name: "test", version: "1" });
    await legacy.connect(new LegacyHttp(new URL(url), { requestInit }) as never);
    expect((await legacy.listTools()).tools.map((tool) => tool.name)).toContain("canary");
    await legacy.close();
    const modern = new ModernClient({ name: "test", version: "1" }, { versionNegotiation: { mode: "auto" } } as never);
    await modern.connect(new ModernHttp(new URL(url), { requestInit }));
    expect((await modern.callTool({ name: "echo", arguments: { a: 1 } })).structuredContent).toEqual({ a: 1 });
    await modern.close();
  });

  test.each([
    ["no token", {}],
    ["another instance's token", "other"],
    ["a token that was never given out", `ty_inst_${"0".repeat(64)}`],
    ["garbage", "x"],
  ])("%s is 401 with a challenge", async (_kind, given) => {
    const headers = typeof given === "string" ? bearer(given === "other" ? other : given) : given;
    const answer = await rpc(url, "tools/list", {}, headers);
    expect([answer.status, answer.headers["www-authenticate"]]).toEqual([
      401,
      expect.stringContaining("resource_metadata="),
    ]);
  });

  test("FAULT 94: an instance that is not there answers exactly as one whose token is not valid", async () => {
    const there = await rpc(url, "tools/list", {}, bearer(other));
    const absent = await rpc(`${gateway.url}/i/six/mcp`, "tools/list", {}, bearer(other));
    expect([absent.status, absent.text.replace(/"id":\d+/, "")]).toEqual([
      there.status,
      there.text.replace(/"id":\d+/, ""),
    ]);
  });

  test("the token reaches nothing else, and is not taken from the URL", async () => {
    expect((await rpc(`${url}?token=${token}`, "tools/list")).status).toBe(401);
    expect((await rpc(`${gateway.url}/i/two/mcp`, "tools/list", {}, bearer(token))).status).toBe(401);
  });

  test("a stale session is answered so that the client initializes again", async () => {
    const stale = await rpc(
      url,
      "tools/list",
      {},
      { ...bearer(token), "mcp-session-id": "00000000-0000-4000-8000-000000000000" },
    );
    expect([stale.status, stale.json.error.data.code]).toEqual([404, "SESSION_UNKNOWN"]);
  });

  test("a token that was taken back is not valid any more, nor is its session", async () => {
    const made = (await post(`${gateway.url}/api/instances/two/token`)).json;
    const endpoint = gateway.url + made.endpoint;
    const opened = await rpc(
      endpoint,
      "initialize",
      { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } },
      bearer(made.token),
    );
    const session = { "mcp-session-id": String(opened.headers["mcp-session-id"]) };
    expect((await rpc(endpoint, "tools/list", {}, { ...bearer(made.token), ...session })).status).toBe(200);
    const revoked = await send(`${gateway.url}/api/instances/two/token`, {
      method: "DELETE",
      headers: { "content-type": "application/json" },
    });
    expect(revoked.json.revoked).toBe(2);
    expect((await rpc(endpoint, "tools/list", {}, { ...bearer(made.token), ...session })).status).toBe(401);
    const renewed = (await post(`${gateway.url}/api/instances/two/token`)).json.token;
    expect((await rpc(endpoint, "tools/list", {}, { ...bearer(renewed), ...session })).status).toBe(404);
  });
});

test("with allowTokenInUrl the token may stand in the URL; tokens outlive the gateway", async () => {
  const directory = await mkdtemp(join(tmpdir(), "toolyard-instance-"));
  try {
    const config = {
      mcpServers: { one: badServer("--behaviours=canary") },
      toolyard: { auth: { allowTokenInUrl: true } },
    };
    let token = "";
    {
      await using first = await startGateway({ config, directory });
      await untilOnline(first.url);
      token = (await post(`${first.url}/api/instances/one/token`)).json.token;
    }
    await using second = await startGateway({ config, directory });
    await untilOnline(second.url);
    expect(
      (await rpc(`${second.url}/i/one/mcp?token=${token}`, "tools/call", { name: "canary" })).json.result
        .structuredContent.tool,
    ).toBe("canary");
    expect((await rpc(`${second.url}/i/one/mcp?token=x`, "tools/list")).status).toBe(401);
    expect(second.stderr()).not.toContain(token);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
});
