import type { JsonObject } from "./json-bytes.ts";

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

/** A prompt as its server lists it. */
export interface PromptDefinition extends JsonObject {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly arguments?: readonly JsonObject[];
  readonly _meta?: JsonObject;
}
