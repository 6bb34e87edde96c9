// One run of one client, and what it was seen to do.

import { mkdir } from "node:fs/promises";
import { prepareClient } from "./client-rows.mjs";
import { runClient, stopDaemons } from "./installed-client.mjs";

const ourTools = ["discover_mcp_tools", "execute_mcp_tool", "list_mcp_resources", "read_mcp_resource"];
const resourceTools = ourTools.slice(2);

/**
 * @typedef {object} Observation
 * @property {string | null} clientName
 * @property {string | null} revision
 * @property {boolean} canBeAsked whether it declared elicitation
 * @property {string[]} offered ours, as far as they were in the first request to its model
 * @property {string[]} behind without them, the client's own tools that look like a way to them
 * @property {number} others how many other tools were in it
 * @property {string[]} own the client's own tools for resources, of the names that ours have
 * @property {string[]} api what it speaks to its model
 * @property {import("./scripted-model.mjs").SeenByModel} seen
 * @property {string} printed
 */

/**
 * @param {object} run
 * @param {import("./client-rows.mjs").Client} run.client
 * @param {string} run.command
 * @param {string} run.home
 * @param {Awaited<ReturnType<typeof import("./recording-proxy.mjs").startRecordingProxy>>} run.front
 * @param {Awaited<ReturnType<typeof import("./scripted-model.mjs").startScriptedModel>>} run.model
 * @param {Record<string, import("./client-rows.mjs").Server>} [run.servers] beside the gateway
 * @param {boolean} run.isAllowed whether its user lets it call our tools
 * @param {(env: Record<string, string>) => Promise<unknown>} run.connect tells it about the gateway
 * @param {(chunk: Buffer) => void} run.onOutput
 * @param {number} [run.timeoutMs]
 * @returns {Promise<Observation>}
 */
export async function observeClient({ client, command, home, front, model, servers, isAllowed, connect, ...run }) {
  await mkdir(home, { recursive: true });
  model.forget();
  const { args, env } = await prepareClient(client, { model: model.url, home, servers });
  await connect(env);
  // The command that connects it has looked at the gateway, too.
  front.forget();
  const permitted = isAllowed ? (client.allow?.args ?? []) : [];
  const printed = await runClient(command, { args: [...args, ...permitted], env, cwd: home, ...run });
  await stopDaemons(home);
  const { clientName, revision, canBeAsked } = front.seen();
  const seen = model.seen();
  const own = ownTools([...seen.tools]);
  const offered = ourTools.filter((tool) => seen.first.some((name) => name.endsWith(tool) && !own.includes(name)));
  return {
    ...{ clientName: clientName ?? null, revision: revision ?? null, canBeAsked, offered, own },
    behind: offered.length > 0 ? [] : seen.first.filter((name) => /tool_?search|search_tool|(^|\.)exec$/i.test(name)),
    others: seen.first.filter((name) => !ourTools.some((tool) => name.endsWith(tool))).length,
    ...{ api: [...seen.dialects], seen, printed },
  };
}

/** Ours have something before their names, unless a client leaves that away for all of them. */
function ownTools(names) {
  return names.includes(ourTools[0]) ? [] : resourceTools.filter((tool) => names.includes(tool));
}

/**
 * What went wrong in a run. Each result has to hold what the server has: an error message of the client does not.
 * @param {Observation} observation
 * @param {{ toolPath: string, executed: string, resource: string }} truth
 * @returns {string[]}
 */
export function findProblems({ offered, seen, printed }, truth) {
  if (seen.tools.size === 0) return [`its model was never asked; it printed: ${printed.slice(-600)}`];
  const missing = ourTools.slice(0, 2).filter((tool) => !offered.includes(tool));
  if (missing.length > 0) return missing.map((tool) => `${tool} was not offered to its model`);
  const expected = [
    ["discover", truth.toolPath],
    ["execute", truth.executed],
    ...(seen.made.some(({ step }) => step === "list") ? [["read", truth.resource]] : []),
  ];
  return expected.flatMap(([step, text]) => {
    const came = seen.results.get(step);
    if (came === undefined) return [`${step}: no result came back`];
    return came.includes(text) ? [] : [`${step}: ${came.slice(0, 300)}`];
  });
}
