import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { Client as OlderClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as OlderHttp } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runCommand } from "../harness/command.ts";
import { badServer, startGateway, type RunningGateway } from "../harness/gateway.ts";
import { get, run, untilOnline } from "../harness/rest.ts";

const file = fileURLToPath(new URL("../servers/odd-server.mjs", import.meta.url));
const oddServer = (...flags: readonly string[]) => ({ command: process.execPath, args: [file, ...flags] });
let gateway: RunningGateway;

beforeAll(async () => {
  const mcpServers = { older: oddServer(), modern: oddServer("--modern"), good: badServer("--resources", "--prompts") };
  gateway = await startGateway({ config: { mcpServers } });
  await untilOnline(gateway.url);
});
afterAll(async () => await gateway[Symbol.asyncDispose]());

const readers = ["v1", "v2, legacy", "v2, modern"] as const;

async function connect(reader: (typeof readers)[number], endpoint: string): Promise<Client> {
  const url = new URL(`${gateway.url}${endpoint}`);
  if (reader === "v1") {
    const client = new OlderClient({ name: "c", version: "1" });
    await client.connect(new OlderHttp(url) as never);
    return client as unknown as Client;
  }
  const mode = reader === "v2, modern" ? { pin: "2026-07-28" } : "legacy";
  const client = new Client({ name: "c", version: "1" }, { versionNegotiation: { mode } });
  await client.connect(new StreamableHTTPClientTransport(url));
  return client;
}

const toolNames = ["hints", "no_schema", "text_schema", "any_of", "dangling", "listing"];

describe.each(readers)("an official client (%s)", (reader) => {
  test.each(["/mcp", "/mcp/flat", "/mcp/namespaces", "/mcp/server/older", "/mcp/server/modern"])(
    "reads every list of %s, with all that is good or could be mended",
    async (endpoint) => {
      const client = await connect(reader, endpoint);
      const isOne = endpoint.startsWith("/mcp/server/");
      const prefixes = isOne ? [""] : ["older-", "modern-"];
      const { tools } = await client.listTools();
      if (endpoint !== "/mcp" && endpoint !== "/mcp/namespaces")
        expect(tools.map(({ name }) => name)).toEqual(
          expect.arrayContaining(prefixes.flatMap((prefix) => toolNames.map((name) => `${prefix}${name}`))),
        );
      const { resources } = await client.listResources();
      expect(resources.filter(({ name }) => name === "odd://a")).toHaveLength(prefixes.length);
      const { resourceTemplates } = await client.listResourceTemplates();
      expect(resourceTemplates.filter(({ name }) => name === "t")).toHaveLength(prefixes.length);
      const { prompts } = await client.listPrompts();
      expect(prompts.map(({ name }) => name)).toEqual(
        expect.arrayContaining(prefixes.flatMap((prefix) => [`${prefix}p`, `${prefix}q`])),
      );
      await client.close();
    },
  );

  test("sees a list of values as what a tool returns only where its revision knows that", async () => {
    const client = await connect(reader, "/mcp/flat");
    const { tools } = await client.listTools();
    const listing = tools.find(({ name }) => name === "modern-listing");
    expect(listing?.outputSchema?.["type"]).toBe(reader === "v2, modern" ? "array" : undefined);
    expect(tools.find(({ name }) => name === "older-any_of")?.inputSchema).toEqual({
      anyOf: [{ type: "object", required: ["a"] }, { type: "object" }],
      type: "object",
    });
    expect(tools.find(({ name }) => name === "older-dangling")?.outputSchema).toBeUndefined();
    await client.close();
  });

  test.each(["older", "modern"])("reads all that the tools of %s said", async (server) => {
    const [meta, flat] = [await connect(reader, "/mcp"), await connect(reader, "/mcp/flat")];
    for (const name of ["hints", "structured", "empty", "nulls", "blocks", "listing", "other"]) {
      const call = { tool_path: `${server}:${name}`, arguments: {} };
      const results = [
        await meta.callTool({ name: "execute_mcp_tool", arguments: call }),
        await flat.callTool({ name: `${server}-${name}` }),
      ];
      for (const { content } of results) expect(JSON.stringify(content), name).toContain("SAID");
      if (name !== "listing" && name !== "nulls") continue;
      const isValue = reader === "v2, modern" && (name === "listing" || server === "modern");
      const value = name === "listing" ? ["SAID"] : null;
      for (const result of results) expect(result.structuredContent).toEqual(isValue ? value : undefined);
    }
    await meta.close();
    await flat.close();
  });

  test.each(["older", "modern"])("reads resources, prompts and completions of %s", async (server) => {
    const client = await connect(reader, `/mcp/server/${server}`);
    expect((await client.readResource({ uri: "odd://a" })).contents).toEqual([{ uri: "odd://a", text: "SAID" }]);
    expect((await client.getPrompt({ name: "p" })).messages).toEqual(
      Array.from({ length: 2 }, () => ({ role: "user", content: { type: "text", text: "SAID" } })),
    );
    const completed = await client.complete({
      ref: { type: "ref/prompt", name: "q" },
      argument: { name: "a", value: "" },
    });
    expect(completed.completion).toEqual({ values: ["SAID", "7"] });
    await client.close();
  });
});

test("REST shows the same, and runs what is odd", async () => {
  expect((await run(gateway.url, "older:structured")).text).toContain("SAID");
  const found = await get(`${gateway.url}/api/tools`);
  for (const name of toolNames) expect(found.text).toContain(`older:${name}`);
  const { text } = await get(`${gateway.url}/api/resources/read?uri=${encodeURIComponent("older|odd://a")}`);
  expect(text).toContain("SAID");
});

test("what is odd is told at its server, for its author: in REST, in the log once, and by the command", async () => {
  await run(gateway.url, "older:blocks");
  await run(gateway.url, "older:blocks");
  const [details, instance] = [
    (await get(`${gateway.url}/api/servers/older`)).json as { oddities: string[] },
    (await get(`${gateway.url}/api/instances/older`)).json as { oddities: string[] },
  ];
  expect(details.oddities).toEqual(instance.oddities);
  const told = details.oddities.join("\n");
  expect(told).toContain(
    "tools have odd definitions: hints (icons is null, _meta is null, annotations.title is null, …)",
  );
  expect(told).toContain("1 listed item is left out: none (its uri is missing)");
  expect(told).toMatch(/results were odd: .*blocks \(content\[0\] is of a type that the protocol does not have/);
  const logged = gateway.stderr().split("\n");
  expect(logged.filter((line) => line.includes("older: 1 result was odd"))).toHaveLength(1);
  const places = ["--config", gateway.configFile, "--data-dir", join(gateway.directory, "data")];
  const { stdout } = await runCommand(["servers", ...places]);
  expect(stdout).toContain("older: 1 listed item is left out: none (its uri is missing)");
  const status = (await get(`${gateway.url}/api/status`)).json as { servers: { server: string; oddities: string[] }[] };
  expect(status.servers.find(({ server }) => server === "good")?.oddities).toEqual([]);
});
