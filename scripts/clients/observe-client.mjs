// One run of one client, and what it was seen to do.

import { mkdir } from "node:fs/promises";
import { runClient } from "./installed-client.mjs";

const ourTools = ["discover_mcp_tools", "execute_mcp_tool", "list_mcp_resources", "read_mcp_resource"];
const resourceTools = ourTools.slice(2);

/**
 * @typedef {object} Observation
 * @property {string | null} clientName
 * @property {string | null} revision
 * @property {string[]} offered ours, as far as its model was offered them
 * @property {string[]} own the client's own tools for resources, of the names that ours have
 * @property {string[]} api what it speaks to its model
 * @property {string[]} problems what did not happen that should have
 */

/**
 * @param {{ client: import("./client-rows.mjs").Client, command: string, home: string, truth: Truth,
 *   front: Awaited<ReturnType<typeof import("./recording-proxy.mjs").startRecordingProxy>>,
 *   model: Awaited<ReturnType<typeof import("./scripted-model.mjs").startScriptedModel>>,
 *   onOutput: (chunk: Buffer) => void }} run
 * @returns {Promise<Observation>}
 *
 * @typedef {{ toolPath: string, executed: string, resource: string }} Truth what the results must hold, asked of the
 *   gateway beforehand
 */
export async function observeClient({ client, command, home, truth, front, model, onOutput }) {
  await mkdir(home, { recursive: true });
  front.forget();
  model.forget();
  const { args, env } = await client.prepare({ url: `${front.url}/mcp`, model: model.url, home });
  const printed = await runClient(command, { args, env: { HOME: home, ...env }, cwd: home, onOutput });
  const { clientName, revision } = front.seen();
  const { tools, results, dialects } = model.seen();
  const names = [...tools];
  const offered = ourTools.filter((tool) => names.some((name) => name !== tool && name.endsWith(tool)));
  const own = resourceTools.filter((tool) => tools.has(tool));
  const problems = findProblems({ offered, own, results, truth });
  if (tools.size === 0) problems.push(`its model was never asked; it printed: ${printed.slice(-600)}`);
  return { clientName: clientName ?? null, revision: revision ?? null, offered, own, api: [...dialects], problems };
}

/** Each result has to hold what the gateway itself gave for the same call: an error message of the client does not. */
function findProblems({ offered, own, results, truth }) {
  const problems = ourTools.slice(0, 2).filter((tool) => !offered.includes(tool));
  const expect = (step, text) => {
    const came = results.get(step);
    if (came === undefined) problems.push(`${step}: no result came back`);
    else if (!came.includes(text)) problems.push(`${step}: ${came.slice(0, 300)}`);
  };
  if (problems.length > 0) return problems.map((tool) => `${tool} was not offered to its model`);
  expect("discover", truth.toolPath);
  expect("execute", truth.executed);
  if (own.length < resourceTools.length) return problems;
  expect("read", truth.resource);
  return problems;
}
