// What a scripted model does, step by step. A step is left out where the client does not offer its tool, or where an
// earlier one brought nothing to go on with.

/**
 * @typedef {object} Step
 * @property {string} step its name
 * @property {string} tool ours, with whatever a client puts before the name
 * @property {true} [own] the client's own tool of exactly this name instead
 * @property {(results: ReadonlyMap<string, string>, tool: import("./dialects.mjs").Tool) => object | undefined} input
 */

/** @param {string} query @returns {Step} */
const find = (query) => ({ step: "discover", tool: "discover_mcp_tools", input: () => ({ query }) });

/**
 * Asks for a tool and calls the first that is found.
 * @param {string} query
 * @param {object} [input]
 * @returns {Step[]}
 */
export function findAndCall(query, input = {}) {
  const execute = (results) => {
    const path = firstPath(results.get("discover") ?? "");
    return path === undefined ? undefined : { tool_path: path, arguments: input };
  };
  return [find(query), { step: "execute", tool: "execute_mcp_tool", input: execute }];
}

/** @param {string} step @param {string} toolPath @param {object} input @returns {Step} */
export function callTool(step, toolPath, input) {
  return { step, tool: "execute_mcp_tool", input: () => ({ tool_path: toolPath, arguments: input }) };
}

/**
 * Lists and reads with the resource tools that a client has itself.
 * @param {string} server the name under which the client knows the gateway
 * @param {string} resource a part of the URI that is to be read
 * @returns {Step[]}
 */
export function readResource(server, resource) {
  const asServer = { server, serverName: server, server_name: server };
  return [
    { step: "list", own: true, tool: "list_mcp_resources", input: (_results, tool) => fitting(tool, asServer) },
    {
      step: "read",
      own: true,
      tool: "read_mcp_resource",
      input: (results, tool) =>
        results.has("list") ? fitting(tool, { ...asServer, uri: findUri(results.get("list"), resource) }) : undefined,
    },
  ];
}

/**
 * What the script says next, from nothing but the conversation that the client sent.
 * @param {readonly Step[]} steps
 * @param {readonly import("./dialects.mjs").Tool[]} tools
 * @param {ReadonlyMap<string, string>} results by step
 * @returns {import("./dialects.mjs").Move}
 */
export function nextMove(steps, tools, results) {
  // A client that leaves the names of tools as they are has none of its own beside them.
  const isBare = tools.some(({ name, namespace }) => name === "discover_mcp_tools" && namespace === undefined);
  for (const { step, tool: name, own, input } of steps) {
    if (results.has(step) || (own && isBare)) continue;
    const tool = tools.find((one) =>
      own ? one.name === name && one.namespace === undefined : one.name.endsWith(name),
    );
    const given = tool === undefined ? undefined : input(results, tool);
    if (given !== undefined) return { step, tool, input: given };
  }
  return { text: "There is nothing more to do." };
}

/**
 * Results by step. Where calls have no ids, results come in the order of the script.
 * @param {readonly Step[]} steps
 * @param {readonly import("./dialects.mjs").Tool[]} tools
 * @param {readonly (readonly [string | undefined, string])[]} answers
 * @returns {Map<string, string>}
 */
export function nameResults(steps, tools, answers) {
  const results = new Map();
  for (const [given, text] of answers) {
    const step = steps.some(({ step: known }) => known === given) ? given : nextMove(steps, tools, results).step;
    if (step !== undefined) results.set(step, text);
  }
  return results;
}

/** Those of the arguments that the tool declares. */
function fitting({ parameters }, input) {
  const known = parameters?.properties;
  return known === undefined ? input : Object.fromEntries(Object.entries(input).filter(([name]) => name in known));
}

const firstPath = (text) => /\\*"tool_path\\*":\s*\\*"([^"\\]+)/.exec(text)?.[1];
const findUri = (text, part) =>
  text.match(/toolyard:\/\/[^\s"'\\)\]>]+/g)?.find((uri) => uri.includes(part)) ?? "toolyard://nothing/found";
