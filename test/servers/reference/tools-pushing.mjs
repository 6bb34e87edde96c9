// Tools that push a question to the client while they run. Only the legacy era has that: called in the modern one
// they answer that it does not work, so a gateway must reach this server in the era of its own client.

import { fromJsonSchema } from "@modelcontextprotocol/server";
import { result, text } from "./samples.mjs";

/** @param {import("@modelcontextprotocol/server").McpServer} server */
export function addPushingTools(server) {
  server.registerTool(
    "test_sampling",
    { description: "Asks the client's model", inputSchema: oneString("prompt") },
    async ({ prompt }, context) => {
      const messages = [{ role: "user", content: text(prompt) }];
      const answer = await push(context, "sampling/createMessage", { messages, maxTokens: 100 });
      return result(text(`LLM response: ${answer.failed ?? answer.content?.text ?? "none"}`));
    },
  );
  server.registerTool(
    "test_elicitation",
    { description: "Asks the user", inputSchema: oneString("message") },
    async ({ message }, context) => {
      const response = { type: "string", description: "User's response" };
      return elicit(context, message, {
        type: "object",
        properties: { response },
        required: ["response"],
      });
    },
  );
  server.registerTool(
    "test_elicitation_sep1034_defaults",
    {
      description: "Asks the user with a form full of defaults",
      inputSchema: fromJsonSchema({ type: "object" }),
    },
    async (_args, context) => elicit(context, "Please review the defaults", defaultsForm),
  );
  server.registerTool(
    "test_elicitation_sep1330_enums",
    {
      description: "Asks the user with every form of enumeration",
      inputSchema: fromJsonSchema({ type: "object" }),
    },
    async (_args, context) => elicit(context, "Please select options", enumsForm),
  );
}

async function elicit(context, message, requestedSchema) {
  const answer = await push(context, "elicitation/create", { message, requestedSchema });
  if (answer.failed) return result(text(`Elicitation failed: ${answer.failed}`));
  return result(
    text(`Elicitation completed: action=${answer.action}, content=${JSON.stringify(answer.content ?? {})}`),
  );
}

/** A client that cannot answer is a result to report, not a failure of the tool. */
async function push(context, method, params) {
  try {
    return await context.mcpReq.send({ method, params });
  } catch (error) {
    return { failed: error.message };
  }
}

const oneString = (name) =>
  fromJsonSchema({ type: "object", properties: { [name]: { type: "string" } }, required: [name] });

const defaultsForm = {
  type: "object",
  properties: {
    name: { type: "string", description: "User name", default: "John Doe" },
    age: { type: "integer", description: "User age", default: 30 },
    score: { type: "number", description: "User score", default: 95.5 },
    status: {
      type: "string",
      description: "User status",
      enum: ["active", "inactive", "pending"],
      default: "active",
    },
    verified: { type: "boolean", description: "Verification status", default: true },
  },
  required: [],
};

const titled = (...titles) => titles.map((title, index) => ({ const: `value${index + 1}`, title }));

const enumsForm = {
  type: "object",
  properties: {
    untitledSingle: { type: "string", enum: ["option1", "option2", "option3"] },
    titledSingle: {
      type: "string",
      oneOf: titled("First Option", "Second Option", "Third Option"),
    },
    legacyEnum: {
      type: "string",
      enum: ["opt1", "opt2", "opt3"],
      enumNames: ["Option One", "Option Two", "Option Three"],
    },
    untitledMulti: {
      type: "array",
      minItems: 1,
      maxItems: 3,
      items: { type: "string", enum: ["option1", "option2", "option3"] },
    },
    titledMulti: {
      type: "array",
      minItems: 1,
      maxItems: 3,
      items: { anyOf: titled("First Choice", "Second Choice", "Third Choice") },
    },
  },
  required: [],
};
