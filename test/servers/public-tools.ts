import { readFileSync } from "node:fs";
import type { CorpusTool } from "../../bench/retrieval/tokens.ts";

/**
 * The tools of ten public servers, as they list them: names, descriptions and schemas that people wrote for real use.
 * For tests of what must hold for any tool, where made-up definitions would only show what their author thought of.
 *
 * `public-tools.json` holds one tool per line. It was made, and can be made again, by
 *
 *     npm run bench:collect -- --out test/servers/public-tools.json everything filesystem memory \
 *       sequential-thinking github playwright chrome-devtools context7 notion git
 *
 * The texts belong to the packages that scripts/collect-real-mcp.mjs names for these servers; all of them are
 * published under the MIT or the Apache-2.0 licence.
 */
export function readPublicTools(): readonly CorpusTool[] {
  const { tools } = JSON.parse(readFileSync(new URL("./public-tools.json", import.meta.url), "utf8")) as {
    tools: CorpusTool[];
  };
  return tools;
}
