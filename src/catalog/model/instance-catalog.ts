import { stringifyExact } from "../../wire/json/exact-json.ts";
import { createHash } from "node:crypto";
import type { ServerConfig } from "../../config/config.ts";
import type {
  PromptDefinition,
  ResourceDefinition,
  ResourceTemplateDefinition,
  SkillDefinition,
  ToolDefinition,
} from "../../kernel/call/definitions.ts";
import type { InstanceId, ToolPath } from "../../kernel/ids.ts";
import { isJsonObject, type JsonObject } from "../../kernel/text/json-bytes.ts";
import { phrasesKey } from "../../kernel/call/tool-phrases.ts";
import { allSteps } from "../../kernel/runtime/slices.ts";
import type { Era } from "../../kernel/call/call-context.ts";
import { promptShape, resourceShape, templateShape, toolShape } from "../../wire/mcp/shapes/definition-shapes.ts";
import { Notes, type Shape } from "../../wire/mcp/shapes/shape.ts";
import { faultyHeaderParameter } from "./header-parameters.ts";
import { digestOf, type InstanceCatalog, type ToolEntry } from "./snapshot.ts";
import { skillProblem } from "./skill-extension.ts";
import { hasProcess, traitsOf, type TransportKind } from "../../config/entry/transports.ts";

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

/** Something that a server listed and that is odd: it cannot be offered, or is mended. The rest is unaffected. */
export interface SkippedItem {
  readonly kind: "tool" | "resource" | "template" | "prompt" | "skill";
  readonly name: string;
  readonly reason: string;
}

/** The tools that could not be offered, and those offered in another form than listed. */
interface Report {
  readonly skipped: SkippedItem[];
  readonly mended: SkippedItem[];
}

/**
 * Mends what a server listed, leaves out what cannot be mended, applies the configuration's `rename`, `describe` and
 * `phrases`, and freezes it. Pure.
 */
export function buildInstanceCatalog(server: ServerConfig, instance: InstanceId, lists: RawLists): BuiltCatalog {
  return allSteps(buildingCatalog(server, instance, lists));
}

export interface BuiltCatalog {
  readonly catalog: InstanceCatalog;
  readonly skipped: readonly SkippedItem[];
  readonly mended: readonly SkippedItem[];
}

/** The same in steps of one item each. */
export function* buildingCatalog(
  server: ServerConfig,
  instance: InstanceId,
  lists: RawLists,
): Generator<undefined, BuiltCatalog> {
  const report: Report = { skipped: [], mended: [] };
  const { skipped } = report;
  const owner = { server: server.slug };
  const { mirrorsHeaders } = traitsOf(server.transport);
  const tools: ToolEntry[] = [];
  for (const tool of yield* acceptAll(lists.tools, toolKind, report)) {
    yield;
    const reason = mirrorsHeaders ? faultyHeaderParameter(tool.inputSchema) : undefined;
    if (reason === undefined) tools.push(toToolEntry(server, tool));
    else skipped.push({ kind: "tool", name: tool.name, reason });
  }
  const owned = function* <T extends object>(items: readonly unknown[], kind: ItemKind<T>) {
    const entries: (typeof owner & { readonly definition: T })[] = [];
    for (const definition of yield* acceptAll(items, kind, report)) {
      yield;
      // Lists are compared by them, all at once.
      digestOf(definition);
      entries.push({ ...owner, definition });
    }
    return Object.freeze(entries);
  };
  const resources = yield* owned(lists.resources, resourceKind);
  const templates = yield* owned(lists.templates, templateKind);
  const prompts = yield* owned(lists.prompts, promptKind);
  const skills = yield* owned(lists.skills, skillKind);
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
    ...{ resources, templates, prompts, skills },
    ttlMs: lists.ttlMs,
    // What was fetched with a person's credentials must not be shared, whatever the server says (fault 52).
    cacheScope: hasCredentials(server) ? "private" : lists.cacheScope,
  });
  return { catalog, ...report };
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
    ...(definition === tool ? {} : { original: tool }),
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

/** How one kind of item is made usable, and by which key duplicates are found. */
interface ItemKind<T> {
  readonly kind: SkippedItem["kind"];
  readonly shape: Shape;
  readonly keyOf: (item: T) => string;
}

const toolKind: ItemKind<ToolDefinition> = { kind: "tool", shape: toolShape, keyOf: ({ name }) => name };
const resourceKind: ItemKind<ResourceDefinition> = { kind: "resource", shape: resourceShape, keyOf: ({ uri }) => uri };
const templateKind: ItemKind<ResourceTemplateDefinition> = {
  kind: "template",
  shape: templateShape,
  keyOf: ({ uriTemplate }) => uriTemplate,
};
const promptKind: ItemKind<PromptDefinition> = { kind: "prompt", shape: promptShape, keyOf: ({ name }) => name };
const skillKind: ItemKind<SkillDefinition> = { kind: "skill", shape: skillShape, keyOf: ({ uri }) => uri };

/** A skill is as its extension defines it, or is left out. */
function skillShape(value: unknown, notes: Notes): unknown {
  const problem = isJsonObject(value) ? skillProblem(value) : "is no object";
  return problem === undefined ? value : notes.odd(problem);
}

/** Keeps the items that are usable and whose key is new (fault 56: of duplicates the first is kept). */
function* acceptAll<T>(
  items: readonly unknown[],
  { kind, shape, keyOf }: ItemKind<T>,
  report: Report,
): Generator<undefined, T[]> {
  const seen = new Set<string>();
  const accepted: T[] = [];
  for (const [index, given] of items.entries()) {
    yield;
    const notes = new Notes();
    const item = shape(given, notes) as T | undefined;
    if (item === undefined) {
      // Of a whole item that is none, or of a member of it. Skills say it in their own words.
      const reason = kind === "skill" || notes.text.startsWith("is ") ? notes.text : `its ${notes.text}`;
      report.skipped.push({ kind, name: nameOf(given, index), reason });
      continue;
    }
    const key = keyOf(item);
    if (seen.has(key)) {
      report.skipped.push({ kind, name: key, reason: "listed twice; the first is kept" });
      continue;
    }
    if (!notes.isEmpty) report.mended.push({ kind, name: nameOf(given, index), reason: notes.text });
    seen.add(key);
    accepted.push(item);
  }
  return accepted;
}

function nameOf(item: unknown, index: number): string {
  const name = isJsonObject(item) ? (item["name"] ?? item["uri"] ?? item["uriTemplate"]) : undefined;
  return typeof name === "string" && name !== "" ? name.slice(0, 100) : `#${index}`;
}
