import type {
  PromptDefinition,
  ResourceDefinition,
  ResourceTemplateDefinition,
  SkillDefinition,
  ToolDefinition,
} from "../../kernel/call/definitions.ts";
import type { InstanceId, ServerSlug, ToolPath } from "../../kernel/ids.ts";
import type { JsonObject } from "../../kernel/text/json-bytes.ts";
import type { Era } from "../../kernel/call/call-context.ts";
import type { TransportKind } from "../../config/entry/transports.ts";
import { createHash } from "node:crypto";
import { stringifyExact } from "../../wire/json/exact-json.ts";

/**
 * What one instance offers. Frozen, and replaced as a whole: a reader keeps the one that it began with. The lists of
 * instances that offer the same are the same objects (`model/current.ts`), so nothing in them knows whose they are.
 */
export interface InstanceCatalog {
  readonly instance: InstanceId;
  readonly server: ServerSlug;
  readonly serverTitle: string;
  readonly transport: TransportKind;
  readonly serverInfo: JsonObject;
  readonly instructions: string | undefined;
  readonly capabilities: JsonObject;
  readonly eras: readonly Era[];
  /** How the server was initialized where the usual way was refused; only `servers` reads it. */
  readonly handshake?: unknown;
  readonly tools: readonly ToolEntry[];
  readonly resources: readonly ResourceEntry[];
  readonly templates: readonly TemplateEntry[];
  readonly prompts: readonly PromptEntry[];
  /** Why prompts and instructions wait for a person, by the names of `pinned-texts.ts`; none: absent. */
  readonly heldTexts?: Readonly<Record<string, string>>;
  /** Skills that it lists (SEP-2640). It may serve more of them, which are read by their address. */
  readonly skills: readonly SkillEntry[];
  /** Caching hints of the lists (2026-07-28, utilities/caching): the smallest ttl, and private if any list is. */
  readonly ttlMs: number | undefined;
  readonly cacheScope: "public" | "private";
}

/**
 * One tool. `definition` is as the server wrote it, except for the configuration's `rename`, `describe` and
 * `phrases`.
 */
export interface ToolEntry {
  readonly server: ServerSlug;
  /** The server's own name for the tool, which requests to the server use. */
  readonly upstreamName: string;
  /** `server:tool`, with the name that clients see. */
  readonly path: ToolPath;
  readonly definition: ToolDefinition;
  /** SHA-256 of the definition, in hexadecimal: the key of compiled validators and of embeddings. */
  readonly hash: string;
  /** As the server wrote it, where the configuration changed something. */
  readonly original?: ToolDefinition;
  /** Why it waits for a person to look at its definition: then it is in no list, and is not called. */
  readonly held?: string;
}

export interface ResourceEntry {
  readonly server: ServerSlug;
  readonly definition: ResourceDefinition;
}

export interface TemplateEntry {
  readonly server: ServerSlug;
  readonly definition: ResourceTemplateDefinition;
}

export interface PromptEntry {
  readonly server: ServerSlug;
  readonly definition: PromptDefinition;
}

export interface SkillEntry {
  readonly server: ServerSlug;
  readonly definition: SkillDefinition;
}

const known = new WeakMap<object, string>();

/** SHA-256 of a definition, by which it is compared; made once for each. Definitions are never changed. */
export function digestOf(definition: object): string {
  let digest = known.get(definition);
  if (digest === undefined) {
    digest = createHash("sha256").update(stringifyExact(definition)).digest("hex");
    known.set(definition, digest);
  }
  return digest;
}
