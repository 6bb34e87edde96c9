// Prompts: plain, with arguments, with a resource, with a picture, and one that asks before it answers.

import { acceptedContent, fromJsonSchema, inputRequired } from "@modelcontextprotocol/server";
import { image, text } from "./samples.mjs";
import { askFor } from "./tools-input.mjs";

/** @param {import("@modelcontextprotocol/server").McpServer} server */
export function addPrompts(server) {
  server.registerPrompt("test_simple_prompt", { description: "A prompt without arguments" }, async () =>
    says(text("This is a simple prompt for testing.")),
  );
  server.registerPrompt(
    "test_prompt_with_arguments",
    { description: "A prompt with two required arguments", argsSchema: strings("arg1", "arg2") },
    async ({ arg1, arg2 }) => says(text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)),
  );
  server.registerPrompt(
    "test_prompt_with_embedded_resource",
    { description: "A prompt that includes a resource", argsSchema: strings("resourceUri") },
    async ({ resourceUri: uri }) => {
      const resource = {
        uri,
        mimeType: "text/plain",
        text: "Embedded resource content for testing.",
      };
      return says({ type: "resource", resource }, text("Please process the embedded resource above."));
    },
  );
  server.registerPrompt("test_prompt_with_image", { description: "A prompt that includes a picture" }, async () =>
    says(image, text("Please analyze the image above.")),
  );
  server.registerPrompt(
    "test_input_required_result_prompt",
    { description: "Asks for its context first" },
    async (call) => {
      const context = acceptedContent(call.mcpReq.inputResponses, "user_context")?.context;
      if (typeof context === "string") return says(text(`Use the following context: ${context}`));
      const question = askFor("What context should the prompt use?", "context", "string");
      return inputRequired({ inputRequests: { user_context: question } });
    },
  );
}

const says = (...contents) => ({
  messages: contents.map((content) => ({ role: "user", content })),
});

const strings = (...names) =>
  fromJsonSchema({
    type: "object",
    properties: Object.fromEntries(names.map((name) => [name, { type: "string", description: `The ${name}` }])),
    required: names,
  });
