// Toolyard's tools for the Vercel AI SDK, in two ways. Needs the packages `ai` and `@ai-sdk/mcp`. `model` is any model
// of the AI SDK, such as `anthropic("claude-sonnet-4-5")`.
import { createMCPClient } from "@ai-sdk/mcp";
import { generateText, jsonSchema, stepCountIs, tool } from "ai";

/** Over MCP: the model gets the four tools of a running gateway, and finds the others by itself. */
export async function answerOverMcp({ model, prompt, url }) {
  const client = await createMCPClient({ transport: { type: "http", url } });
  try {
    const tools = await client.tools();
    return await generateText({ model, prompt, tools, stopWhen: stepCountIs(10) });
  } finally {
    await client.close();
  }
}

/** In process: your program searches for the prompt, and the model gets only the tools that were found. */
export async function answerInProcess({ model, prompt, gateway }) {
  const found = await gateway.search(prompt, { limit: 5 });
  const tools = Object.fromEntries(found.map((one) => [one.path.replace(":", "__"), toAiTool(gateway, one)]));
  return await generateText({ model, prompt, tools, stopWhen: stepCountIs(10) });
}

function toAiTool(gateway, { path, description, inputSchema }) {
  return tool({
    description,
    inputSchema: jsonSchema(inputSchema),
    execute: async (input, { abortSignal }) => await gateway.call(path, input, { signal: abortSignal }),
  });
}
