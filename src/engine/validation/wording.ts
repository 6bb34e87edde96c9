import { isJsonObject } from "../../kernel/text/json-bytes.ts";

/** A fault of a value, in words that a model can act on. Contains names and numbers of the value, never its texts. */
export interface Problem {
  /** Where: `labels[0].name`, or empty for the whole value. For a missing or unknown field, that field's own path. */
  readonly path: string;
  /** One sentence of at most 300 characters. */
  readonly message: string;
}

const messageLimit = 300;
const nameLimit = 60;
const listLimit = 200;
/** Names that an error about an unknown field lists. */
export const namedFieldLimit = 20;

/** One complaint of a value, in the form in which Ajv reports it: tests compare the two. */
export interface Fault {
  readonly keyword: string;
  readonly params: Readonly<Record<string, unknown>>;
  /** A JSON pointer to the wrong value. */
  readonly instancePath: string;
}

/** Words one complaint as a sentence. */
export function word(error: Fault, value: unknown): Problem {
  const path = toDotted(error.instancePath);
  const { params } = error;
  switch (error.keyword) {
    case "required":
      return problem(
        member(path, params["missingProperty"]),
        `missing required ${quoted(member(path, params["missingProperty"]))}`,
      );
    case "dependentRequired":
    case "dependencies":
      return problem(
        member(path, params["missingProperty"]),
        `missing ${quoted(member(path, params["missingProperty"]))}, required when ` +
          `${quoted(member(path, params["property"]))} is given`,
      );
    case "additionalProperties":
      return unknownField(path, params["additionalProperty"], params["allowed"]);
    case "unevaluatedProperties":
      return unknownField(path, params["unevaluatedProperty"], undefined);
    case "type":
      return problem(path, `${subject(path)} must be ${joined(typesOf(error).map(withArticle))}`, gotAt(error, value));
    case "enum":
      return problem(
        path,
        `${subject(path)} must be one of ${list((params["allowedValues"] as unknown[]).map(shown))}`,
      );
    case "const":
      return problem(path, `${subject(path)} must be ${shown(params["allowedValue"])}`);
    default:
      return problem(path, `${subject(path)} ${demand(error.keyword, params)}`);
  }
}

/** What a keyword demands of the value, worded to follow the value's name. */
function demand(keyword: string, params: Readonly<Record<string, unknown>>): string {
  const limit = String(params["limit"]);
  switch (keyword) {
    case "minimum":
    case "maximum":
    case "exclusiveMinimum":
    case "exclusiveMaximum":
      return `must be ${String(params["comparison"])} ${limit}`;
    case "multipleOf":
      return `must be a multiple of ${String(params["multipleOf"])}`;
    case "minLength":
      return `must have at least ${limit} characters`;
    case "maxLength":
      return `must have at most ${limit} characters`;
    case "minItems":
      return `must have at least ${limit} items`;
    case "maxItems":
    case "items":
    case "additionalItems":
    case "unevaluatedItems":
      return `must have at most ${limit === "undefined" ? String(params["len"]) : limit} items`;
    case "minProperties":
      return `must have at least ${limit} fields`;
    case "maxProperties":
      return `must have at most ${limit} fields`;
    case "pattern":
      return `must match the pattern ${cut(String(params["pattern"]), listLimit)}`;
    case "uniqueItems":
      return `must not hold the same item twice (items ${[params["i"], params["j"]]
        .map(Number)
        .sort((a, b) => a - b)
        .join(" and ")})`;
    case "contains":
      return "lacks an item that it must contain";
    case "oneOf":
      return "fits more than one of the forms of which it may have only one";
    case "propertyNames":
      return `has a field name that is not allowed: ${quoted(String(params["propertyName"]))}`;
    case "false schema":
      return "is not allowed here";
    default:
      return `does not fit the schema (${cut(keyword, nameLimit)})`;
  }
}

function unknownField(path: string, name: unknown, allowed: unknown): Problem {
  const field = member(path, name);
  const names = Array.isArray(allowed) ? allowed.map(String) : undefined;
  const hint = names === undefined ? "" : names.length > 0 ? ` (allowed: ${list(names)})` : " (none allowed)";
  return problem(field, `unknown field ${quoted(field)}${hint}`);
}

export function typesOf(error: Fault): string[] {
  const type: unknown = error.params["type"];
  return Array.isArray(type) ? type.map(String) : String(type).split(",");
}

export function withArticle(type: string): string {
  if (type === "null") return type;
  return /^[aio]/.test(type) ? `an ${type}` : `a ${type}`;
}

/** `, got number`: the type of the actual value, and for a number also the number. */
export function gotAt(error: Fault, root: unknown): string {
  const value = atPointer(root, error.instancePath);
  if (typeof value === "number") return error.params["type"] === "integer" ? `, got ${String(value)}` : ", got number";
  if (value === null) return ", got null";
  return `, got ${Array.isArray(value) ? "array" : typeof value}`;
}

export function problem(path: string, message: string, tail = ""): Problem {
  return { path: cut(path, listLimit), message: cut(message, messageLimit - tail.length) + tail };
}

export function subject(path: string): string {
  return path === "" ? "the value" : quoted(path);
}

function member(path: string, name: unknown): string {
  return path === "" ? String(name) : `${path}.${String(name)}`;
}

export function quoted(name: string): string {
  return `\`${cut(name, nameLimit)}\``;
}

export function shown(value: unknown): string {
  return cut(JSON.stringify(value), nameLimit);
}

export function joined(choices: readonly string[]): string {
  const distinct = [...new Set(choices)];
  return cut(distinct.join(" or "), listLimit);
}

/** `a, b, c`, ending in `...` where the whole list would be too long. */
export function list(items: readonly string[]): string {
  let text = "";
  for (const item of items) {
    const next = text === "" ? cut(item, nameLimit) : `${text}, ${cut(item, nameLimit)}`;
    if (next.length > listLimit) return `${text}, ...`;
    text = next;
  }
  return text;
}

function cut(text: string, limit: number): string {
  return text.length <= limit ? text : `${text.slice(0, limit - 3)}...`;
}

/** The value at a JSON pointer (RFC 6901). Undefined when there is none. */
export function atPointer(root: unknown, pointer: string): unknown {
  let value = root;
  for (const key of keysOf(pointer)) {
    if (Array.isArray(value)) value = value[Number(key)];
    else if (isJsonObject(value) && Object.hasOwn(value, key)) value = value[key];
    else return undefined;
  }
  return value;
}

/** `/labels/0/name` as people write it: `labels[0].name`. */
export function toDotted(pointer: string): string {
  let path = "";
  for (const key of keysOf(pointer)) {
    if (/^\d+$/.test(key)) path += `[${key}]`;
    else path += path === "" ? key : `.${key}`;
  }
  return path;
}

function keysOf(pointer: string): string[] {
  if (pointer === "") return [];
  return pointer
    .slice(1)
    .split("/")
    .map((key) => key.replaceAll("~1", "/").replaceAll("~0", "~"));
}
