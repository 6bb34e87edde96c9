// UNTIL `toolyard connect` WRITES THEM. What a client needs in its file beside or instead of what the command writes
// today; each row goes when the command has it, and this file with the last one.

import { appendFile, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

const addEntry = (path, toEntry) => async (home, url) => {
  const file = join(home, path);
  const settings = JSON.parse(await readFile(file, "utf8"));
  settings.mcpServers = { ...settings.mcpServers, toolyard: toEntry(url) };
  await writeFile(file, JSON.stringify(settings, undefined, 2));
};

/** Clients that the command does not know, by the id that they are to have there. */
export const unknownToConnect = {
  qwen: addEntry(".qwen/settings.json", (url) => ({ httpUrl: url, alwaysLoadTools: true })),
  copilot: addEntry(".copilot/mcp-config.json", (url) => ({
    ...{ type: "http", url, tools: ["*"] },
    deferTools: "never",
  })),
  kimi: addEntry(".kimi-code/mcp.json", (url) => ({ transport: "http", url })),
};

/** What the command leaves out. */
export const addedToConnect = {
  codex: async (home) => {
    const file = join(home, "config.toml");
    if ((await readFile(file, "utf8")).includes("direct_only_tool_namespaces")) return;
    await appendFile(file, '\n[features.code_mode]\ndirect_only_tool_namespaces = ["mcp__toolyard"]\n');
  },
};
