// Every tool by its name. A name that is none of them is a plain tool: it answers with a canary.

import { askingTools } from "./tools-asking.mjs";
import { contentTools } from "./tools-content.mjs";
import { httpTools } from "./tools-http.mjs";
import { notifyingTools } from "./tools-notifying.mjs";
import { plainTools } from "./tools-plain.mjs";
import { processTools } from "./tools-process.mjs";
import { wireTools } from "./tools-wire.mjs";

export { canary } from "./tools-plain.mjs";

/**
 * @typedef {object} Tool
 * @property {string} description also what --help prints
 * @property {(exchange: import("./server.mjs").Exchange) => unknown} run
 * @property {object} [inputSchema]
 * @property {object} [outputSchema]
 * @property {object} [annotations]
 */

/** @returns {Map<string, Tool>} */
export function allTools() {
  const groups = [plainTools, contentTools, wireTools, processTools, notifyingTools, askingTools, httpTools];
  return new Map(groups.flatMap((group) => Object.entries(group)));
}
