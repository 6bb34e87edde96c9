import { shellWord } from "./words.ts";

type Schema = Readonly<Record<string, unknown>>;

export interface ApiParameter {
  readonly in: "path" | "query" | "header";
  readonly name: string;
  readonly required: boolean;
  readonly description?: string;
  readonly schema: Schema;
}

type Content = Readonly<Record<string, { readonly schema: Schema }>>;

/** One operation as the description of the REST API has it. */
export interface ApiOperation {
  readonly operationId: string;
  readonly summary: string;
  readonly tags: readonly string[];
  readonly description?: string;
  readonly parameters?: readonly ApiParameter[];
  readonly requestBody?: { readonly description?: string; readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly description: string; readonly content?: Content }>>;
}

/** OpenAPI, as far as the page of the API reads it. */
export interface OpenApi {
  readonly info: { readonly version: string };
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
  readonly paths: Readonly<Record<string, Readonly<Record<string, ApiOperation>>>>;
}

/** An operation with where it is. */
export interface ApiRoute extends ApiOperation {
  readonly path: string;
  /** `GET` */
  readonly method: string;
}

/** All operations, as they stand in the description. */
export function routesOf({ paths }: OpenApi): readonly ApiRoute[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), ...operation })),
  );
}

const place = "#/components/schemas/";

/** The schema by itself: the schemas that it refers to are in it, where a form looks for them. */
export function standalone(schema: Schema, { components: { schemas } }: Pick<OpenApi, "components">): Schema {
  const needed = new Map<string, Schema>();
  const take = (part: Schema): Schema => {
    const text = JSON.stringify(part);
    for (const [, name = ""] of text.matchAll(/"#\/components\/schemas\/([^"]+)"/g)) {
      const found = schemas[name];
      if (found === undefined || needed.has(name)) continue;
      // Before what it refers to, which may be itself.
      needed.set(name, {});
      needed.set(name, take(found));
    }
    return JSON.parse(text.replaceAll(`"${place}`, '"#/$defs/')) as Schema;
  };
  const own = take(named(schema, schemas));
  return needed.size === 0 ? own : { ...own, $defs: Object.fromEntries(needed) };
}

/** What a schema that only refers to another one means. */
function named(schema: Schema, schemas: OpenApi["components"]["schemas"]): Schema {
  const reference = schema["$ref"];
  if (typeof reference !== "string" || !reference.startsWith(place)) return schema;
  return schemas[reference.slice(place.length)] ?? schema;
}

/** The values that a parameter can have, where they are few and known. */
export function choicesOf({ schema }: ApiParameter): readonly string[] | undefined {
  if (schema["type"] === "boolean") return ["true", "false"];
  const values = schema["enum"];
  return Array.isArray(values) ? values.map(String) : undefined;
}

/** Media types that a success can be asked for in, the usual one first. */
export function answerTypes({ responses }: ApiOperation): readonly string[] {
  const [, success] = Object.entries(responses).find(([status]) => status.startsWith("2")) ?? [];
  return Object.keys(success?.content ?? {});
}

/** What somebody filled in, by place and name; empty values are not sent. */
export type ApiValues = Readonly<Record<string, string>>;

/** The key of a parameter's value: one name may stand in several places. */
export function valueKey({ in: where, name }: Pick<ApiParameter, "in" | "name">): string {
  return `${where} ${name}`;
}

/** The address with its parameters, below the gateway's own. */
export function pathOf({ path, parameters = [] }: ApiRoute, values: ApiValues): string {
  let filled = path;
  const query = new URLSearchParams();
  for (const parameter of parameters) {
    const value = values[valueKey(parameter)] ?? "";
    if (parameter.in === "path") filled = filled.replace(`{${parameter.name}}`, () => encodeURIComponent(value));
    else if (parameter.in === "query" && value !== "") query.append(parameter.name, value);
  }
  return query.size === 0 ? filled : `${filled}?${query.toString()}`;
}

/** Headers that somebody filled in, and how the answer is to be written. */
export function headersOf(
  { parameters = [] }: ApiOperation,
  values: ApiValues,
  type: string | undefined,
): Readonly<Record<string, string>> {
  const given = parameters
    .filter((one) => one.in === "header" && (values[valueKey(one)] ?? "") !== "")
    .map((one) => [one.name, values[valueKey(one)] ?? ""] as const);
  return { ...(type === undefined ? {} : { Accept: type }), ...Object.fromEntries(given) };
}

interface Sent {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

/** The same request in a terminal, where a token has to be added if the gateway asks for one. */
export function toCurl({ method, url, headers, body }: Sent): string {
  const all = { ...headers, ...(method === "GET" ? {} : { "Content-Type": "application/json" }) };
  return [
    ...["curl", ...(method === "GET" ? [] : ["-X", method]), shellWord(url)],
    ...Object.entries(all).flatMap(([name, value]) => ["-H", shellWord(`${name}: ${value}`)]),
    // Line breaks of a body are part of it, and mean nothing between quotes.
    ...(body === undefined ? [] : ["-d", `'${body.replaceAll("'", String.raw`'\''`)}'`]),
  ].join(" ");
}
