import type {
  PromptDefinition,
  ResourceDefinition,
  ResourceTemplateDefinition,
  ToolDefinition,
} from "../../kernel/definitions.ts";
import type { InstanceId, ServerSlug, ToolPath } from "../../kernel/ids.ts";
import type { JsonObject } from "../../kernel/json-bytes.ts";
import type { Era } from "../../kernel/call-context.ts";
import type { TransportKind } from "../../config/transports.ts";

/**
 * All that the instances offer at one moment. Replaced, never edited: a reader keeps the snapshot that it began with.
 */
export interface Catalog {
  /** Grows by one with every replacement. */
  readonly version: number;
  readonly instances: ReadonlyMap<InstanceId, InstanceCatalog>;
}

/** What one instance offers. Frozen, and the same object in every snapshot in which it did not change. */
export interface InstanceCatalog {
  readonly instance: InstanceId;
  readonly server: ServerSlug;
  readonly serverTitle: string;
  readonly transport: TransportKind;
  readonly serverInfo: JsonObject;
  readonly instructions: string | undefined;
  readonly capabilities: JsonObject;
  readonly eras: readonly Era[];
  readonly tools: readonly ToolEntry[];
  readonly resources: readonly ResourceEntry[];
  readonly templates: readonly TemplateEntry[];
  readonly prompts: readonly PromptEntry[];
  /** Caching hints of the lists (2026-07-28, utilities/caching): the smallest ttl, and private if any list is. */
  readonly ttlMs: number | undefined;
  readonly cacheScope: "public" | "private";
}

/**
 * One tool. `definition` is as the server wrote it, except for the configuration's `rename`, `describe` and
 * `phrases`.
 */
export interface ToolEntry {
  readonly instance: InstanceId;
  readonly server: ServerSlug;
  /** The server's own name for the tool, which requests to the server use. */
  readonly upstreamName: string;
  /** `server:tool`, with the name that clients see. */
  readonly path: ToolPath;
  readonly definition: ToolDefinition;
  /** SHA-256 of the definition, in hexadecimal: the key of compiled validators and of embeddings. */
  readonly hash: string;
}

export interface ResourceEntry {
  readonly instance: InstanceId;
  readonly server: ServerSlug;
  readonly definition: ResourceDefinition;
}

export interface TemplateEntry {
  readonly instance: InstanceId;
  readonly server: ServerSlug;
  readonly definition: ResourceTemplateDefinition;
}

export interface PromptEntry {
  readonly instance: InstanceId;
  readonly server: ServerSlug;
  readonly definition: PromptDefinition;
}

export const emptyCatalog: Catalog = Object.freeze({ version: 0, instances: new Map() });

/** A copy with one instance's catalog added or replaced. */
export function withInstance(catalog: Catalog, own: InstanceCatalog): Catalog {
  const instances = new Map(catalog.instances);
  instances.set(own.instance, own);
  return Object.freeze({ version: catalog.version + 1, instances });
}

/** A copy without one instance. The same snapshot when it was not in it. */
export function withoutInstance(catalog: Catalog, instance: InstanceId): Catalog {
  if (!catalog.instances.has(instance)) return catalog;
  const instances = new Map(catalog.instances);
  instances.delete(instance);
  return Object.freeze({ version: catalog.version + 1, instances });
}
