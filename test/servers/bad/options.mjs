// The flags, as one table: what they are called, what they take, what they do.

import { parseArgs } from "node:util";

/** `type` is "flag" (no value), "text", "number" or "texts" (repeatable). */
const table = {
  help: { type: "flag", help: "print this" },
  http: {
    type: "flag",
    help: "Streamable HTTP on 127.0.0.1; prints `listening on http://127.0.0.1:PORT/mcp`",
  },
  sse: { type: "flag", help: "legacy HTTP+SSE; prints `listening on http://127.0.0.1:PORT/sse`" },
  port: { type: "number", initial: 0, help: "of --http and --sse; 0 is any free one" },
  era: { type: "text", initial: "legacy", help: "legacy, modern (2026-07-28 only) or both" },
  "server-name": {
    type: "text",
    initial: "bad-server",
    help: "serverInfo.name, and what canary returns",
  },
  instructions: { type: "text", help: "instructions of initialize and server/discover" },

  behaviours: {
    type: "text",
    help: "which of the tools below are listed: all, none or a,b,c (all, unless tools are given)",
  },
  tools: { type: "number", initial: 0, help: "lists N plain tools, tool-1 to tool-N" },
  "tool-name": {
    type: "texts",
    help: "lists a plain tool of this name; may be repeated, may be empty; \\uXXXX is decoded",
  },
  "tools-json": { type: "text", help: "a file with the whole tools array, sent as it is" },
  "only-canaries": { type: "flag", help: "every tool, whatever its name, answers as canary does" },
  description: { type: "text", help: "of every plain tool" },
  icon: { type: "text", help: "icon URI of every plain tool and of the server" },
  malformed: {
    type: "flag",
    help: "also lists tools without name, with a schema that is a string, null, ...",
  },
  duplicate: { type: "flag", help: "lists the tool `twin` twice" },
  "bad-x-mcp-header": {
    type: "flag",
    help: "also lists tools with invalid x-mcp-header, and header-good",
  },
  "schema-bomb": {
    type: "texts",
    help: "also lists bomb-KIND: ref-cycle, remote-ref, id-clash, anyof-20000, deep-10000, redos, unknown-dialect",
  },
  "remote-ref": {
    type: "text",
    initial: "http://127.0.0.1:9/schema.json",
    help: "where bomb-remote-ref points",
  },
  "page-size": { type: "number", help: "items per page of every list" },
  "endless-pages": { type: "flag", help: "tools/list never ends" },
  "repeat-cursor": { type: "flag", help: "tools/list gives the same cursor for ever" },
  "ttl-ms": { type: "number", initial: 0, help: "of modern lists" },
  "cache-scope": { type: "text", initial: "private", help: "of modern lists" },
  resources: { type: "flag", help: "offers three resources, a template, subscriptions" },
  prompts: { type: "flag", help: "offers two prompts, and completion" },
  asking: {
    type: "flag",
    help: "also offers the prompt `asking` and the resource bad://asking, which ask the user first",
  },
  tasks: {
    type: "flag",
    help: "declares tasks; any tool `start-task` called with `task`, or with the argument `unasked`, starts one, and reports on it at once with `reports`",
  },
  "skills-json": { type: "text", help: "with --skills, lists the entries of this file, whatever it says" },
  skills: { type: "flag", help: "offers two skills (SEP-2640), one of them not listed, and directories" },
  apps: { type: "flag", help: "also offers tools with a user interface (MCP Apps)" },

  "wait-while-exists": { type: "text", initial: "", help: "reads nothing before this file is gone" },
  "start-delay": { type: "number", initial: 0, help: "ms before anything is read" },
  "hang-on-initialize": { type: "flag", help: "never answers initialize or server/discover" },
  "hang-on-list": { type: "flag", help: "never answers tools/list" },
  "on-discover": {
    type: "text",
    initial: "unknown-method",
    help: "what a legacy server says to server/discover: unknown-method, invalid-params, silent, exit, http-400, http-500",
  },
  "crash-at-start": { type: "flag", help: "exits with 1" },
  "crash-while-exists": {
    type: "text",
    initial: "",
    help: "exits with 1 as long as this file exists",
  },
  "crash-after": { type: "number", help: "exits with 1 after so many ms" },
  "stderr-lines": { type: "number", initial: 0, help: "lines written to stderr at the start" },
  banner: { type: "text", help: "a line written to stdout before any JSON" },
  "ignore-sigterm": { type: "flag", help: "survives SIGTERM" },
  "ignore-eof": { type: "flag", help: "survives the end of stdin" },
  "never-read-stdin": { type: "flag", help: "does not read a byte" },

  "write-pid": {
    type: "text",
    help: "appends `PID what` for this process and each of its children",
  },
  record: {
    type: "text",
    help: "appends every message received, and every call given up, as a JSON line",
  },

  "http-status": { type: "number", help: "answers every HTTP request with this status" },
  "http-sse-answers": { type: "flag", help: "answers every POST as an event stream" },
  session: { type: "flag", help: "legacy sessions: initialize gives an id, an unknown one is 404" },
  "require-auth": { type: "text", help: "401 without `Authorization: Bearer THIS`" },
  "checks-params": {
    type: "flag",
    help: "modern HTTP: answers -32020 where Mcp-Param-* is not what the list says now, or the argument `refuse` is set",
  },
  "header-mismatches": {
    type: "number",
    initial: 0,
    help: "answers the first N tools/call with -32020",
  },
};

/**
 * @param {string[]} argv
 * @param {NodeJS.ProcessEnv} environment
 * @returns {Record<string, any>} every flag of the table by its name
 */
export function parseOptions(argv, environment) {
  const args = [...argv, ...JSON.parse(environment.BAD_SERVER_ARGS ?? "[]")];
  const options = Object.fromEntries(Object.entries(table).map(([name, { type }]) => [name, parserOption(type)]));
  const { values } = parseArgs({ args, options });
  return Object.fromEntries(Object.entries(table).map(([name, row]) => [name, readValue(name, row, values[name])]));
}

export function describeOptions() {
  const values = { flag: "", text: " TEXT", number: " N", texts: " TEXT ..." };
  return Object.entries(table)
    .map(([name, { type, help }]) => `  ${`--${name}${values[type]}`.padEnd(30)} ${help}`)
    .join("\n");
}

const parserOption = (type) => ({
  type: type === "flag" ? "boolean" : "string",
  multiple: type === "texts",
});

function readValue(name, { type, initial }, value) {
  if (type === "flag") return value ?? false;
  if (type === "texts") return (value ?? []).map(decodeEscapes);
  if (value === undefined) return initial;
  if (type === "text") return value;
  if (!Number.isFinite(Number(value))) throw new Error(`--${name} takes a number, not ${value}`);
  return Number(value);
}

// An argument cannot hold NUL, so names are written with JSON's escapes.
const decodeEscapes = (text) =>
  text.replaceAll(/\\u([0-9a-fA-F]{4})/g, (_all, hex) => String.fromCharCode(Number.parseInt(hex, 16)));
