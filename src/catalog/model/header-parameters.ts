import { isJsonObject, type JsonObject } from "../../kernel/text/json-bytes.ts";

/**
 * A parameter whose value is repeated in an HTTP header (2026-07-28, streamable-http, "Custom Headers from Tool
 * Parameters").
 */
export interface HeaderParameter {
  /** The part of the header's name after `Mcp-Param-`. */
  readonly name: string;
  /** Names of the properties that lead to the parameter. */
  readonly path: readonly string[];
}

const token = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const mirrored: ReadonlySet<unknown> = new Set(["integer", "string", "boolean"]);
/** Work limit: at most this many nodes of a schema are searched. */
const nodeLimit = 20_000;

/** The header parameters of a schema whose annotations are all valid. */
export function headerParameters(schema: JsonObject): readonly HeaderParameter[] {
  const found: HeaderParameter[] = [];
  collect(schema, [], found);
  return found;
}

/**
 * The value to be repeated in the header. Undefined when it is absent, null or of another type: no header is then
 * expected.
 */
export function mirroredValue(path: readonly string[], args: unknown): string | number | boolean | undefined {
  let at: unknown = args;
  for (const key of path) at = isJsonObject(at) && Object.hasOwn(at, key) ? at[key] : undefined;
  return typeof at === "string" || typeof at === "number" || typeof at === "boolean" ? at : undefined;
}

/**
 * Why the tool must not be offered over HTTP because of its `x-mcp-header` annotations. Undefined when all are valid
 * (fault 45).
 */
export function faultyHeaderParameter(schema: JsonObject): string | undefined {
  const reachable: Array<{ owner: JsonObject; name: unknown }> = [];
  collectAnnotated(schema, reachable, 0);
  const names = new Set<string>();
  for (const { owner, name } of reachable) {
    if (typeof name !== "string" || !token.test(name))
      return `its x-mcp-header ${JSON.stringify(name)?.slice(0, 60)} is no header name`;
    if (!mirrored.has(owner["type"]))
      return `its x-mcp-header ${name} stands on a parameter that is no integer, string or boolean`;
    if (names.has(name.toLowerCase())) return `its x-mcp-header ${name} stands twice`;
    names.add(name.toLowerCase());
  }
  if (countAnnotations(schema) > reachable.length)
    return "an x-mcp-header stands where it cannot be reached by property names alone";
  return undefined;
}

function collect(schema: JsonObject, path: readonly string[], found: HeaderParameter[]): void {
  const name = schema["x-mcp-header"];
  if (typeof name === "string") found.push({ name, path });
  const properties = schema["properties"];
  if (!isJsonObject(properties) || path.length > 16) return;
  for (const key of Object.keys(properties)) {
    const child = properties[key];
    if (isJsonObject(child)) collect(child, [...path, key], found);
  }
}

function collectAnnotated(schema: JsonObject, found: Array<{ owner: JsonObject; name: unknown }>, depth: number): void {
  if (depth > 0 && Object.hasOwn(schema, "x-mcp-header")) found.push({ owner: schema, name: schema["x-mcp-header"] });
  const properties = schema["properties"];
  if (!isJsonObject(properties) || depth > 16) return;
  for (const child of Object.values(properties)) {
    if (isJsonObject(child)) collectAnnotated(child, found, depth + 1);
  }
}

/**
 * Counts annotations wherever a schema may stand, also below items, anyOf and the like. Properties that merely have
 * this name do not count.
 */
function countAnnotations(schema: JsonObject): number {
  let count = 0;
  let visited = 0;
  const open: Array<{ node: unknown; named: boolean }> = [{ node: schema, named: false }];
  while (open.length > 0 && visited < nodeLimit) {
    const next = open.pop();
    if (next === undefined) break;
    visited += 1;
    const { node, named } = next;
    if (Array.isArray(node)) {
      for (const child of node) open.push({ node: child, named: false });
    } else if (isJsonObject(node)) {
      if (!named && Object.hasOwn(node, "x-mcp-header")) count += 1;
      for (const key of Object.keys(node))
        open.push({
          node: node[key],
          named: !named && (key === "properties" || key === "$defs" || key === "definitions"),
        });
    }
  }
  return count;
}
