// Toolyard's tools for LangChain agents, in two ways. Needs the packages `@langchain/core` and
// `@langchain/mcp-adapters`.
import { tool } from "@langchain/core/tools";
import { MultiServerMCPClient } from "@langchain/mcp-adapters";

/** Over MCP: the four tools of a running gateway. Close the client when the agent is done. */
export async function connectTools(url) {
  const client = new MultiServerMCPClient({ mcpServers: { toolyard: { transport: "http", url } } });
  return { client, tools: await client.getTools() };
}

/** In process: the tools that fit a need, ready for `createAgent({ model, tools })`. */
export async function findTools(gateway, need) {
  const found = await gateway.search(need, { limit: 5 });
  return found.map(({ path, description = "", inputSchema }) =>
    tool(async (input, { signal }) => await callTool(gateway, path, input, signal), {
      name: path.replace(":", "__"),
      description,
      schema: inputSchema,
    }),
  );
}

async function callTool(gateway, path, input, signal) {
  const { content = [], isError } = await gateway.call(path, input, { signal });
  const text = content.map((block) => block.text ?? JSON.stringify(block)).join("\n");
  if (isError) throw new Error(text);
  return text;
}
