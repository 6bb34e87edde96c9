import { Client, InMemoryTransport, StreamableHTTPClientTransport, type Tool } from "@modelcontextprotocol/client";
import { App } from "@modelcontextprotocol/ext-apps";
import {
  AppBridge,
  getToolUiResourceUri,
  isToolVisibilityAppOnly,
  RESOURCE_MIME_TYPE,
} from "@modelcontextprotocol/ext-apps/app-bridge";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { badServer, startGateway, type RunningGateway } from "../harness/gateway.ts";
import { post } from "../harness/rest.ts";
import { execute, rpc } from "../harness/rpc.ts";
import { until } from "../harness/until.ts";

let gateway: RunningGateway;
let token: string;

beforeAll(async () => {
  gateway = await startGateway({
    config: {
      mcpServers: {
        bad: badServer("--apps", "--resources"),
        other: badServer("--apps", "--resources", "--server-name", "other"),
      },
    },
  });
  for (const server of ["bad", "other"])
    await until(async () => JSON.stringify(await execute(gateway.url, `${server}:canary`)).includes("instance"));
  token = (await post(`${gateway.url}/api/instances/bad/token`)).json.token;
});
afterAll(async () => await gateway[Symbol.asyncDispose]());

const exposures = [
  { path: "/mcp/flat", show: "bad-show-panel", refresh: "bad-refresh-panel" },
  { path: "/mcp/server/bad", show: "show-panel", refresh: "refresh-panel" },
  { path: "/i/bad/mcp", show: "show-panel", refresh: "refresh-panel" },
];

describe.each(exposures)("an unmodified host at $path", ({ path, show, refresh }) => {
  test("finds the page of a tool, reads it, and lets the page call the tools that are for it alone", async () => {
    const client = new Client({ name: "host", version: "1" }, {
      capabilities: { extensions: { "io.modelcontextprotocol/ui": { mimeTypes: [RESOURCE_MIME_TYPE] } } },
    } as never);
    const headers = path.startsWith("/i/") ? { authorization: `Bearer ${token}` } : {};
    await client.connect(
      new StreamableHTTPClientTransport(new URL(`${gateway.url}${path}`), { requestInit: { headers } }),
    );
    const { tools } = await client.listTools();
    const tool = tools.find(({ name }) => name === show) as Tool;
    const hidden = tools.find(({ name }) => name === refresh) as Tool;
    // The host needs the hidden ones: it is the one that keeps them from its model.
    expect([tool, hidden].map((one) => isToolVisibilityAppOnly(one))).toEqual([false, true]);
    const uri = getToolUiResourceUri(tool) as string;
    expect(uri).toMatch(/^ui:\/\//);
    const page = (await client.readResource({ uri })).contents[0];
    expect(page).toMatchObject({
      uri,
      mimeType: RESOURCE_MIME_TYPE,
      text: expect.stringContaining("ui://bad/panel of bad-server"),
    });

    const [hostSide, appSide] = InMemoryTransport.createLinkedPair();
    const bridge = new AppBridge(client, { name: "host", version: "1" }, { serverTools: {}, serverResources: {} });
    const app = new App({ name: "panel", version: "1" }, {}, { autoResize: false });
    await bridge.connect(hostSide);
    await app.connect(appSide);
    const called = await app.callServerTool({ name: refresh, arguments: {} });
    expect(called.structuredContent).toMatchObject({ server: "bad-server", tool: "refresh-panel" });
    await app.close();
    await bridge.close();
    await client.close();
  });
});

test("at /mcp discover and read carry what a cooperating client needs; what is for pages alone is not found", async () => {
  const call = async (name: string, args: object): Promise<{ content: { text?: string; resource?: object }[] }> =>
    (await rpc(`${gateway.url}/mcp`, "tools/call", { name, arguments: args })).json.result;
  const found = await call("discover_mcp_tools", { query: "panel", server: "bad", limit: 50 });
  const { tools } = JSON.parse(found.content[0]?.text ?? "") as {
    tools: { tool_path: string; _meta?: { ui?: { resourceUri?: string } } }[];
  };
  const shown = tools.find(({ tool_path }) => tool_path === "bad:show-panel");
  expect(shown?._meta?.ui?.resourceUri).toBe("bad|ui://bad/panel");
  expect(tools.map(({ tool_path }) => tool_path)).not.toContain("bad:refresh-panel");
  const read = await call("read_mcp_resource", { uri: shown?._meta?.ui?.resourceUri });
  expect(read.content[0]?.resource).toMatchObject({
    mimeType: RESOURCE_MIME_TYPE,
    text: "ui://bad/panel of bad-server",
  });
  // The page's own calls come by name, and are those of its server.
  const own = (await rpc(`${gateway.url}/mcp`, "tools/call", { name: "other:refresh-panel", arguments: {} })).json
    .result;
  expect(own.structuredContent).toMatchObject({ server: "other", tool: "refresh-panel" });
});
