import * as z from "zod";
import type { Route, RouteDescription } from "../route.ts";

export interface JsonSchema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
  readonly default?: unknown;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly items?: JsonSchema;
  readonly anyOf?: readonly JsonSchema[];
  readonly additionalProperties?: boolean | JsonSchema;
}

export interface ApiParameter {
  readonly in: "path" | "query" | "header";
  readonly name: string;
  readonly required: boolean;
  readonly description?: string;
  readonly schema: JsonSchema;
}

type Content = Readonly<Record<string, { readonly schema: JsonSchema }>>;

export interface ApiOperation {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly tags: readonly string[];
  readonly parameters?: readonly ApiParameter[];
  readonly requestBody?: { readonly required: true; readonly description?: string; readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly description: string; readonly content?: Content }>>;
}

/** OpenAPI 3.1, as far as this API uses it. */
export interface OpenApiDocument {
  readonly openapi: string;
  readonly info: { readonly title: string; readonly version: string; readonly description: string };
  /** The gateway's address as the reader of the document knows it. */
  readonly servers: readonly [{ readonly url: string }];
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
  readonly components: {
    readonly securitySchemes: Readonly<Record<string, object>>;
    /** The named schemas, each once. */
    readonly schemas: Readonly<Record<string, JsonSchema>>;
  };
  readonly paths: Readonly<Record<string, Readonly<Record<string, ApiOperation>>>>;
}

/** Describes the routes with the same schemas that check their parameters. `servers` is added for each reader. */
export function toOpenApi(routes: readonly Route[], version: string): Omit<OpenApiDocument, "servers"> {
  const schemas: Record<string, JsonSchema> = {};
  const paths: Record<string, Record<string, ApiOperation>> = {};
  for (const route of routes) {
    const { path, method, operation } = route;
    if (operation === undefined) continue;
    (paths[path] ??= {})[method.toLowerCase()] = toOperation(route, operation, schemas);
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Toolyard",
      version,
      description:
        "The tools and resources of all MCP servers of a gateway, for programs that do not speak MCP. Failures are problem details (RFC 9457) with the gateway's own code.",
    },
    security: [{}, { token: [] }],
    components: {
      securitySchemes: {
        token: {
          type: "http",
          scheme: "bearer",
          description: "Required unless the configuration has no tokens.",
        },
      },
      schemas,
    },
    paths,
  };
}

type Named = Record<string, JsonSchema>;

function toOperation({ params, query }: Route, operation: RouteDescription, named: Named): ApiOperation {
  const { id, tag, summary, description, headers, body, responses } = operation;
  const parameters = [
    ...toParameters("path", params, named),
    ...toParameters("query", query, named),
    ...toParameters("header", headers, named),
  ];
  return {
    operationId: id,
    summary,
    ...(description === undefined ? {} : { description }),
    tags: [tag],
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined ? {} : { requestBody: toBody(body, named) }),
    responses: Object.fromEntries(
      Object.entries(responses).map(([status, { description: meaning, content }]) => [
        status,
        { description: meaning, ...(content === undefined ? {} : { content: toContent(content, named) }) },
      ]),
    ),
  };
}

function toParameters(place: ApiParameter["in"], schema: z.ZodObject | undefined, named: Named): ApiParameter[] {
  if (schema === undefined) return [];
  const { properties = {}, required = [] } = toJsonSchema(schema, "input", named);
  return Object.entries(properties).map(([name, { description, ...rest }]) => ({
    in: place,
    name,
    required: required.includes(name),
    ...(description === undefined ? {} : { description }),
    schema: rest,
  }));
}

function toBody(body: z.ZodType, named: Named): NonNullable<ApiOperation["requestBody"]> {
  const schema = toJsonSchema(body, "input", named);
  const { description } = schema;
  return {
    required: true,
    ...(description === undefined ? {} : { description }),
    content: { "application/json": { schema } },
  };
}

function toContent(content: Readonly<Record<string, z.ZodType>>, named: Named): Content {
  return Object.fromEntries(
    Object.entries(content).map(([type, schema]) => [type, { schema: toJsonSchema(schema, "output", named) }]),
  );
}

/** Named schemas become components, and uses of them become references. */
function toJsonSchema(schema: z.ZodType, io: "input" | "output", named: Named): JsonSchema {
  const text = JSON.stringify(z.toJSONSchema(schema, { io })).replaceAll(
    '"$ref":"#/$defs/',
    '"$ref":"#/components/schemas/',
  );
  const { $schema: _dialect, $defs, ...rest } = JSON.parse(text) as JsonSchema & { $schema: string; $defs?: Named };
  Object.assign(named, $defs);
  return rest;
}
