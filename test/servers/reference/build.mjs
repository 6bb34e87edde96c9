// One server instance: a session's in the legacy era, a request's in the modern one.

import { McpServer } from "@modelcontextprotocol/server";
import { addPrompts } from "./prompts.mjs";
import { addResources } from "./resources.mjs";
import { addContentTools } from "./tools-content.mjs";
import { addDiagnosticTools } from "./tools-diagnostic.mjs";
import { addInputTools } from "./tools-input.mjs";
import { addPushingTools } from "./tools-pushing.mjs";

/**
 * What an instance needs from whoever serves it.
 * @typedef {object} Serving
 * @property {import("@modelcontextprotocol/server").RequestStateCodec} stateCodec seals requestState; shared by all
 *   instances
 * @property {() => void} announceTools tells modern listeners that the list of tools changed
 * @property {() => void} announcePrompts the same for prompts
 * @property {number} retryMs how long a client is told to wait before it comes back for the rest of a closed stream
 * @property {(sessionId: string, requestId: string | number) => void} closeStream ends the event stream of a legacy
 *   request early
 */

/** @param {Serving} serving */
export function buildReferenceServer(serving) {
  const server = new McpServer(
    { name: "toolyard-reference-server", version: "1.0.0" },
    {
      capabilities: {
        tools: { listChanged: true },
        resources: { subscribe: true, listChanged: true },
        prompts: { listChanged: true },
        logging: {},
        completions: {},
      },
      requestState: { verify: serving.stateCodec.verify },
    },
  );
  addContentTools(server);
  addPushingTools(server);
  addInputTools(server, serving.stateCodec);
  addDiagnosticTools(server, serving);
  addResources(server);
  addPrompts(server);
  server.server.setRequestHandler("logging/setLevel", async () => ({}));
  server.server.setRequestHandler("completion/complete", async () => ({
    completion: { values: [], total: 0, hasMore: false },
  }));
  return server;
}
