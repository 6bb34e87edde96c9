import { createHash } from "node:crypto";
import { inspect } from "node:util";
import type { ToolDefinition } from "../src/kernel/call/definitions.ts";
import type { InstanceId, ServerSlug, ToolPath } from "../src/kernel/ids.ts";
import type { InstanceCatalog, SkillEntry, ToolEntry } from "../src/catalog/model/snapshot.ts";

/** One instance for tests: a server and its tools, as they would stand in a snapshot. */
export function sampleInstance(
  server: string,
  tools: readonly (Partial<ToolDefinition> & { readonly name: string })[],
  instructions?: string,
): InstanceCatalog {
  return {
    instance: server as InstanceId,
    server: server as ServerSlug,
    serverTitle: server,
    transport: "stdio",
    serverInfo: { name: server },
    instructions,
    capabilities: {},
    eras: ["legacy"],
    tools: tools.map((tool) => sampleTool(server, { inputSchema: { type: "object" }, ...tool })),
    resources: [],
    templates: [],
    prompts: [],
    skills: [],
    ttlMs: undefined,
    cacheScope: "private",
  };
}

/** A skill as its server would list it. */
export function sampleSkill(server: string, frontmatter: SkillEntry["definition"]["frontmatter"]): SkillEntry {
  const uri = `skill://${frontmatter.name}/SKILL.md`;
  const digest = `sha256:${"0".repeat(64)}`;
  return { server: server as ServerSlug, definition: { uri, frontmatter, resources: [{ uri, digest, size: 1 }] } };
}

/** The same part with skills, which its server declares. */
export function withSkills(part: InstanceCatalog, skills: readonly SkillEntry[]): InstanceCatalog {
  return { ...part, capabilities: { extensions: { "io.modelcontextprotocol/skills": {} } }, skills };
}

function sampleTool(server: string, definition: ToolDefinition): ToolEntry {
  return {
    server: server as ServerSlug,
    upstreamName: definition.name,
    path: `${server}:${definition.name}` as ToolPath,
    definition,
    // As in the gateway, another definition has another one. Schemas of tests may be circular.
    hash: createHash("sha256")
      .update(server + inspect(definition, { depth: 9 }))
      .digest("hex"),
  };
}

/** Five servers with a little of everything. */
export function sampleCatalog(): InstanceCatalog[] {
  return [
    sampleInstance("github", [
      {
        name: "create_issue",
        description: "Create a new issue in a GitHub repository",
        inputSchema: schema("owner", "repo", "title"),
      },
      { name: "list_issues", description: "List issues in a GitHub repository", annotations: { readOnlyHint: true } },
      { name: "merge_pull_request", description: "Merge a pull request" },
      { name: "delete_repository", description: "Delete a repository for good" },
    ]),
    sampleInstance("weather", [
      {
        name: "get_forecast",
        description: "Weather forecast for a city",
        annotations: { readOnlyHint: true },
        inputSchema: schema("city", "days"),
      },
    ]),
    sampleInstance("browser", [
      { name: "browser_take_screenshot", description: "Take a picture of the current page" },
      { name: "navigateBack", description: "Go back to the previous page" },
    ]),
    sampleInstance(
      "slack",
      [{ name: "slack_post_message", description: "Post a message to a channel" }],
      "Talk to the team.",
    ),
    sampleInstance("bing-cn", [{ name: "bing_search", description: "使用必应搜索指定的关键词，并返回搜索结果列表" }]),
  ];
}

function schema(...names: string[]): ToolDefinition["inputSchema"] {
  return {
    type: "object",
    properties: Object.fromEntries(names.map((name) => [name, { type: "string", description: `the ${name}` }])),
  };
}
