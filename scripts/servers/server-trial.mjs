// One server asked by the official clients, directly and through the gateway in every exposure, and what differs.

import { mkdir } from "node:fs/promises";
import { listDifferences, outcomeDifferences } from "./differences.mjs";
import { callTool, outcomeOf, readLists, withClient } from "./official-client.mjs";
import { startTrialGateway } from "./trial-gateway.mjs";

const slug = "tried";
const keys = { tools: "name", resources: "uri", resourceTemplates: "uriTemplate", prompts: "name" };

/**
 * @typedef {object} Trial
 * @property {string | null} notStarted why it cannot be used directly either; then nothing else is known
 * @property {string[]} differences
 * @property {Record<string, number>} offers how many tools, resources, templates and prompts
 *
 * @param {object} options
 * @param {import("./official-client.mjs").Target} options.target
 * @param {[name: string, args: object]} options.call
 * @param {import("./differences.mjs").Volatile} [options.volatile]
 * @param {object} [options.capabilities] what the direct client says it can do
 * @param {() => Promise<void>} [options.restart] ends a server that is an address, and starts it again at the same one
 * @param {string} options.directory an empty folder for the gateway's files
 * @returns {Promise<Trial>}
 */
export async function tryServer(options) {
  const known = {};
  for (const sdk of ["v1", "v2"]) {
    const outcome = await outcomeOf(() => askDirectly(sdk, options));
    if ("failed" in outcome) {
      if (sdk === "v1") return { notStarted: outcome.failed, differences: [], offers: {} };
      known.v2Failed = outcome.failed;
    } else known[sdk] = outcome.value;
  }
  const { v1 } = known;
  const offers = Object.fromEntries(Object.entries(v1.lists).map(([key, { value }]) => [key, value?.length ?? 0]));
  if ("failed" in v1.lists.tools) return { notStarted: v1.lists.tools.failed, differences: [], offers };
  const unsteady = outcomeDifferences("two direct calls", v1.call, v1.again, options);
  const differences = [...unsteady, ...(await askThrough(known, options))];
  return { notStarted: null, differences, offers };
}

async function askDirectly(sdk, { target, call, capabilities }) {
  const ask = async (client) => {
    const lists = await readLists(client);
    const called = await callTool(client, ...call);
    return { lists, call: called, again: await callTool(client, ...call) };
  };
  return await withClient(sdk, target, ask, capabilities);
}

async function askThrough(known, options) {
  const { target, directory } = options;
  await mkdir(directory, { recursive: true });
  const entry = "url" in target ? { type: "http", url: target.url } : target;
  const gateway = await startTrialGateway({ directory, slug, entry });
  try {
    const { status, reason } = await gateway.untilOnline();
    if (status !== "online") return [`the server is ${status}: ${reason}`];
    const found = [];
    for (const step of [
      inServerView,
      inServerViewV2,
      inFlatList,
      inNamespaces,
      inMeta,
      inRest,
      afterRestart,
      afterIdle,
    ])
      found.push(...(await step(gateway, known, options)));
    return found;
  } finally {
    await gateway.stop();
  }
}

const serverView = (gateway) => ({ url: `${gateway.url}/mcp/server/${slug}` });

async function inServerView(gateway, known, options) {
  return await viewDifferences("v1", gateway, known.v1, options);
}

async function inServerViewV2(gateway, { v2 }, options) {
  return v2 === undefined ? [] : await viewDifferences("v2", gateway, v2, options);
}

async function viewDifferences(sdk, gateway, direct, { call, volatile }) {
  const where = sdk === "v1" ? "server" : "server, 2026-07-28";
  return await told(where, () =>
    withClient(sdk, serverView(gateway), async (client) => {
      const lists = await readLists(client);
      const found = Object.entries(keys).flatMap(([name, key]) =>
        listDifferences(`${where}, ${name}`, inRevision(sdk, direct.lists[name]), lists[name], { key, volatile }),
      );
      const called = await callTool(client, ...call);
      return [...found, ...outcomeDifferences(`${where}, call`, direct.call, called, { volatile })];
    }),
  );
}

/** 2026-07-28 has no `execution`: a client that negotiates it with the gateway is not shown that of an older server. */
function inRevision(sdk, list) {
  if (sdk === "v1" || "failed" in list) return list;
  return { value: list.value.map(({ execution: _execution, ...rest }) => rest) };
}

/** docs/exposures/flat.md and namespaces.md: how tools are called there. */
async function inFlatList(gateway, { v1 }, options) {
  const url = `${gateway.url}/mcp/flat`;
  return await renamedDifferences("flat", url, v1, { ...options, rename: (name) => `${slug}-${name}` });
}

async function inNamespaces(gateway, { v1 }, options) {
  const url = `${gateway.url}/mcp/namespaces`;
  const opening = `${slug}__list_tools`;
  const isTheirs = ({ name }) => name !== opening && name.startsWith(`${slug}__`);
  const rename = (name) => `${slug}__${name}`;
  return await renamedDifferences("namespaces", url, v1, { ...options, rename, opening, isTheirs });
}

async function renamedDifferences(where, url, direct, { call, volatile, rename, opening, isTheirs = () => true }) {
  const [name, args] = call;
  return await told(where, () =>
    withClient("v1", { url }, async (client) => {
      if (opening !== undefined) await client.callTool({ name: opening, arguments: {} });
      const { tools } = await readLists(client);
      const theirs = "value" in tools ? { value: withoutSlug(tools.value.filter((tool) => isTheirs(tool))) } : tools;
      // Names that do not fit get a hash that only the gateway knows.
      const plain = { value: direct.lists.tools.value.filter((tool) => fits(rename(tool.name))) };
      const others = direct.lists.tools.value.length - plain.value.length;
      const isKept = (list) => (others === 0 ? list : namedIn(list, plain.value, rename));
      const kept = "value" in theirs ? { value: isKept(theirs.value) } : theirs;
      const found = listDifferences(`${where}, tools`, plain, kept, { key: "name", rename, volatile });
      if ("value" in theirs && theirs.value.length !== direct.lists.tools.value.length)
        found.push(`${where}, tools: ${direct.lists.tools.value.length} directly, ${theirs.value.length} here`);
      if (!fits(rename(name))) return found;
      const called = await callTool(client, rename(name), args);
      return [...found, ...outcomeDifferences(`${where}, call`, direct.call, called, { volatile })];
    }),
  );
}

/** Pages of apps are told apart by the slug where there are several servers (docs/design.md). */
const withoutSlug = (tools) => JSON.parse(JSON.stringify(tools).replaceAll(`ui://${slug}/`, "ui://"));

const fits = (name) => /^[A-Za-z0-9_-]{1,64}$/.test(name);

function namedIn(tools, wanted, rename) {
  const names = new Set(wanted.map(({ name }) => rename(name)));
  return tools.filter(({ name }) => names.has(name));
}

async function inMeta(gateway, { v1 }, { call, volatile }) {
  const [name, args] = call;
  const path = `${slug}:${name}`;
  return await told("meta", () =>
    withClient("v1", { url: `${gateway.url}/mcp` }, async (client) => {
      const found = await client.callTool({ name: "discover_mcp_tools", arguments: { query: name } });
      const isFound = JSON.stringify(found.content).includes(path);
      const called = await callTool(client, "execute_mcp_tool", { tool_path: path, arguments: args });
      return [
        ...(isFound ? [] : [`meta: a search for ${name} does not find it`]),
        ...outcomeDifferences("meta, call", v1.call, called, { volatile }),
      ];
    }),
  );
}

async function inRest(gateway, { v1 }, { call, volatile }) {
  const [name, args] = call;
  return await told("REST", async () => {
    const { tools, detail } = await gateway.ask(`/list/apps/${slug}/tools`);
    const listed = tools === undefined ? { failed: String(detail) } : { value: tools };
    const answer = await gateway.ask(`/execute/${encodeURIComponent(`${slug}:${name}`)}`, args);
    const called = await outcomeOf(async () => {
      if (answer.result === undefined) throw new Error(answer.error?.message ?? answer.detail);
      const { content, structuredContent, isError = false } = answer.result;
      return { content, structuredContent, isError };
    });
    return [
      ...listDifferences("REST, tools", v1.lists.tools, listed, { key: "name", volatile, allowsMore: true }),
      ...outcomeDifferences("REST, call", v1.call, called, { volatile, allowsMore: true }),
    ];
  });
}

/** A client that was connected all the while calls again. */
async function afterRestart(gateway, { v1 }, { call, volatile, restart }) {
  return await told("after a restart", () =>
    withClient("v1", serverView(gateway), async (client) => {
      await callTool(client, ...call);
      if (restart === undefined) await gateway.restart();
      else await restart();
      const called = await callTool(client, ...call);
      const { status, reason } = await gateway.untilOnline();
      if (status !== "online") return [`after a restart: the server is ${status}: ${reason}`];
      return outcomeDifferences("after a restart, call", v1.call, called, { volatile });
    }),
  );
}

async function afterIdle(gateway, { v1 }, { target, call, volatile }) {
  if ("url" in target) return [];
  return await told("after idling", () =>
    withClient("v1", serverView(gateway), async (client) => {
      await callTool(client, ...call);
      const { dormant, status, reason } = await gateway.untilDormant();
      if (!dormant) return [`idling: the process is not stopped, the server is ${status} ${reason}`];
      const called = await callTool(client, ...call);
      const lists = await readLists(client);
      return [
        ...outcomeDifferences("after idling, call", v1.call, called, { volatile }),
        ...listDifferences("after idling, tools", v1.lists.tools, lists.tools, { key: "name", volatile }),
      ];
    }),
  );
}

/** A step that fails is a difference as well. */
async function told(where, step) {
  const outcome = await outcomeOf(step);
  return "failed" in outcome ? [`${where}: ${outcome.failed}`] : outcome.value;
}
