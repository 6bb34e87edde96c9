// What the server is, whatever transport carries it: methods, lists, listeners, questions under way.

import { createHmac, randomBytes, randomUUID } from "node:crypto";
import { createExchange, versionOf } from "./exchange.mjs";
import { createLists } from "./lists.mjs";
import {
  askingPrompt,
  askingResource,
  prompts,
  resources,
  resourceTemplates,
  readResource,
  getPrompt,
} from "./offers.mjs";
import { record } from "./records.mjs";
import { skillMethods } from "./skills.mjs";
import { allTools, canary } from "./tools.mjs";

const modernVersion = "2026-07-28";
const legacyVersions = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

/** @typedef {ReturnType<typeof createServer>} BadServer */
/** @typedef {ReturnType<typeof createExchange>} Exchange */

/** @param {Record<string, any>} options */
export function createServer(options) {
  const stateKey = randomBytes(32);
  const server = {
    options,
    info: { name: options["server-name"], version: "1.0.0", ...icons(options.icon) },
    /** Tells two processes of the same server apart. */
    instance: randomUUID(),
    tools: allTools(),
    lists: createLists(options),
    /** @type {Set<Exchange>} */
    inFlight: new Set(),
    /** @type {Map<string, (answer: any) => void>} Questions to the client that are not answered yet. */
    questions: new Map(),
    /** @type {Set<import("./exchange.mjs").Session>} */
    sessions: new Set(),
    /** @type {Set<Exchange>} Open subscriptions/listen requests. */
    listeners: new Set(),
    /** @type {Set<string>} Ids of the tasks that were handed out. */
    tasks: new Set(),
    mismatchesLeft: options["header-mismatches"],
    /** How many tools/call arrived. */
    calls: 0,

    sealState: (state) => `${state}.${createHmac("sha256", stateKey).update(state).digest("hex")}`,

    /** Takes one message of the client, however it came. Resolves when the request, if it is one, was dispatched. */
    async receive(text, wire, context = {}) {
      const message = parse(text);
      record(options, { ...context, ...(message === undefined ? { text } : { message }) });
      if (message === undefined || typeof message !== "object" || message === null) return;
      if (message.method === undefined) return answerQuestion(server, message);
      if (message.id === undefined) return;
      const exchange = createExchange({ text, message, wire, server });
      server.inFlight.add(exchange);
      wire.gone.addEventListener("abort", () => {
        if (server.inFlight.delete(exchange)) record(options, { event: "given up", id: message.id });
        server.listeners.delete(exchange);
      });
      try {
        await dispatch(server, message, exchange);
      } catch (error) {
        // A tool called with arguments that make no sense: said, so that a test sees its own mistake.
        if (server.inFlight.has(exchange)) exchange.fail(-32603, `bad-server: ${error.message}`);
      }
    },

    /** Tells every client: sessions of the legacy era, listeners of the modern one. */
    announce(method, params = {}) {
      const greeted = [...server.sessions].filter((session) => session.isLegacy);
      for (const session of greeted) session.push(JSON.stringify({ jsonrpc: "2.0", method, params }));
      for (const listener of server.listeners) {
        if (!wants(listener, method, params)) continue;
        const _meta = { "io.modelcontextprotocol/subscriptionId": listener.id };
        void listener.notify(method, { ...params, _meta });
      }
    },
  };
  return server;
}

const listenFilters = {
  "notifications/tools/list_changed": "toolsListChanged",
  "notifications/prompts/list_changed": "promptsListChanged",
  "notifications/resources/list_changed": "resourcesListChanged",
};

function wants(listener, method, { uri }) {
  const asked = listener.params.notifications ?? {};
  if (method === "notifications/resources/updated") return asked.resourceSubscriptions?.includes(uri) ?? false;
  return asked[listenFilters[method]] === true;
}

function answerQuestion(server, message) {
  server.questions.get(message.id)?.(message);
  server.questions.delete(message.id);
}

async function dispatch(server, message, exchange) {
  const { options } = server;
  const speaks = (era) => options.era === era || options.era === "both";
  if (message.method === "server/discover" && !speaks("modern")) return refuseDiscover(options, exchange);
  if (exchange.era === "modern" && versionOf(message) !== modernVersion) {
    const data = { supported: [modernVersion], requested: versionOf(message) };
    return exchange.fail(-32022, "Unsupported protocol version", data);
  }
  if (exchange.era === "legacy" && !speaks("legacy")) {
    const data = {
      supported: [modernVersion],
      requested: message.params?.protocolVersion ?? "none",
    };
    return exchange.fail(-32022, "This server speaks 2026-07-28 only", data, 400);
  }
  const known = options.skills ? { ...methods, ...skillMethods } : methods;
  const method = Object.hasOwn(known, message.method) ? known[message.method] : undefined;
  if (method === undefined) return exchange.fail(-32601, `Unknown method ${message.method}`);
  await method(exchange);
}

const methods = {
  initialize(exchange) {
    const { options, info, lists } = exchange.server;
    if (options["hang-on-initialize"]) return;
    exchange.wire.session.isLegacy = true;
    const asked = exchange.params.protocolVersion;
    const protocolVersion = legacyVersions.includes(asked) ? asked : legacyVersions[0];
    exchange.answer({
      protocolVersion,
      capabilities: lists.capabilities,
      serverInfo: info,
      ...instructions(options),
    });
  },
  "server/discover"(exchange) {
    const { options, lists } = exchange.server;
    if (options["hang-on-initialize"]) return;
    const supportedVersions = [modernVersion];
    exchange.answer({
      supportedVersions,
      capabilities: lists.capabilities,
      ...instructions(options),
      ...lists.caching(),
    });
  },
  ping: (exchange) => exchange.answer({}),
  "logging/setLevel": (exchange) => exchange.answer({}),
  "tools/list"(exchange) {
    if (exchange.server.options["hang-on-list"]) return;
    exchange.server.lists.answerTools(exchange);
  },
  async "tools/call"(exchange) {
    const { server, params } = exchange;
    server.calls += 1;
    if (server.mismatchesLeft > 0) {
      server.mismatchesLeft -= 1;
      return exchange.fail(-32020, "Header mismatch, as asked");
    }
    if (server.options["checks-params"] && !mirrorsItsParams(exchange))
      return exchange.fail(-32020, "Mcp-Param-* does not say what the arguments do");
    const startsTask = params.task !== undefined || params.arguments?.unasked === true;
    if (startsTask && params.name === "start-task") return startTask(exchange);
    const tool = server.options["only-canaries"] ? undefined : server.tools.get(params.name);
    await (tool?.run ?? canary)(exchange);
  },
  "tasks/get"(exchange) {
    const taskId = namedTask(exchange);
    if (taskId !== undefined) exchange.answer({ taskId, status: "working" });
  },
  "tasks/list": (exchange) =>
    exchange.answer({ tasks: [...exchange.server.tasks].map((taskId) => ({ taskId, status: "working" })) }),
  "tasks/result"(exchange) {
    const taskId = namedTask(exchange);
    if (taskId !== undefined) exchange.answer({ content: [{ type: "text", text: `result of ${taskId}` }] });
  },
  "tasks/update"(exchange) {
    if (namedTask(exchange) !== undefined) exchange.answer({});
  },
  "tasks/cancel"(exchange) {
    const taskId = namedTask(exchange);
    if (taskId === undefined) return;
    exchange.server.tasks.delete(taskId);
    exchange.answer(exchange.era === "legacy" ? { taskId, status: "cancelled" } : {});
  },
  "resources/list": (exchange) =>
    exchange.server.lists.answerPage(exchange, "resources", [
      ...resources,
      ...(exchange.server.options.asking ? [askingResource] : []),
    ]),
  "resources/templates/list": (exchange) =>
    exchange.server.lists.answerPage(exchange, "resourceTemplates", resourceTemplates),
  "resources/read": readResource,
  "resources/subscribe": (exchange) => exchange.answer({}),
  "resources/unsubscribe": (exchange) => exchange.answer({}),
  "prompts/list": (exchange) =>
    exchange.server.lists.answerPage(exchange, "prompts", [
      ...prompts,
      ...(exchange.server.options.asking ? [askingPrompt] : []),
    ]),
  "prompts/get": getPrompt,
  "completion/complete": (exchange) => {
    const value = String(exchange.params.argument?.value ?? "");
    exchange.answer({ completion: { values: [`${value}-completed`], total: 1, hasMore: false } });
  },
  async "subscriptions/listen"(exchange) {
    const { server, params } = exchange;
    const _meta = { "io.modelcontextprotocol/subscriptionId": exchange.id };
    await exchange.notify("notifications/subscriptions/acknowledged", {
      notifications: params.notifications ?? {},
      _meta,
    });
    server.listeners.add(exchange);
  },
};

/** Whether the headers repeat what the list, as it is now, wants repeated. */
function mirrorsItsParams({ server, params, wire, args }) {
  const listed = server.lists.find(params.name)?.inputSchema.properties ?? {};
  const expected = Object.entries(listed).filter(([key]) => args[key] !== undefined);
  return (
    args.refuse !== true &&
    expected.every(([key, { "x-mcp-header": name }]) => {
      if (name === undefined) return true;
      const header = wire.headers?.[`mcp-param-${name.toLowerCase()}`];
      const coded = /^=\?base64\?(.*)\?=$/.exec(header)?.[1];
      return args[key] === (coded === undefined ? header : Buffer.from(coded, "base64").toString());
    })
  );
}

/** The task that a request is about; undefined when it has been refused. */
function namedTask({ params: { taskId }, server, era, wire, fail }) {
  if (era === "modern" && wire.kind === "http" && wire.headers["mcp-name"] !== taskId)
    return fail(-32020, "Mcp-Name is not the task's id");
  return server.tasks.has(taskId) ? taskId : fail(-32602, `Unknown task ${taskId}`);
}

/** A task that never ends: 2025-11-25 hands it out in `task`, the extension of 2026-07-28 as the result itself. */
function startTask({ server, params, era, answer }) {
  const task = { taskId: randomUUID(), status: "working", ttl: params.task?.ttl ?? null };
  server.tasks.add(task.taskId);
  answer(era === "legacy" ? { task } : { resultType: "task", ...task });
  if (params.arguments?.reports === true) server.announce("notifications/tasks/status", task);
}

/** How servers of before 2026 greet a request that they do not know: no two alike. */
function refuseDiscover(options, exchange) {
  switch (options["on-discover"]) {
    case "silent":
      return;
    case "exit":
      return process.exit(1);
    case "invalid-params":
      return exchange.fail(-32602, "Invalid request parameters");
    case "http-400":
      return exchange.fail(-32000, "Bad Request: session id required", undefined, 400);
    case "http-500":
      return exchange.fail(-32603, "Internal server error", undefined, 500);
    default:
      return exchange.fail(-32601, "Method not found");
  }
}

const instructions = (options) => (options.instructions === undefined ? {} : { instructions: options.instructions });
const icons = (src) => (src === undefined ? {} : { icons: [{ src }] });

function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
