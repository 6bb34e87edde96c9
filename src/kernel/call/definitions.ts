import type { JsonObject } from "../text/json-bytes.ts";

/**
 * Definitions as servers list them: known fields are typed, unknown ones are kept (MCP 2026-07-28, server/tools,
 * server/resources, server/prompts). Annotations are claims of the server, and untrusted.
 */
export interface ToolAnnotations extends JsonObject {
  readonly title?: string;
  readonly readOnlyHint?: boolean;
  readonly destructiveHint?: boolean;
  readonly idempotentHint?: boolean;
  readonly openWorldHint?: boolean;
}

/** A tool as its server lists it. */
export interface ToolDefinition extends JsonObject {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly inputSchema: JsonObject;
  readonly outputSchema?: JsonObject;
  readonly annotations?: ToolAnnotations;
  readonly icons?: readonly JsonObject[];
  readonly _meta?: JsonObject;
}

/** A resource as its server lists it. */
export interface ResourceDefinition extends JsonObject {
  readonly uri: string;
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly mimeType?: string;
  readonly _meta?: JsonObject;
}

/** A resource template as its server lists it. */
export interface ResourceTemplateDefinition extends JsonObject {
  readonly uriTemplate: string;
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly mimeType?: string;
  readonly _meta?: JsonObject;
}

/** A skill as its server lists it (SEP-2640, skills/list): what its SKILL.md says of itself, and its files. */
export interface SkillDefinition extends JsonObject {
  /** Of its SKILL.md. */
  readonly uri: string;
  /** The YAML frontmatter of its SKILL.md, as JSON. */
  readonly frontmatter: JsonObject & { readonly name: string; readonly description: string };
  /** Every file of it, its SKILL.md among them; or "dynamic" where the files are made when they are read. */
  readonly resources: readonly SkillFile[] | "dynamic";
}

/** One file of a skill. `digest` and `size` (bytes) are those of its raw content. */
export interface SkillFile extends JsonObject {
  readonly uri: string;
  readonly digest: string;
  readonly size: number;
}

/** A prompt as its server lists it. */
export interface PromptDefinition extends JsonObject {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly arguments?: readonly JsonObject[];
  readonly _meta?: JsonObject;
}
