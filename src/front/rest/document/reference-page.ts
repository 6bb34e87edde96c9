import { escapeHtml } from "../../web/pages/page.ts";
import { prefixOf } from "../../http/public-url.ts";
import type { ApiOperation, ApiParameter, JsonSchema, OpenApiDocument } from "./openapi.ts";

const componentPrefix = "#/components/schemas/";

/** A schema as a short type: `string[]`, `"a" | "b"`, or a link when it has a name. */
function toTypeHtml(schema: JsonSchema): string {
  const { $ref, enum: values, anyOf, items, type } = schema;
  if ($ref !== undefined) {
    const name = escapeHtml($ref.slice(componentPrefix.length));
    return `<a href="#schema-${name}">${name}</a>`;
  }
  if (values !== undefined) return values.map((value) => `<code>${escapeHtml(String(value))}</code>`).join(" or ");
  if (anyOf !== undefined) return anyOf.map(toTypeHtml).join(" or ");
  if (items !== undefined) return `list of ${toTypeHtml(items)}`;
  const { additionalProperties: others } = schema;
  if (type === "object" && typeof others === "object" && Object.keys(others).length > 0)
    return `object of ${toTypeHtml(others)}`;
  const name = type === undefined ? "anything" : [type].flat().join(" or ");
  return `${escapeHtml(name)}${toLimits(schema)}`;
}

function toLimits({ minimum, maximum, maxLength, default: standard }: JsonSchema): string {
  const notes = [
    // A limit that applies to every safe integer of JavaScript is not worth mentioning.
    ...(minimum !== undefined && minimum > Number.MIN_SAFE_INTEGER ? [`at least ${minimum}`] : []),
    ...(maximum !== undefined && maximum < Number.MAX_SAFE_INTEGER ? [`at most ${maximum}`] : []),
    ...(maxLength === undefined ? [] : [`at most ${maxLength} characters`]),
    ...(standard === undefined ? [] : [`default ${JSON.stringify(standard)}`]),
  ];
  return notes.length === 0 ? "" : ` <small>(${escapeHtml(notes.join(", "))})</small>`;
}

interface Property {
  /** `metadata.loadedAt`. Brackets stand for the elements of a list. */
  readonly path: string;
  readonly required: boolean;
  /** As HTML. */
  readonly type: string;
  readonly description: string;
}

/** The members of a schema and of its unnamed parts, each with its path. */
function toProperties(schema: JsonSchema, prefix = ""): readonly Property[] {
  if (schema.items !== undefined) return toProperties(schema.items, `${prefix}[]`);
  return Object.entries(schema.properties ?? {}).flatMap(([name, member]) => {
    const path = prefix === "" ? name : `${prefix}.${name}`;
    const required = schema.required?.includes(name) === true;
    const own = { path, required, type: toTypeHtml(member), description: member.description ?? "" };
    return [own, ...toProperties(member, path)];
  });
}

interface Described {
  readonly path: string;
  readonly method: string;
  readonly operation: ApiOperation;
}

interface PageOptions {
  /** Whether the examples send a token. */
  readonly needsToken: boolean;
}

/**
 * The OpenAPI document as a page for people: operations by tag, with parameters, answers and a command to try,
 * followed by all schemas.
 */
export function toReferencePage(document: OpenApiDocument, options: PageOptions): string {
  const { info, components, servers } = document;
  const prefix = escapeHtml(prefixOf(servers[0].url));
  const groups = byTag(document);
  const sections = [...groups].map(
    ([tag, operations]) =>
      `<h2>${escapeHtml(tag)}</h2>${operations.map((described) => toSection(described, options)).join("")}`,
  );
  const schemas = Object.entries(components.schemas).map(([name, schema]) => toSchemaSection(name, schema));
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${escapeHtml(info.title)} API</title><link rel="stylesheet" href="${prefix}/documentation/style.css"></head>
<body>${toNavigation(groups, Object.keys(components.schemas))}
<main><h1>${escapeHtml(info.title)} API <small>${escapeHtml(info.version)}</small></h1>
<p>${withCode(info.description)}</p>${toPreparation(prefix, options)}
${sections.join("\n")}
<h2>Schemas</h2>${schemas.join("\n")}</main></body></html>
`;
}

function byTag({ paths }: OpenApiDocument): ReadonlyMap<string, readonly Described[]> {
  const groups = new Map<string, Described[]>();
  for (const [path, methods] of Object.entries(paths))
    for (const [method, operation] of Object.entries(methods)) {
      const [tag = ""] = operation.tags;
      const group = groups.get(tag) ?? [];
      groups.set(tag, [...group, { path, method: method.toUpperCase(), operation }]);
    }
  return groups;
}

function toNavigation(groups: ReadonlyMap<string, readonly Described[]>, schemas: readonly string[]): string {
  const list = (title: string, links: readonly string[]): string =>
    `<strong>${escapeHtml(title)}</strong><ul>${links.map((link) => `<li>${link}</li>`).join("")}</ul>`;
  const operations = [...groups].map(([tag, group]) =>
    list(
      tag,
      group.map(({ operation }) => `<a href="#${operation.operationId}">${escapeHtml(operation.summary)}</a>`),
    ),
  );
  const named = schemas.map((name) => `<a href="#schema-${name}">${name}</a>`);
  return `<nav>${operations.join("")}${list("Schemas", named)}</nav>`;
}

function toPreparation(prefix: string, { needsToken }: PageOptions): string {
  const token = needsToken ? ", and <code>TOKEN</code> to your token" : "";
  return `<p>The same as a file for generators of clients: <a href="${prefix}/openapi.json">OpenAPI 3.1</a>.
To try the examples, set <code>TOOLYARD</code> to the address of this page without <code>/documentation</code>${token}.</p>`;
}

function toSection({ path, method, operation }: Described, options: PageOptions): string {
  const { operationId, summary, description, parameters = [], requestBody, responses } = operation;
  const body = requestBody?.content["application/json"]?.schema;
  return `<section id="${operationId}"><h3>${escapeHtml(summary)}</h3>
<p><code><strong>${method}</strong> ${escapeHtml(path)}</code></p>
${description === undefined ? "" : `<p>${withCode(description)}</p>`}
<pre>${escapeHtml(toCommand({ path, method, operation }, options))}</pre>
${parameters.length === 0 ? "" : toTable(["Parameter", "In", "Type", ""], parameters.map(toParameterRow))}
${body === undefined ? "" : `<p>Body: ${toTypeHtml(body)}. ${withCode(requestBody?.description ?? "")}</p>`}
${toTable(["Status", "Body", ""], Object.entries(responses).map(toResponseRow))}</section>`;
}

/** A command for a shell. Values to fill in are in capital letters. */
function toCommand({ path, method, operation }: Described, { needsToken }: PageOptions): string {
  const required = (operation.parameters ?? []).filter((parameter) => parameter.in === "query" && parameter.required);
  const query = required.map(({ name }) => `${name}=${toPlaceholder(name)}`).join("&");
  const filled = path.replace(/\{([^}]+)\}/g, (_braces, name: string) => toPlaceholder(name));
  return [
    `curl ${method === "GET" ? "" : `-X ${method} `}"$TOOLYARD${filled}${query === "" ? "" : `?${query}`}"`,
    ...(needsToken ? ['-H "Authorization: Bearer $TOKEN"'] : []),
    ...(method === "GET" ? [] : ["-H 'Content-Type: application/json'"]),
    ...(operation.requestBody === undefined ? [] : ["-d '{}'"]),
  ].join(" \\\n  ");
}

function toPlaceholder(name: string): string {
  return name.toUpperCase();
}

function toParameterRow({ name, in: place, required, schema, description }: ApiParameter): readonly string[] {
  const label = `<code>${escapeHtml(name)}</code>${required ? " (required)" : ""}`;
  return [label, place, toTypeHtml(schema), withCode(description ?? "")];
}

function toResponseRow([status, { description, content }]: [
  string,
  ApiOperation["responses"][string],
]): readonly string[] {
  const bodies = Object.entries(content ?? {}).map(
    ([type, { schema }]) => `${toTypeHtml(schema)} <small>${type}</small>`,
  );
  return [status, bodies.join("<br>"), withCode(description)];
}

function toSchemaSection(name: string, schema: JsonSchema): string {
  const rows = toProperties(schema).map(({ path, required, type, description }) => [
    `<code>${escapeHtml(path)}</code>${required ? "" : " (optional)"}`,
    type,
    withCode(description),
  ]);
  return `<section id="schema-${name}"><h3>${name}</h3><p>${withCode(schema.description ?? "")}</p>${
    rows.length === 0 ? `<p>${toTypeHtml(schema)}</p>` : toTable(["Member", "Type", ""], rows)
  }</section>`;
}

/** The cells already are HTML. */
function toTable(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[], tag: "td" | "th"): string =>
    `<tr>${cells.map((cell) => `<${tag}>${cell}</${tag}>`).join("")}</tr>`;
  return `<table><thead>${line(heads, "th")}</thead><tbody>${rows.map((row) => line(row, "td")).join("")}</tbody></table>`;
}

/** Turns the backquotes in plain text into code elements. */
function withCode(text: string): string {
  return escapeHtml(text).replace(/`([^`]*)`/g, "<code>$1</code>");
}
