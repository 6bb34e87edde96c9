// What the lists say, and how they are paged. Tools are kept as JSON text: some schemas are too deep to stringify.

import { readFileSync } from "node:fs";
import { allTools } from "./tools.mjs";
import { bombs } from "./schema-bombs.mjs";

/** @param {Record<string, any>} options */
export function createLists(options) {
  /** @type {string[]} each the JSON text of one tool */
  const tools = listedTools(options);
  const pageSize = options["page-size"] ?? Number.POSITIVE_INFINITY;

  const lists = {
    capabilities: {
      tools: { listChanged: true },
      logging: {},
      ...(options.skills && {
        extensions: { "io.modelcontextprotocol/skills": { directoryRead: true } },
      }),
      ...(options.tasks && {
        tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } },
        extensions: { "io.modelcontextprotocol/tasks": {} },
      }),
      ...(options.resources && { resources: { subscribe: true, listChanged: true } }),
      ...(options.prompts && { prompts: { listChanged: true }, completions: {} }),
    },
    caching: () => ({ ttlMs: options["ttl-ms"], cacheScope: options["cache-scope"] }),

    /** Renames, adds (no `from`) or removes (no `to`) a listed tool. */
    rename(from, to) {
      const at = tools.findIndex((tool) => from !== undefined && JSON.parse(tool)?.name === from);
      if (at >= 0) tools.splice(at, 1);
      if (to !== undefined) tools.push(plainTool(to, options));
    },

    /** The listed tool of that name, as the list is now. */
    find(name) {
      const file = options["tools-json"];
      const listed =
        file === undefined ? tools.map((tool) => JSON.parse(tool)) : JSON.parse(readFileSync(file, "utf8"));
      return listed.find((tool) => tool.name === name);
    },

    answerTools(exchange) {
      const file = options["tools-json"];
      if (file !== undefined) return exchange.answer(page(exchange, "tools", readFileSync(file, "utf8")));
      if (options["endless-pages"]) return answerEndlessly(exchange);
      const cursor = options["repeat-cursor"] ? "again" : undefined;
      lists.answerTexts(exchange, "tools", tools, cursor);
    },
    answerPage(exchange, member, items) {
      if (!options[member === "prompts" ? "prompts" : "resources"]) return exchange.fail(-32601, "Not offered");
      lists.answerTexts(
        exchange,
        member,
        items.map((item) => JSON.stringify(item)),
      );
    },
    answerTexts(exchange, member, texts, forcedCursor) {
      const start = forcedCursor === undefined ? Number(exchange.params.cursor ?? 0) : 0;
      if (!Number.isInteger(start) || start < 0 || start > texts.length) return exchange.fail(-32602, "Unknown cursor");
      const end = start + pageSize;
      const next = forcedCursor ?? (end < texts.length ? String(end) : undefined);
      exchange.answer(page(exchange, member, `[${texts.slice(start, end).join(",")}]`, next));
    },
  };

  function answerEndlessly(exchange) {
    const number = Number(exchange.params.cursor ?? 0) + 1;
    exchange.answer(page(exchange, "tools", `[${plainTool(`page-${number}`, options)}]`, String(number)));
  }

  function page(exchange, member, array, nextCursor) {
    const cursor = nextCursor === undefined ? "" : `,"nextCursor":${JSON.stringify(nextCursor)}`;
    const { ttlMs, cacheScope } = lists.caching();
    const caching = exchange.era === "modern" ? `,"ttlMs":${ttlMs},"cacheScope":${JSON.stringify(cacheScope)}` : "";
    return `{"${member}":${array}${cursor}${caching}}`;
  }

  return lists;
}

function listedTools(options) {
  const plain = [...Array.from({ length: options.tools }, (_, index) => `tool-${index + 1}`), ...options["tool-name"]];
  const isBare = plain.length === 0 && options["schema-bomb"].length === 0;
  return [
    ...chosenBehaviours(options.behaviours ?? (isBare ? "all" : "none")),
    ...plain.map((name) => plainTool(name, options)),
    ...(options.duplicate ? [plainTool("twin", options, "The first"), plainTool("twin", options, "The second")] : []),
    ...(options.malformed ? malformedTools : []),
    ...(options.apps ? appTools.map((tool) => JSON.stringify(tool)) : []),
    ...(options["bad-x-mcp-header"] ? headerTools.map((tool) => JSON.stringify(tool)) : []),
    ...options["schema-bomb"].map((kind) => bombTool(kind, options)),
  ];
}

function chosenBehaviours(choice) {
  const wanted = choice.split(",");
  return [...allTools()]
    .filter(([name]) => choice === "all" || wanted.includes(name))
    .map(([name, { description, inputSchema = { type: "object" }, outputSchema, annotations }]) =>
      JSON.stringify({ name, description, inputSchema, outputSchema, annotations }),
    );
}

function plainTool(name, options, description = options.description ?? `The tool ${name}`) {
  const icons = options.icon === undefined ? undefined : [{ src: options.icon }];
  const properties = { text: { type: "string" }, count: { type: "integer" } };
  return JSON.stringify({ name, description, icons, inputSchema: { type: "object", properties } });
}

function bombTool(kind, options) {
  const bomb = bombs[kind];
  if (bomb === undefined) throw new Error(`--schema-bomb knows ${Object.keys(bombs).join(", ")}, not ${kind}`);
  return `{"name":"bomb-${kind}","description":"Has a hostile schema","inputSchema":${bomb(options)}}`;
}

const appTools = [
  {
    name: "show-panel",
    description: "Shows the panel",
    inputSchema: { type: "object" },
    _meta: { ui: { resourceUri: "ui://bad/panel" } },
  },
  {
    name: "refresh-panel",
    description: "Refreshes the panel, for its own page only",
    inputSchema: { type: "object" },
    _meta: { ui: { resourceUri: "ui://bad/panel", visibility: ["app"] } },
  },
];

const malformedTools = [
  '{"description":"has no name","inputSchema":{"type":"object"}}',
  '{"name":17,"description":"has a number for a name","inputSchema":{"type":"object"}}',
  '{"name":"schema-string","description":"has a string for a schema","inputSchema":"object"}',
  '{"name":"schema-null","description":"has null for a schema","inputSchema":null}',
  '{"name":"schema-array","description":"has a schema of type array","inputSchema":{"type":"array"}}',
  '{"name":"schema-missing","description":"has no schema"}',
  '{"name":"description-object","description":{"text":"is an object"},"inputSchema":{"type":"object"}}',
  "null",
  '"a string"',
  "[]",
];

const header = (type, name) => ({ type, "x-mcp-header": name });
const headerTool = (name, properties, more = {}) => ({
  name,
  inputSchema: { type: "object", properties, ...more },
});
const headerTools = [
  headerTool("header-good", {
    region: header("string", "Region"),
    level: header("integer", "Level"),
  }),
  headerTool("header-crlf", { region: header("string", "Region\r\nEvil: 1") }),
  headerTool("header-empty", { region: header("string", "") }),
  headerTool("header-space", { region: header("string", "My Region") }),
  headerTool("header-duplicate", {
    one: header("string", "Region"),
    two: header("string", "region"),
  }),
  headerTool("header-number", { ratio: header("number", "Ratio") }),
  headerTool("header-object", { region: header("object", "Region") }),
  headerTool("header-anyof", {}, { anyOf: [{ properties: { region: header("string", "Region") } }] }),
];
