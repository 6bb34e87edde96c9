import { stringifyExact } from "../../wire/json/exact-json.ts";
import { createHash } from "node:crypto";
import type { ServerConfig } from "../../config/config.ts";
import type {
  PromptDefinition,
  ResourceDefinition,
  ResourceTemplateDefinition,
  SkillDefinition,
  ToolDefinition,
} from "../../kernel/definitions.ts";
import type { InstanceId, ToolPath } from "../../kernel/ids.ts";
import { isJsonObject, type JsonObject } from "../../kernel/json-bytes.ts";
import { phrasesKey } from "../../kernel/tool-phrases.ts";
import type { Era } from "../../kernel/call-context.ts";
import { faultyHeaderParameter } from "./header-parameters.ts";
import { skillProblem } from "./skill-check.ts";
import type { InstanceCatalog, ToolEntry } from "./snapshot.ts";
import { hasProcess, traitsOf, type TransportKind } from "../../config/transports.ts";

/** What a server answered to the list requests, unchecked. Also the form that is kept on disk. */
export interface RawLists {
  readonly tools: readonly unknown[];
  readonly resources: readonly unknown[];
  readonly templates: readonly unknown[];
  readonly prompts: readonly unknown[];
  readonly skills: readonly unknown[];
  readonly serverInfo: JsonObject;
  readonly instructions: string | undefined;
  readonly capabilities: JsonObject;
  readonly eras: readonly Era[];
  /** How the server was initialized where the usual way was refused; only `servers` reads it. */
  readonly handshake?: unknown;
  readonly ttlMs: number | undefined;
  readonly cacheScope: "public" | "private";
  readonly transport: TransportKind;
}

/** Something that a server listed and that cannot be offered. The rest of its list is unaffected. */
export interface SkippedItem {
  readonly kind: "tool" | "resource" | "template" | "prompt" | "skill";
  readonly name: string;
  readonly reason: string;
}

/** A longer name is no mistake but an attack on whoever lists it. */
const longestName = 1_024;

/**
 * Checks what a server listed, applies the configuration's `rename`, `describe` and `phrases`, and freezes it. Pure.
 */
export function buildInstanceCatalog(
  server: ServerConfig,
  instance: InstanceId,
  lists: RawLists,
): { catalog: InstanceCatalog; skipped: readonly SkippedItem[] } {
  const skipped: SkippedItem[] = [];
  const owner = { server: server.slug };
  const { mirrorsHeaders } = traitsOf(server.transport);
  const tools = acceptAll(lists.tools, toolKind, skipped)
    .filter((tool) => {
      const reason = mirrorsHeaders ? faultyHeaderParameter(tool.inputSchema) : undefined;
      if (reason !== undefined) skipped.push({ kind: "tool", name: tool.name, reason });
      return reason === undefined;
    })
    .map((tool) => toToolEntry(server, tool));
  const seenPaths = new Set<string>();
  const catalog: InstanceCatalog = Object.freeze({
    instance,
    ...owner,
    serverTitle: server.displayName,
    transport: lists.transport,
    serverInfo: lists.serverInfo,
    instructions: lists.instructions,
    capabilities: lists.capabilities,
    eras: lists.eras,
    handshake: lists.handshake,
    tools: Object.freeze(tools.filter((tool) => firstOf(seenPaths, tool, skipped))),
    resources: Object.freeze(
      acceptAll(lists.resources, resourceKind, skipped).map((definition) => ({ ...owner, definition })),
    ),
    templates: Object.freeze(
      acceptAll(lists.templates, templateKind, skipped).map((definition) => ({ ...owner, definition })),
    ),
    prompts: Object.freeze(
      acceptAll(lists.prompts, promptKind, skipped).map((definition) => ({ ...owner, definition })),
    ),
    skills: Object.freeze(acceptAll(lists.skills, skillKind, skipped).map((definition) => ({ ...owner, definition }))),
    ttlMs: lists.ttlMs,
    // What was fetched with a person's credentials must not be shared, whatever the server says (fault 52).
    cacheScope: hasCredentials(server) ? "private" : lists.cacheScope,
  });
  return { catalog, skipped };
}

function hasCredentials({ transport }: ServerConfig): boolean {
  return Object.keys(hasProcess(transport) ? transport.env : transport.headers).length > 0;
}

function toToolEntry(server: ServerConfig, tool: ToolDefinition): ToolEntry {
  const name = ownValue(server.tools.rename, tool.name) ?? tool.name;
  const description = ownValue(server.tools.describe, tool.name);
  const phrases = ownValue(server.tools.phrases, tool.name);
  const definition: ToolDefinition =
    name === tool.name && description === undefined && phrases === undefined
      ? tool
      : {
          ...tool,
          name,
          ...(description === undefined ? {} : { description }),
          ...(phrases === undefined
            ? {}
            : { _meta: { ...(isJsonObject(tool._meta) ? tool._meta : {}), [phrasesKey]: phrases } }),
        };
  return Object.freeze({
    server: server.slug,
    upstreamName: tool.name,
    path: `${server.slug}:${name}` as ToolPath,
    definition,
    hash: createHash("sha256").update(stringifyExact(definition)).digest("hex"),
  });
}

/** Own members only: otherwise the rename of a tool called `constructor` would be a function. */
function ownValue<T>(record: Readonly<Record<string, T>>, key: string): T | undefined {
  return Object.hasOwn(record, key) ? record[key] : undefined;
}

/** A rename may collide with another tool's name: the first tool keeps it. */
function firstOf(seen: Set<string>, tool: ToolEntry, skipped: SkippedItem[]): boolean {
  if (!seen.has(tool.path)) {
    seen.add(tool.path);
    return true;
  }
  skipped.push({
    kind: "tool",
    name: tool.upstreamName,
    reason: "another tool of this server has been renamed to the same name",
  });
  return false;
}

/** How one kind of item is checked, and by which key duplicates are found. */
interface ItemKind<T> {
  readonly kind: SkippedItem["kind"];
  readonly problemOf: (item: JsonObject) => string | undefined;
  readonly keyOf: (item: T) => string;
}

const toolKind: ItemKind<ToolDefinition> = { kind: "tool", problemOf: toolProblem, keyOf: ({ name }) => name };
const resourceKind: ItemKind<ResourceDefinition> = {
  kind: "resource",
  problemOf: resourceProblem,
  keyOf: ({ uri }) => uri,
};
const templateKind: ItemKind<ResourceTemplateDefinition> = {
  kind: "template",
  problemOf: templateProblem,
  keyOf: ({ uriTemplate }) => uriTemplate,
};
const promptKind: ItemKind<PromptDefinition> = { kind: "prompt", problemOf: promptProblem, keyOf: ({ name }) => name };
const skillKind: ItemKind<SkillDefinition> = { kind: "skill", problemOf: skillProblem, keyOf: ({ uri }) => uri };

/** Keeps the items that are valid and whose key is new (fault 56: of duplicates the first is kept). */
function acceptAll<T>(items: readonly unknown[], { kind, problemOf, keyOf }: ItemKind<T>, skipped: SkippedItem[]): T[] {
  const seen = new Set<string>();
  const accepted: T[] = [];
  for (const [index, item] of items.entries()) {
    const problem = isJsonObject(item) ? problemOf(item) : "is no object";
    if (problem !== undefined) {
      skipped.push({ kind, name: nameOf(item, index), reason: problem });
      continue;
    }
    const key = keyOf(item as T);
    if (seen.has(key)) {
      skipped.push({ kind, name: key, reason: "listed twice; the first is kept" });
      continue;
    }
    seen.add(key);
    accepted.push(item as T);
  }
  return accepted;
}

function nameOf(item: unknown, index: number): string {
  const name = isJsonObject(item) ? (item["name"] ?? item["uri"] ?? item["uriTemplate"]) : undefined;
  return typeof name === "string" && name !== "" ? name.slice(0, 100) : `#${index}`;
}

function toolProblem(tool: JsonObject): string | undefined {
  const schema = tool["inputSchema"];
  return (
    nameProblem(tool["name"]) ??
    (isJsonObject(schema) ? undefined : "inputSchema is no object") ??
    (tool["outputSchema"] === undefined || isJsonObject(tool["outputSchema"])
      ? undefined
      : "outputSchema is no object") ??
    textProblem(tool)
  );
}

function resourceProblem(resource: JsonObject): string | undefined {
  return (
    (typeof resource["uri"] === "string" && resource["uri"] !== "" ? undefined : "has no uri") ?? textProblem(resource)
  );
}

function templateProblem(template: JsonObject): string | undefined {
  return (
    (typeof template["uriTemplate"] === "string" && template["uriTemplate"] !== ""
      ? undefined
      : "has no uriTemplate") ?? textProblem(template)
  );
}

function promptProblem(prompt: JsonObject): string | undefined {
  return (
    nameProblem(prompt["name"]) ??
    (prompt["arguments"] === undefined || Array.isArray(prompt["arguments"]) ? undefined : "arguments is no array") ??
    textProblem(prompt)
  );
}

function nameProblem(name: unknown): string | undefined {
  if (typeof name !== "string") return "has no name";
  if (name === "") return "its name is empty";
  return name.length > longestName ? `its name is longer than ${longestName} characters` : undefined;
}

function textProblem(item: JsonObject): string | undefined {
  for (const field of ["title", "description"]) {
    if (item[field] !== undefined && item[field] !== null && typeof item[field] !== "string")
      return `its ${field} is no text`;
  }
  return undefined;
}
