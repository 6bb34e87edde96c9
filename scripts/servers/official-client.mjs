// What a server says to the official clients, in a form that can be compared: its lists, and the answer to one call.

import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { getDefaultEnvironment, StdioClientTransport as StdioV1 } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport as HttpV1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from "@modelcontextprotocol/client";
import { StdioClientTransport as StdioV2 } from "@modelcontextprotocol/client/stdio";

// Some servers load a hundred megabytes of code first; this only keeps one that hangs from holding the run for ever.
const requestTimeoutMs = 60_000;
const pageLimit = 100;

/**
 * A process to start, or an address.
 * @typedef {{ command: string, args: readonly string[], env: Record<string, string>, cwd: string }} Command
 * @typedef {Command | { url: string }} Target
 *
 * What came back: the value, or what the client said of it.
 * @typedef {{ value: unknown } | { failed: string }} Outcome
 *
 * @typedef {"v1" | "v2"} Sdk v1 is @modelcontextprotocol/sdk, v2 @modelcontextprotocol/client, which tries the revision
 *   2026-07-28 first
 */

/**
 * Connects, works and closes, whatever happens.
 * @template T
 * @param {Sdk} sdk
 * @param {Target} target
 * @param {(client: ClientV1 | ClientV2) => Promise<T>} work
 * @param {object} [capabilities] what it says that it can do
 * @returns {Promise<T>}
 */
export async function withClient(sdk, target, work, capabilities = {}) {
  const client = createClient(sdk, capabilities);
  try {
    await client.connect(createTransport(sdk, target), { timeout: requestTimeoutMs });
    return await work(client);
  } finally {
    await client.close().catch(() => undefined);
  }
}

function createClient(sdk, capabilities) {
  const info = { name: `toolyard-trial-${sdk}`, version: "1" };
  return sdk === "v1"
    ? new ClientV1(info, { capabilities })
    : new ClientV2(info, { capabilities, versionNegotiation: { mode: "auto" } });
}

function createTransport(sdk, target) {
  const [Http, Stdio] = sdk === "v1" ? [HttpV1, StdioV1] : [HttpV2, StdioV2];
  if ("url" in target) return new Http(new URL(target.url));
  const { command, args, env, cwd } = target;
  return new Stdio({ command, args: [...args], env: { ...getDefaultEnvironment(), ...env }, cwd, stderr: "ignore" });
}

/**
 * Everything that the server offers, each list whole or as the client's complaint.
 * @param {ClientV1 | ClientV2} client
 * @returns {Promise<Record<"tools" | "resources" | "resourceTemplates" | "prompts", Outcome>>}
 */
export async function readLists(client) {
  const can = client.getServerCapabilities() ?? {};
  const list = async (isOffered, key, ask) =>
    isOffered === undefined ? { value: [] } : await outcomeOf(() => allPages(key, ask));
  const limit = { timeout: requestTimeoutMs };
  return {
    tools: await list(can.tools, "tools", (page) => client.listTools(page, limit)),
    resources: await list(can.resources, "resources", (page) => client.listResources(page, limit)),
    resourceTemplates: await list(can.resources, "resourceTemplates", (page) =>
      client.listResourceTemplates(page, limit),
    ),
    prompts: await list(can.prompts, "prompts", (page) => client.listPrompts(page, limit)),
  };
}

async function allPages(key, ask) {
  const items = [];
  let cursor;
  for (let page = 0; page < pageLimit; page += 1) {
    const answer = await ask(cursor === undefined ? {} : { cursor });
    items.push(...answer[key]);
    cursor = answer.nextCursor;
    if (!cursor) return items;
  }
  throw new Error(`${key} has more than ${pageLimit} pages`);
}

/**
 * @param {ClientV1 | ClientV2} client
 * @param {string} name
 * @param {object} args
 * @returns {Promise<Outcome>}
 */
export async function callTool(client, name, args) {
  return await outcomeOf(async () => {
    const limit = { timeout: requestTimeoutMs };
    const call = { name, arguments: args };
    const result = await (client instanceof ClientV1
      ? client.callTool(call, undefined, limit)
      : client.callTool(call, limit));
    const { content, structuredContent, isError = false } = result;
    return { content, structuredContent, isError };
  });
}

/**
 * @param {() => Promise<unknown>} work
 * @returns {Promise<Outcome>}
 */
export async function outcomeOf(work) {
  try {
    return { value: await work() };
  } catch (error) {
    return { failed: error instanceof Error ? error.message : String(error) };
  }
}
