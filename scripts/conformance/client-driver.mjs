// The client under test of the suite's client scenarios: `client-driver.mjs [--gateway FILE] URL`. With --gateway it
// starts a gateway whose only server is URL and drives that with the SDK's client, so that the suite judges what the
// gateway sends; without, the SDK's client talks to URL itself, which shows what can be reached at all.
// The suite names the scenario and the revision in MCP_CONFORMANCE_SCENARIO and MCP_CONFORMANCE_PROTOCOL_VERSION.

import { env, exit } from "node:process";
import { parseArgs } from "node:util";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { startGateway } from "./gateway.mjs";

// The suite stops waiting after 30 s and would leave a gateway behind, so this process gives up before.
const deadlineMs = 25_000;
const modernRevision = "2026-07-28";

/** What each scenario has the client do once it is connected. */
const scenarios = {
  initialize: (client) => client.listTools(),
  tools_call: callWith({ a: 5, b: 3 }),
  "elicitation-sep1034-client-defaults": callWith({}),
  "sse-retry": callWith({}),
  "request-metadata": (client) => client.listTools(),
  "sep-2322-client-request-state": callEveryTool(() => ({})),
  "http-standard-headers": useOneOfEverything,
  "http-custom-headers": callFromContext,
  "http-invalid-tool-headers": callEveryTool(() => ({ region: "us-west1" })),
  "json-schema-ref-no-deref": (client) => client.listTools(),
  "json-schema-2020-12-preservation": echoSchema,
};

const { values: flags, positionals } = parseArgs({
  options: { gateway: { type: "string" } },
  allowPositionals: true,
});

const gateway = flags.gateway === undefined ? undefined : await startGateway(flags.gateway, positionals[0]);
const deadline = setTimeout(() => end(new Error(`not done after ${deadlineMs} ms`)), deadlineMs);
try {
  await drive(gateway?.url ?? positionals[0]);
  await end();
} catch (error) {
  await end(error);
}

async function end(error) {
  clearTimeout(deadline);
  if (error !== undefined) process.stderr.write(`${error.stack}\n`);
  await gateway?.stop();
  exit(error === undefined ? 0 : 1);
}

async function drive(url) {
  const run = scenarios[env.MCP_CONFORMANCE_SCENARIO];
  if (run === undefined) throw new Error(`no behaviour for the scenario ${env.MCP_CONFORMANCE_SCENARIO}`);
  const client = createClient();
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  await run(client);
  await client.close();
}

function createClient() {
  const isModern = env.MCP_CONFORMANCE_PROTOCOL_VERSION === modernRevision;
  const client = new Client(
    { name: "toolyard-conformance-client", version: "1.0.0" },
    {
      capabilities: { elicitation: { form: { applyDefaults: true } } },
      ...(isModern && { versionNegotiation: { mode: "auto" } }),
    },
  );
  client.setRequestHandler("elicitation/create", async ({ params }) => ({
    action: "accept",
    content: "confirmed" in (params.requestedSchema?.properties ?? {}) ? { confirmed: true } : {},
  }));
  return client;
}

/** Calls the first tool that the server lists. */
function callWith(args) {
  return async (client) => {
    const { tools } = await client.listTools();
    if (tools[0] === undefined) throw new Error("the server lists no tool");
    await client.callTool({ name: tools[0].name, arguments: args });
  };
}

/** Calls every listed tool in turn. A refusal is what some of them are there for. */
function callEveryTool(argumentsFor) {
  return async (client) => {
    const { tools } = await client.listTools();
    for (const { name } of tools) {
      await client.callTool({ name, arguments: argumentsFor(name) }).catch(reportRefusal);
    }
  };
}

async function useOneOfEverything(client) {
  await callWith({})(client);
  const { resources } = await client.listResources();
  if (resources[0] !== undefined) await client.readResource({ uri: resources[0].uri });
  const { prompts } = await client.listPrompts();
  if (prompts[0] !== undefined) await client.getPrompt({ name: prompts[0].name, arguments: {} });
}

async function callFromContext(client) {
  await client.listTools();
  const { toolCalls = [] } = JSON.parse(env.MCP_CONFORMANCE_CONTEXT ?? "{}");
  for (const call of toolCalls) await client.callTool({ name: call.name, arguments: call.arguments });
}

/** Hands the schema of one tool back through another, as it arrived here. */
async function echoSchema(client) {
  const { tools } = await client.listTools();
  const focal = tools.find(({ name }) => name === "json_schema_2020_12_tool");
  if (focal === undefined) throw new Error("json_schema_2020_12_tool is not listed");
  await client.callTool({ name: "json_schema_echo", arguments: { schema: focal.inputSchema } });
}

function reportRefusal(error) {
  process.stderr.write(`refused: ${error.message}\n`);
}
