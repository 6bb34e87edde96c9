// Tools that exist so that the suite can watch the transport: headers, capabilities, streams, list changes,
// reconnection.

import { setTimeout as delay } from "node:timers/promises";
import { fromJsonSchema, inputRequired } from "@modelcontextprotocol/server";
import { result, text } from "./samples.mjs";

// The client has to notice the closed stream and come back before the result is there to be replayed.
const reconnectMs = 100;

/**
 * @param {import("@modelcontextprotocol/server").McpServer} server
 * @param {import("./build.mjs").Serving} serving
 */
export function addDiagnosticTools(server, serving) {
  const add = (name, description, run) =>
    server.registerTool(
      name,
      { description, inputSchema: fromJsonSchema({ type: "object" }) },
      async (_args, context) => run(context),
    );
  server.registerTool("test_x_mcp_header", headerTool, async ({ region }) =>
    result(text(`region=${region ?? "none"}`)),
  );
  add("test_missing_capability", "Needs a client that can sample", needSampling);
  add("test_streaming_elicitation", "Its stream carries no request of the server", () =>
    result(text("nothing was asked")),
  );
  add("test_logging_tool", "Logs only if the request asked for a log level", async ({ mcpReq }) => {
    await mcpReq.log("info", "test_logging_tool ran");
    return result(text("logged"));
  });
  add("test_trigger_tool_change", "Announces that the list of tools changed", () => {
    serving.announceTools();
    return result(text("announced"));
  });
  add("test_trigger_prompt_change", "Announces that the list of prompts changed", () => {
    serving.announcePrompts();
    return result(text("announced"));
  });
  add("test_reconnection", "Closes the stream of its own call, and answers later", async ({ sessionId, mcpReq }) => {
    if (sessionId !== undefined) serving.closeStream(sessionId, mcpReq.id);
    await delay(reconnectMs);
    return result(text("The client came back"));
  });
}

function needSampling({ mcpReq }) {
  if (mcpReq.inputResponses?.answer !== undefined) return result(text("The model answered"));
  const messages = [{ role: "user", content: text("Reply with one word") }];
  return inputRequired({
    inputRequests: { answer: inputRequired.createMessage({ messages, maxTokens: 16 }) },
  });
}

const headerTool = {
  description: "Its region has to be mirrored in the header Mcp-Param-Region",
  inputSchema: fromJsonSchema({
    type: "object",
    properties: {
      region: { type: "string", "x-mcp-header": "Region" },
      level: { type: "integer" },
    },
  }),
};
