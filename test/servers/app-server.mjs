#!/usr/bin/env node
// A real MCP App over stdio, made with the SDKs: tools with a page, which calls back, and which tries what no page may
// do. Other tools ask, and have arguments of every shape.
import { registerAppResource, registerAppTool, RESOURCE_MIME_TYPE } from "@modelcontextprotocol/ext-apps/server";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { build } from "esbuild";
import { fileURLToPath } from "node:url";

const { outputFiles } = await build({
  entryPoints: [fileURLToPath(new URL("app-server/page.mjs", import.meta.url))],
  bundle: true,
  write: false,
  minify: true,
  format: "iife",
  target: "es2022",
});
const script = outputFiles[0].text.replaceAll("</script", "<\\/script");
const page = `<!doctype html><html><head><title>Clock</title></head><body data-target="${process.env["APP_TARGET"] ?? "https://example.com/"}"><h1>Clock</h1>
<p id="input">no input</p><p id="result">no result</p><p id="read">not read</p><p id="changed">not changed</p>
<pre id="attempts">not tried</pre><button id="change">Change</button><button id="send">Send</button><button id="away">Leave</button>
<script>${script}</script></body></html>`;

const server = new McpServer({ name: "apps", version: "1" });
const uri = "ui://clock/page";
let changes = 0;

const answer = (facts) => ({ content: [{ type: "text", text: JSON.stringify(facts) }], structuredContent: facts });

registerAppTool(
  server,
  "show-clock",
  { description: "Shows a clock", _meta: { ui: { resourceUri: uri } }, annotations: { readOnlyHint: true } },
  async () => answer({ zone: "UTC" }),
);
registerAppTool(
  server,
  "read-clock",
  {
    description: "For the clock's page",
    _meta: { ui: { resourceUri: uri, visibility: ["app"] } },
    annotations: { readOnlyHint: true },
  },
  async () => answer({ changes }),
);
registerAppTool(
  server,
  "change-clock",
  { description: "For the clock's page, and changes it", _meta: { ui: { resourceUri: uri, visibility: ["app"] } } },
  async () => answer({ changes: (changes += 1) }),
);
registerAppTool(
  server,
  "show-elsewhere",
  { description: "Has a page that wants to reach others", _meta: { ui: { resourceUri: "ui://clock/elsewhere" } } },
  async () => answer({}),
);
const content = (own, meta) => ({
  contents: [{ uri: own, mimeType: RESOURCE_MIME_TYPE, text: page, ...(meta && { _meta: { ui: meta } }) }],
});
registerAppResource(server, "clock", uri, {}, async () => content(uri));
const csp = {
  connectDomains: ["https://api.example.com"],
  resourceDomains: ["https://*.example.com", "'unsafe-eval'"],
};
registerAppResource(server, "elsewhere", "ui://clock/elsewhere", {}, async () =>
  content("ui://clock/elsewhere", { csp }),
);

await server.connect(new StdioServerTransport());
