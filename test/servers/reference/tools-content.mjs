// Tools that answer at once: every kind of content, an error, log messages, progress, and a schema of JSON Schema
// 2020-12.

import { setTimeout as delay } from "node:timers/promises";
import { fromJsonSchema } from "@modelcontextprotocol/server";
import { audio, image, result, text } from "./samples.mjs";

// Long enough for a client to see that notifications arrive before the result does.
const stepMs = 40;
const noArguments = () => fromJsonSchema({ type: "object" });

/** @param {import("@modelcontextprotocol/server").McpServer} server */
export function addContentTools(server) {
  const add = (name, description, ...content) =>
    server.registerTool(name, { description }, async () => result(...content));
  add("test_simple_text", "Returns one text", text("This is a simple text response for testing."));
  add("test_image_content", "Returns a picture", image);
  add("test_audio_content", "Returns a sound", audio);
  add(
    "test_embedded_resource",
    "Returns a resource inside the result",
    embedded("test://embedded-resource", "text/plain", "Embedded."),
  );
  add(
    "test_multiple_content_types",
    "Returns text, a picture and a resource",
    text("Three kinds of content:"),
    image,
    embedded("test://mixed-content-resource", "application/json", '{"test":"data","value":123}'),
  );
  server.registerTool("test_error_handling", { description: "Always fails" }, async () => {
    throw new Error("This tool intentionally returns an error for testing");
  });
  addNotifyingTools(server);
  server.registerTool("json_schema_2020_12_tool", schemaTool, async (args) => result(text(JSON.stringify(args))));
}

function addNotifyingTools(server) {
  server.registerTool(
    "test_tool_with_logging",
    { description: "Logs three times while it runs", inputSchema: noArguments() },
    async (_args, { mcpReq }) => {
      for (const data of ["Tool execution started", "Tool processing data", "Tool execution completed"]) {
        await mcpReq.notify({ method: "notifications/message", params: { level: "info", data } });
        await delay(stepMs);
      }
      return result(text("Tool with logging executed successfully"));
    },
  );
  server.registerTool(
    "test_tool_with_progress",
    { description: "Reports progress when the caller gave a token", inputSchema: noArguments() },
    async (_args, { mcpReq }) => {
      const progressToken = mcpReq._meta?.progressToken;
      if (progressToken === undefined) return result(text("no progress token"));
      for (const progress of [0, 50, 100]) {
        const params = {
          progressToken,
          progress,
          total: 100,
          message: `Completed step ${progress} of 100`,
        };
        await mcpReq.notify({ method: "notifications/progress", params });
        await delay(stepMs);
      }
      return result(text(String(progressToken)));
    },
  );
}

const embedded = (uri, mimeType, body) => ({
  type: "resource",
  resource: { uri, mimeType, text: body },
});

const schemaTool = {
  description: "Its schema uses the vocabulary of JSON Schema 2020-12, which has to reach the client unchanged",
  inputSchema: fromJsonSchema({
    $schema: "https://json-schema.org/draft/2020-12/schema",
    type: "object",
    $defs: {
      address: {
        $anchor: "addressDef",
        type: "object",
        properties: { street: { type: "string" }, city: { type: "string" } },
      },
    },
    properties: {
      name: { type: "string" },
      address: { $ref: "#/$defs/address" },
      contactMethod: { type: "string", enum: ["phone", "email"] },
      phone: { type: "string" },
      email: { type: "string" },
    },
    allOf: [{ anyOf: [{ required: ["phone"] }, { required: ["email"] }] }],
    if: { properties: { contactMethod: { const: "phone" } }, required: ["contactMethod"] },
    // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema, on no object that is awaited
    then: { required: ["phone"] },
    else: { required: ["email"] },
    additionalProperties: false,
  }),
};
