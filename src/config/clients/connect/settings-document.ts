import { isJsonObject } from "../../../kernel/text/json-bytes.ts";
import { parseDocument, type Document, type Path } from "../../file/document.ts";
import { InvalidConfig } from "../../file/problems.ts";
import type { ClientFormat } from "../table/client-row.ts";

/**
 * Parses a client's file, whatever it is written in, into a document that knows the place of everything in it. A file
 * with nothing but white space is an empty object, because some clients make such files. The parsers of TOML and YAML
 * are loaded when a file needs them. Rejects with InvalidConfig, which names places and never a value.
 */
export async function parseSettings(text: string, fileName: string, format: ClientFormat): Promise<Document> {
  const source = text.replace(/^\uFEFF/, "");
  if (source.trim() === "") return parseDocument("{}", fileName);
  if (format === "toml") return await parseToml(source, fileName);
  if (format === "yaml") return await parseYaml(source, fileName);
  return parseDocument(source, fileName);
}

async function parseToml(source: string, fileName: string): Promise<Document> {
  const { parse, TomlError } = await import("smol-toml");
  try {
    const root = parse(source, { maxDepth: mostLevels });
    return plainDocument(root, fileName, (path) => `${fileName}${lineOfTable(source, path)}`);
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    // The rest of the message shows the line, and a secret may stand in it.
    const [why = "not TOML"] = error.message.split("\n");
    throw new InvalidConfig([
      `${fileName}:${error.line}:${error.column}: ${why.replace("Invalid TOML document: ", "")}`,
    ]);
  }
}

/**
 * Where the table of this path begins, as `:line`, or an empty text. The parser does not tell, so that the headers are
 * searched for: `[mcp_servers.github]` and `[mcp_servers."my server"]`.
 */
function lineOfTable(source: string, path: Path): string {
  const lines = source.split("\n");
  for (let length = path.length; length > 0; length -= 1) {
    const wanted = path.slice(0, length).map(String).join("\0");
    const at = lines.findIndex((line) => headerPath(line) === wanted);
    if (at !== -1) return `:${at + 1}`;
  }
  return "";
}

function headerPath(line: string): string | undefined {
  const header = /^[ \t]*\[([^[\]]{1,400})\][ \t\r]*(?:#.*)?$/.exec(line)?.[1];
  if (header === undefined) return undefined;
  const steps = header.match(/"[^"]*"|'[^']*'|[^.\s"']+/g) ?? [];
  return steps.map((step) => step.replace(/^(["'])(.*)\1$/, "$2")).join("\0");
}

async function parseYaml(source: string, fileName: string): Promise<Document> {
  const { LineCounter, parseDocument: parse, isNode } = await import("./yaml-library.ts");
  const lines = new LineCounter();
  const placeAt = (offset: number): string => {
    const { line, col } = lines.linePos(offset);
    return `${fileName}:${Math.max(line, 1)}:${Math.max(col, 1)}`;
  };
  try {
    const parsed = parse(source, { lineCounter: lines, prettyErrors: false });
    const [wrong] = parsed.errors;
    if (wrong !== undefined) throw new InvalidConfig([`${placeAt(wrong.pos[0])}: ${wrong.message}`]);
    // Aliases may stand for each other again and again, so that a short file becomes an endless value.
    const root: unknown = parsed.toJS({ maxAliasCount: 100 });
    return plainDocument(root ?? {}, fileName, (path) => {
      for (let length = path.length; length > 0; length -= 1) {
        const node: unknown = parsed.getIn(path.slice(0, length), true);
        if (isNode(node) && node.range) return placeAt(node.range[0]);
      }
      return fileName;
    });
  } catch (error) {
    if (error instanceof InvalidConfig) throw error;
    const why = error instanceof RangeError ? "nested too deeply" : "has too many aliases";
    throw new InvalidConfig([`${fileName}:1:1: ${why}`], error);
  }
}

/** Real files nest six levels. */
const mostLevels = 64;

/** A document over a parsed value whose parser has already refused keys that stand there twice. */
function plainDocument(root: unknown, fileName: string, place: (path: Path) => string): Document {
  if (!isJsonObject(root)) throw new InvalidConfig([`${fileName}:1:1: expected keys with values`]);
  refuseDepth(root, fileName, 0);
  const at = (path: Path): unknown => {
    let value: unknown = root;
    for (const step of path) {
      if (typeof value !== "object" || value === null || !Object.hasOwn(value, step)) return undefined;
      value = (value as Readonly<Record<string | number, unknown>>)[step];
    }
    return value;
  };
  return {
    fileName,
    wrongKeys: [],
    wrongKeysIn: () => [],
    // Values of other programs' files are never read whole.
    hasMoreThan: () => false,
    kind: (path) => kindOf(at(path)),
    keys: (path) => {
      const value = at(path);
      return isJsonObject(value) ? Object.keys(value) : [];
    },
    value: at,
    textAt: (path) => {
      const value = at(path);
      return value === undefined ? undefined : JSON.stringify(value);
    },
    place,
  };
}

function kindOf(value: unknown): ReturnType<Document["kind"]> {
  if (value === undefined) return undefined;
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : (typeof value as "object" | "string" | "number" | "boolean");
}

function refuseDepth(value: unknown, fileName: string, depth: number): void {
  if (typeof value !== "object" || value === null) return;
  if (depth > mostLevels) throw new InvalidConfig([`${fileName}:1:1: nested deeper than ${mostLevels} levels`]);
  for (const member of Object.values(value)) refuseDepth(member, fileName, depth + 1);
}
