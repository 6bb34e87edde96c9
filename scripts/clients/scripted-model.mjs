// A model that follows a script (`steps.mjs`). It speaks whatever its caller speaks (see `dialects.mjs`) and thinks of
// nothing by itself, so that what a client does with an MCP server can be seen without an account and without a
// network.

import { dialectOf } from "./dialects.mjs";
import { listen, readBody } from "./listen.mjs";
import { nameResults, nextMove } from "./steps.mjs";

/**
 * What was seen of a client's model requests.
 * @typedef {object} SeenByModel
 * @property {string[]} first names of all tools in the first request that had any, behind their namespace where they
 *   have one
 * @property {Set<string>} tools of all requests, and those that can be called from code
 * @property {Made[]} made the calls of the script, in order
 * @property {Map<string, string>} results the text that came back, by step
 * @property {string[]} executed what came back from execute in each conversation that has ended
 * @property {Set<string>} dialects
 *
 * @typedef {object} Made
 * @property {string} step
 * @property {string} tool as the client calls it
 * @property {object} input
 * @property {number} atMs
 * @property {number} [backMs] when its result came back
 */

/**
 * @param {readonly import("./steps.mjs").Step[]} steps
 * @param {(asked: object) => void} [onRequest]
 * @returns {Promise<{ url: string, close: () => void, seen: () => SeenByModel, forget: () => void }>}
 */
export async function startScriptedModel(steps, onRequest = () => {}) {
  let seen = nothingSeen();
  const http = await listen(async (request, response) => {
    const asked = parse((await readBody(request)).toString());
    const dialect = dialectOf(request, asked);
    if (dialect === undefined) {
      answerOther(request, response);
      return;
    }
    onRequest(asked);
    const { tools, answers } = dialect.read(asked);
    const results = nameResults(steps, tools, answers);
    const move = nextMove(steps, tools, results);
    seen.dialects.add(dialect.name);
    note(seen, { tools, results, move });
    dialect.write(response, asked, move);
  });
  return { ...http, seen: () => seen, forget: () => (seen = nothingSeen()) };
}

/** @param {SeenByModel} seen */
function note(seen, { tools, results, move }) {
  const names = tools.map(toName);
  if (seen.first.length === 0) seen.first = names;
  for (const name of [...names, ...tools.flatMap(namesInCode)]) seen.tools.add(name);
  for (const [step, text] of results) {
    // As it came first: some clients shorten what lies back.
    if (!seen.results.has(step)) seen.results.set(step, text);
    const made = seen.made.find((one) => one.step === step);
    if (made !== undefined) made.backMs ??= performance.now();
  }
  if ("text" in move) {
    if (results.has("execute")) seen.executed.push(results.get("execute"));
    return;
  }
  const { step, tool, input } = move;
  if (!seen.made.some((one) => one.step === step))
    seen.made.push({ step, tool: toName(tool), input, atMs: performance.now() });
}

/** Those that a model can only call from code, in a tool that says how they are declared there. */
const namesInCode = ({ description = "" }) =>
  [...description.matchAll(/declare const tools: \{ (\w+)\(/g)].map(([, name]) => name);

const toName = ({ name, namespace }) => (namespace === undefined ? name : `${namespace}.${name}`);

/** Clients look at models and accounts before they ask: a list without surprises, and nothing for all else. */
function answerOther(request, response) {
  const isList = /\/models\/?(\?|$)/.test(request.url ?? "");
  response.writeHead(isList ? 200 : 404, { "content-type": "application/json" });
  response.end(JSON.stringify(isList ? { object: "list", data: [], models: [] } : { error: { message: "not here" } }));
}

/** @returns {SeenByModel} */
const nothingSeen = () => ({
  first: [],
  tools: new Set(),
  made: [],
  results: new Map(),
  executed: [],
  dialects: new Set(),
});

function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
