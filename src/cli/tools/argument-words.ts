import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import { isJsonObject, type JsonObject, parseJson } from "../../kernel/text/json-bytes.ts";

/** Reads a file that `key=@file` names, as text. Rejects with CONFIG_INVALID. */
export type ReadArgumentFile = (path: string) => Promise<string>;

/** An object that is being put together: its members are JSON texts, objects like this, or lists of texts. */
type Node = Map<string, string | Node | string[]>;

const assignment = /^([^=]*?[^=:])(:?=)(.*)$/s;
const numberText = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
const integerText = /^-?(?:0|[1-9]\d*)$/;

/**
 * The JSON text of the arguments that words such as `title=Hello`, `labels=bug`, `filter.state=open`, `n:=7` and
 * `body=@notes.txt` stand for. The tool's schema decides which are numbers, lists and so on. A number is written as it
 * was typed, and never becomes one of JavaScript's. Rejects with CONFIG_INVALID, which names the word.
 */
export async function toArgumentsText(
  words: readonly string[],
  schema: JsonObject,
  readFile: ReadArgumentFile,
): Promise<string> {
  const root: Node = new Map();
  for (const word of words) {
    const [, name = "", operator, value = ""] = assignment.exec(word) ?? [];
    if (name === "") throw refuse(word, "is no argument", "Write name=value, name:=JSON, or one JSON object.");
    const keys = keysOf(name, schema);
    const types = typesOf(schema, schemaAt(schema, keys));
    if (operator === ":=") {
      place(root, keys, { word, text: readJson(word, value), isList: false, types });
      continue;
    }
    const given = await valueOf(value, readFile);
    place(root, keys, { word, text: toText(given, types), isList: isListItem(given, types), types });
  }
  return writeNode(root);
}

/** A name with dots in it that the schema knows as it is stays one name. */
function keysOf(name: string, schema: JsonObject): readonly string[] {
  return propertySchema(schema, schema, name) === undefined ? name.split(".") : [name];
}

function schemaAt(root: JsonObject, keys: readonly string[]): JsonObject {
  return keys.reduce<JsonObject>((schema, key) => propertySchema(root, schema, key) ?? {}, root);
}

async function valueOf(value: string, readFile: ReadArgumentFile): Promise<string> {
  return value.startsWith("@") && value.length > 1 ? await readFile(value.slice(1)) : value;
}

function readJson(word: string, text: string): string {
  if (parseJson(text) === undefined)
    throw refuse(word, "is not followed by JSON", "Quote it for the shell: n:='{\"a\":1}'");
  return text;
}

/** Whether a value is one of a list, and not a list that was written as JSON. */
function isListItem(value: string, { kinds }: ValueTypes): boolean {
  return kinds.has("array") && !kinds.has("string") && !Array.isArray(parseJson(value));
}

function toText(value: string, types: ValueTypes): string {
  const { kinds, choices, items } = types;
  const choice = choices.find((one) => String(one) === value);
  if (choice !== undefined) return JSON.stringify(choice);
  const parsed = parseJson(value);
  if (kinds.size === 0) return isBareJson(value, parsed) ? value : JSON.stringify(value);
  if (kinds.has("string")) return JSON.stringify(value);
  if (kinds.has("number") && numberText.test(value)) return value;
  if (kinds.has("integer") && integerText.test(value)) return value;
  if (kinds.has("boolean") && (value === "true" || value === "false")) return value;
  if (kinds.has("null") && value === "null") return value;
  if (kinds.has("object") && isJsonObject(parsed)) return value;
  if (kinds.has("array")) return Array.isArray(parsed) ? value : toText(value, items());
  // The check of the arguments says what was expected.
  return JSON.stringify(value);
}

/** Where no type is known: a text that can only be meant as JSON. */
function isBareJson(text: string, parsed: unknown): boolean {
  return parsed !== undefined && typeof parsed !== "string" && text.trim() === text;
}

interface Placed {
  readonly word: string;
  readonly text: string;
  readonly isList: boolean;
  readonly types: ValueTypes;
}

function place(root: Node, keys: readonly string[], { word, text, isList, types }: Placed): void {
  let node = root;
  for (const key of keys.slice(0, -1)) {
    const next = node.get(key) ?? new Map<string, string | Node | string[]>();
    if (!(next instanceof Map)) throw refuse(word, "is inside of what already has a value", "Give it only once.");
    node.set(key, next);
    node = next;
  }
  const last = keys.at(-1) ?? "";
  const known = node.get(last);
  if (Array.isArray(known)) known.push(text);
  else if (known === undefined) node.set(last, isList ? [text] : text);
  else if (typeof known === "string" && types.kinds.size === 0) node.set(last, [known, text]);
  else throw refuse(word, "was given already", "Only lists can be given several times.");
}

function writeNode(node: Node): string {
  const members = [...node].map(([key, value]) => {
    const text = value instanceof Map ? writeNode(value) : Array.isArray(value) ? `[${value.join(",")}]` : value;
    return `${JSON.stringify(key)}:${text}`;
  });
  return `{${members.join(",")}}`;
}

function refuse(word: string, what: string, hint: string): GatewayError {
  return new GatewayError("CONFIG_INVALID", `${JSON.stringify(word.slice(0, 100))} ${what}`, { hint });
}

/** What a schema allows for one value, as far as it says so simply. */
interface ValueTypes {
  /** Empty where it says nothing. */
  readonly kinds: ReadonlySet<string>;
  /** The values that it lists. */
  readonly choices: readonly unknown[];
  /** What it allows for the items of a list. */
  readonly items: () => ValueTypes;
}

/** References and alternatives that are followed: schemas may be circular. */
const deepest = 20;

/** The allowed types, alternatives and references within the document included. */
function typesOf(root: JsonObject, schema: JsonObject): ValueTypes {
  const all = alternatives(root, schema, 0);
  const listed = all.flatMap((one) => [...listOf(one["enum"]), ...(Object.hasOwn(one, "const") ? [one["const"]] : [])]);
  return {
    kinds: new Set(all.flatMap(kindsOf)),
    choices: listed.filter((value) => typeof value !== "object" || value === null),
    items() {
      const items = all.map((one) => one["items"]).find(isJsonObject);
      return typesOf(root, items ?? {});
    },
  };
}

/** The schema of a property; undefined where it has none of its own. */
function propertySchema(root: JsonObject, schema: JsonObject, name: string): JsonObject | undefined {
  for (const { properties } of alternatives(root, schema, 0)) {
    if (!isJsonObject(properties) || !Object.hasOwn(properties, name)) continue;
    const found = properties[name];
    return isJsonObject(found) ? found : {};
  }
  return undefined;
}

function alternatives(root: JsonObject, schema: JsonObject, depth: number): readonly JsonObject[] {
  if (depth > deepest) return [];
  const target = typeof schema["$ref"] === "string" ? lookUp(root, schema["$ref"]) : undefined;
  const others = ["anyOf", "oneOf", "allOf"].flatMap((key) => listOf(schema[key]).filter(isJsonObject));
  return [
    schema,
    ...(target === undefined ? [] : alternatives(root, target, depth + 1)),
    ...others.flatMap((one) => alternatives(root, one, depth + 1)),
  ];
}

/** A JSON pointer into the same document (RFC 6901). */
function lookUp(root: JsonObject, reference: string): JsonObject | undefined {
  if (!reference.startsWith("#")) return undefined;
  let found: unknown = root;
  for (const key of reference.slice(1).split("/").slice(1)) {
    const name = key.replaceAll("~1", "/").replaceAll("~0", "~");
    found = isJsonObject(found) && Object.hasOwn(found, name) ? found[name] : undefined;
  }
  return isJsonObject(found) ? found : undefined;
}

function kindsOf({ type }: JsonObject): readonly string[] {
  return typeof type === "string" ? [type] : listOf(type).filter((one) => typeof one === "string");
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
