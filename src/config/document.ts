import {
  findNodeAtLocation,
  getNodeValue,
  parseTree,
  printParseErrorCode,
  type Node,
  type ParseError,
} from "jsonc-parser";
import { GatewayError } from "../shared/gateway-error.ts";

export type Path = readonly (string | number)[];

/** A parsed file that still knows where everything stands in it. */
export interface Document {
  readonly fileName: string;
  /** Keys of the object at `path`, in the order of the file (Object.keys would put numeric ones first); none when it is no object. */
  keys(path: Path): readonly string[];
  /** The value at `path` as fresh plain data (objects without prototype); undefined when there is nothing. */
  value(path: Path): unknown;
  /** `file:line:column` of the value at `path`, or of its nearest parent. Both count from 1, columns in UTF-16 units. */
  place(path: Path): string;
}

/**
 * Parses JSON with comments, trailing commas and a byte-order mark. Throws GatewayError CONFIG_INVALID with
 * `file:line:column` for what is no JSON object, for a key given twice in one object, and for keys that are no data (`__proto__`).
 */
export function parseDocument(text: string, fileName: string): Document {
  const source = text.replace(/^\uFEFF/, "");
  const placeAt = (offset: number): string => `${fileName}:${lineAndColumn(source, offset)}`;
  const root = parseRoot(source, placeAt);
  checkKeys(root, [], placeAt);
  return {
    fileName,
    keys(path) {
      const node = findNodeAtLocation(root, [...path]);
      return node?.type === "object"
        ? (node.children ?? []).map((property) => String(property.children?.[0]?.value))
        : [];
    },
    value(path) {
      const node = findNodeAtLocation(root, [...path]);
      return node && (getNodeValue(node) as unknown);
    },
    place: (path) => placeAt(nearestOffset(root, path)),
  };
}

function parseRoot(source: string, placeAt: (offset: number) => string): Node {
  const errors: ParseError[] = [];
  let root: Node | undefined;
  try {
    root = parseTree(source, errors, { allowTrailingComma: true });
  } catch (error) {
    // The parser recurses: some ten thousand brackets overflow the stack.
    if (error instanceof RangeError) throw new GatewayError("CONFIG_INVALID", `${placeAt(0)}: nested too deeply`);
    throw error;
  }
  const first = errors[0];
  if (source.trim() === "")
    throw new GatewayError("CONFIG_INVALID", `${placeAt(0)}: expected a JSON object, but the file is empty`);
  if (first)
    throw new GatewayError(
      "CONFIG_INVALID",
      `${placeAt(first.offset)}: ${expectation(printParseErrorCode(first.error))}`,
    );
  if (root?.type !== "object") throw new GatewayError("CONFIG_INVALID", `${placeAt(0)}: expected a JSON object`);
  return root;
}

function expectation(code: string): string {
  switch (code) {
    case "CloseBraceExpected":
      return "expected `}`; the file ends or goes wrong here";
    case "CloseBracketExpected":
      return "expected `]`; the file ends or goes wrong here";
    case "CommaExpected":
      return "expected a comma";
    case "ColonExpected":
      return "expected a colon after the key";
    case "PropertyNameExpected":
      return "expected a key in double quotes, or `}`";
    case "ValueExpected":
      return "expected a value";
    case "EndOfFileExpected":
      return "expected the end of the file";
    case "UnexpectedEndOfString":
      return "expected a closing double quote";
    case "UnexpectedEndOfComment":
      return "expected `*/`";
    case "InvalidNumberFormat":
    case "UnexpectedEndOfNumber":
      return "expected a number as JSON writes it";
    case "InvalidEscapeCharacter":
    case "InvalidUnicode":
      return "expected a valid escape after `\\` (a backslash itself is written `\\\\`)";
    case "InvalidCharacter":
      return "expected no control character here (a line break is written `\\n`)";
    default:
      return "expected JSON";
  }
}

/** Real files nest six levels; everything behind this walks the tree by recursion. */
const mostLevels = 64;

/** Two equal keys mean that one of two intentions is lost, so neither is guessed (FAULTS.md 87). */
function checkKeys(node: Node, path: Path, placeAt: (offset: number) => string): void {
  if (path.length > mostLevels) {
    throw new GatewayError("CONFIG_INVALID", `${placeAt(node.offset)}: nested deeper than ${mostLevels} levels`);
  }
  const seen = new Set<string>();
  for (const [index, child] of (node.children ?? []).entries()) {
    if (node.type !== "object") {
      checkKeys(child, [...path, index], placeAt);
      continue;
    }
    const [keyNode, valueNode] = child.children ?? [];
    if (!keyNode) continue;
    const key = String(keyNode.value);
    const fail = (why: string): never => {
      throw new GatewayError("CONFIG_INVALID", `${placeAt(keyNode.offset)}: ${why}`);
    };
    if (seen.has(key)) fail(`the key ${JSON.stringify(key)} stands here a second time; keep one`);
    if (isReserved(key, path.length)) fail(`the key ${JSON.stringify(key)} is not allowed`);
    seen.add(key);
    if (valueNode) checkKeys(valueNode, [...path, key], placeAt);
  }
}

/** A server may be called `prototype`; below that these names can only be an attack, and the schema library would drop them silently. */
function isReserved(key: string, depth: number): boolean {
  return key === "__proto__" || (depth >= 2 && (key === "constructor" || key === "prototype"));
}

function nearestOffset(root: Node, path: Path): number {
  for (let length = path.length; length > 0; length -= 1) {
    const node = findNodeAtLocation(root, path.slice(0, length));
    if (node) return node.offset;
  }
  return root.offset;
}

function lineAndColumn(source: string, offset: number): string {
  let line = 1;
  let lineStart = 0;
  for (let next = source.indexOf("\n"); next !== -1 && next < offset; next = source.indexOf("\n", next + 1)) {
    line += 1;
    lineStart = next + 1;
  }
  return `${line}:${offset - lineStart + 1}`;
}
