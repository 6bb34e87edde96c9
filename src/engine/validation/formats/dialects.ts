import { Ajv, type Options } from "ajv";
import { Ajv2019 } from "ajv/dist/2019.js";
import { Ajv2020 } from "ajv/dist/2020.js";
import type { JsonObject } from "../../../kernel/text/json-bytes.ts";

/** How Ajv is configured for one dialect of JSON Schema. */
export interface Dialect {
  readonly name: string;
  create(options: Options): Ajv;
}

const draft2020: Dialect = { name: "2020-12", create: (options) => new Ajv2020(options) };
const draft2019: Dialect = { name: "2019-09", create: (options) => new Ajv2019(options) };
/** Up to draft-07, keywords beside `$ref` are ignored (draft-07 core, 8.3). */
const draft07: Dialect = {
  name: "draft-07",
  create: (options) => new Ajv({ ...options, ignoreKeywordsWithRef: true }),
};

/**
 * The dialects to try, the best first. None when `$schema` names an unknown one. Without `$schema` it is 2020-12 (MCP
 * 2025-11-25, basic, JSON Schema Usage), or draft-07 when the schema is not valid in 2020-12, because older servers
 * do not name their dialect. Draft-06 and draft-04 mean the same as draft-07, except for keywords that Ajv refuses.
 */
export function dialectsOf(schema: JsonObject): readonly Dialect[] {
  const named = schema["$schema"];
  if (named === undefined) return [draft2020, draft07];
  switch (schemaKey(named)) {
    case "json-schema.org/draft/2020-12/schema":
      return [draft2020];
    case "json-schema.org/draft/2019-09/schema":
      return [draft2019];
    case "json-schema.org/draft-07/schema":
    case "json-schema.org/draft-06/schema":
    case "json-schema.org/draft-04/schema":
      return [draft07];
    default:
      return [];
  }
}

/** Whether `$schema` names draft-04. */
export function isDraft04(schema: JsonObject): boolean {
  return schemaKey(schema["$schema"]) === "json-schema.org/draft-04/schema";
}

function schemaKey(named: unknown): string | undefined {
  return typeof named === "string" ? named.replace(/^https?:\/\//, "").replace(/#$/, "") : undefined;
}
