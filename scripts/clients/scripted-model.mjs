// A model that follows a script: it calls discover_mcp_tools, then execute_mcp_tool with the first path of the
// answer, then, where the client has resource tools of its own, those. It speaks whatever its caller speaks (see
// `dialects.mjs`) and thinks of nothing by itself, so that what a client does with an MCP server can be seen without
// an account and without a network.

import { dialectOf } from "./dialects.mjs";
import { listen, readBody } from "./listen.mjs";

const ourTools = { discover: "discover_mcp_tools", execute: "execute_mcp_tool" };
// Clients that have these give them to their model under exactly these names.
const ownTools = { list: "list_mcp_resources", read: "read_mcp_resource" };

/**
 * What was seen of a client's model requests.
 * @typedef {object} SeenByModel
 * @property {Set<string>} tools names of all tools that the model was offered, behind their namespace where they have
 *   one
 * @property {Map<string, string>} results the text that came back, by step: discover, execute, list, read
 * @property {string[]} executed what came back from execute in each conversation that has ended
 * @property {Set<string>} dialects
 *
 * @typedef {object} Script
 * @property {string} server the name under which the client knows the gateway
 * @property {string} query for discover_mcp_tools
 * @property {string} resource a part of the URI that is to be read
 */

/**
 * @param {Script} script
 * @returns {Promise<{ url: string, close: () => void, seen: () => SeenByModel, forget: () => void }>}
 */
export async function startScriptedModel(script) {
  let seen = nothingSeen();
  const http = await listen(async (request, response) => {
    const asked = parse((await readBody(request)).toString());
    const dialect = dialectOf(request, asked);
    if (dialect === undefined) {
      answerOther(request, response);
      return;
    }
    seen.dialects.add(dialect.name);
    const { tools, results } = dialect.read(asked);
    for (const { name, namespace } of tools) seen.tools.add(namespace === undefined ? name : `${namespace}.${name}`);
    for (const [step, text] of results) seen.results.set(step, text);
    const move = nextMove(tools, results, script);
    if ("text" in move && results.has("execute")) seen.executed.push(results.get("execute"));
    dialect.write(response, asked, move);
  });
  return { ...http, seen: () => seen, forget: () => (seen = nothingSeen()) };
}

/** What the script says next, from nothing but the conversation that the client sent. */
function nextMove(tools, results, { server, query, resource }) {
  const ours = (wanted) => tools.find(({ name }) => name.endsWith(wanted));
  const own = (wanted) => tools.find(({ name, namespace }) => name === wanted && namespace === undefined);
  const discover = ours(ourTools.discover);
  if (discover !== undefined && !results.has("discover")) return call("discover", discover, { query });
  const execute = ours(ourTools.execute);
  if (execute !== undefined && results.has("discover") && !results.has("execute"))
    return call("execute", execute, { tool_path: firstPath(results.get("discover")), arguments: {} });
  const list = own(ownTools.list);
  const asServer = { server, serverName: server, server_name: server };
  if (list !== undefined && results.has("execute") && !results.has("list"))
    return call("list", list, fitting(list, asServer));
  const read = own(ownTools.read);
  if (read !== undefined && results.has("list") && !results.has("read"))
    return call("read", read, fitting(read, { ...asServer, uri: findUri(results.get("list"), resource) }));
  return { text: "There is nothing more to do." };
}

function call(step, tool, input) {
  return { step, tool, input };
}

/** Those of the arguments that the tool declares. */
function fitting({ parameters }, input) {
  const known = parameters?.properties;
  return known === undefined ? input : Object.fromEntries(Object.entries(input).filter(([name]) => name in known));
}

const firstPath = (text) => /\\*"tool_path\\*":\s*\\*"([^"\\]+)/.exec(text)?.[1] ?? "nothing:found";
const findUri = (text, part) =>
  text.match(/toolyard:\/\/[^\s"'\\)\]>]+/g)?.find((uri) => uri.includes(part)) ?? "toolyard://nothing/found";

/** Clients look at models and accounts before they ask: a list without surprises, and nothing for all else. */
function answerOther(request, response) {
  const isList = /\/models\/?(\?|$)/.test(request.url ?? "");
  response.writeHead(isList ? 200 : 404, { "content-type": "application/json" });
  response.end(JSON.stringify(isList ? { object: "list", data: [], models: [] } : { error: { message: "not here" } }));
}

/** @returns {SeenByModel} */
const nothingSeen = () => ({ tools: new Set(), results: new Map(), executed: [], dialects: new Set() });

function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
