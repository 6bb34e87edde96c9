#!/usr/bin/env node
// An MCP server over stdio, as careless programs are: one thing of each kind that it offers is odd, beside good ones.
// With `--modern` it speaks 2026-07-28, otherwise the revisions before.

import { createInterface } from "node:readline";

const isModern = process.argv.includes("--modern");
const inputSchema = { type: "object" };
const dangling = { type: "object", properties: { s: { $ref: "#/$defs/Gone" } } };
const block = { type: "text", text: "SAID" };

const definitions = {
  hints: { annotations: { title: null, readOnlyHint: null }, icons: null, _meta: null },
  no_schema: { inputSchema: null },
  text_schema: { inputSchema: { type: "string" } },
  any_of: { inputSchema: { anyOf: [{ type: "object", required: ["a"] }, { type: "object" }], required: null } },
  dangling: { outputSchema: dangling },
  listing: { outputSchema: { type: "array", items: { type: "string" } } },
};

const results = {
  structured: { structuredContent: { said: "SAID" } },
  empty: { content: [], structuredContent: { said: "SAID" } },
  nulls: {
    content: [{ ...block, annotations: null, _meta: null }],
    isError: null,
    structuredContent: null,
    _meta: null,
  },
  blocks: {
    content: [{ type: "json", json: 1 }, { type: "text", text: 42 }, { type: "image", data: "!" }, null, block],
  },
  listing: { content: [block], structuredContent: ["SAID"] },
  other: { output: "SAID" },
};

const tools = [
  ...Object.entries(definitions).map(([name, more]) => ({ name, inputSchema, ...more })),
  ...Object.keys(results).map((name) => ({ name, inputSchema })),
].filter(({ name }, index, all) => all.findIndex((other) => other.name === name) === index);

const complete = isModern ? { resultType: "complete", ttlMs: 60_000, cacheScope: "private" } : {};
const capabilities = { tools: {}, resources: {}, prompts: {}, completions: {} };

const methods = {
  "tools/list": () => ({ tools }),
  "tools/call": ({ name }) => results[name] ?? { content: [block] },
  "resources/list": () => ({
    resources: [{ uri: "odd://a", name: null, size: null, mimeType: null }, { name: "none" }],
  }),
  "resources/templates/list": () => ({
    resourceTemplates: [{ uriTemplate: "odd://{id}", name: "t", annotations: null }],
  }),
  "resources/read": ({ uri }) => ({ contents: [{ uri, mimeType: null, text: "SAID", blob: null }], _meta: null }),
  "prompts/list": () => ({
    prompts: [
      { name: "p", arguments: null },
      { name: "q", arguments: [{ name: "a", required: null }] },
    ],
  }),
  "prompts/get": () => ({
    description: null,
    messages: [
      { role: "system", content: "SAID" },
      { role: "user", content: [block] },
    ],
  }),
  "completion/complete": () => ({ completion: { values: ["SAID", 7], total: null, hasMore: null } }),
  ...(isModern
    ? { "server/discover": () => ({ supportedVersions: ["2026-07-28"], capabilities }) }
    : {
        initialize: ({ protocolVersion }) => ({
          protocolVersion,
          capabilities,
          serverInfo: { name: "odd", version: "1" },
        }),
        ping: () => ({}),
      }),
};

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const result = methods[method]?.(params ?? {});
  const answer =
    result === undefined
      ? { error: { code: -32601, message: "Method not found" } }
      : { result: { ...complete, ...result } };
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...answer })}\n`);
});
