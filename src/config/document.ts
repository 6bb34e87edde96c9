import {
  findNodeAtLocation,
  getNodeValue,
  parseTree,
  printParseErrorCode,
  type Node,
  type ParseError,
} from "jsonc-parser";
import { foreignFormat } from "./foreign-format.ts";
import { InvalidConfig } from "./problems.ts";

export type Path = readonly (string | number)[];

/** A parsed file that still knows the place of everything in it. */
export interface Document {
  readonly fileName: string;
  /**
   * Keys of the object at `path`, in the order of the file (Object.keys would put numeric ones first). Empty when it
   * is no object.
   */
  keys(path: Path): readonly string[];
  /** The value at `path` as new plain data (objects without prototype). Undefined when there is nothing. */
  value(path: Path): unknown;
  /**
   * `file:line:column` of the value at `path`, or of its nearest parent. Lines and columns count from 1, columns in
   * UTF-16 units.
   */
  place(path: Path): string;
  /** The text at `path`, letter for letter: a number keeps digits that JavaScript would lose. */
  textAt(path: Path): string | undefined;
  /**
   * Keys that occur twice in one object, and keys that would not become data (`__proto__`). Values below them cannot
   * be relied on.
   */
  readonly wrongKeys: readonly WrongKey[];
}

export interface WrongKey {
  /** Path of the key. */
  readonly path: Path;
  /** Begins with `file:line:column`. */
  readonly problem: string;
}

/**
 * Parses JSON with comments, trailing commas and a byte-order mark. Throws InvalidConfig with `file:line:column` for
 * anything but a JSON object.
 */
export function parseDocument(text: string, fileName: string): Document {
  const source = text.replace(/^\uFEFF/, "");
  const placeAt = (offset: number): string => `${fileName}:${lineAndColumn(source, offset)}`;
  const root = parseRoot(source, fileName, placeAt);
  const wrongKeys: WrongKey[] = [];
  findWrongKeys(root, [], { placeAt, wrongKeys });
  return {
    fileName,
    wrongKeys,
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
    textAt(path) {
      const node = findNodeAtLocation(root, [...path]);
      return node && source.slice(node.offset, node.offset + node.length);
    },
    place: (path) => placeAt(nearestOffset(root, path)),
  };
}

function parseRoot(source: string, fileName: string, placeAt: (offset: number) => string): Node {
  const errors: ParseError[] = [];
  let root: Node | undefined;
  try {
    root = parseTree(source, errors, { allowTrailingComma: true });
  } catch (error) {
    // The parser is recursive: some ten thousand brackets overflow the stack.
    if (error instanceof RangeError) throw new InvalidConfig([`${placeAt(0)}: nested too deeply`]);
    throw error;
  }
  if (source.trim() === "") throw new InvalidConfig([`${placeAt(0)}: expected a JSON object, but the file is empty`]);
  if (errors.length > 0) {
    const foreign = foreignFormat(source, fileName);
    throw new InvalidConfig(foreign === undefined ? syntaxProblems(errors, placeAt) : [`${placeAt(0)}: ${foreign}`]);
  }
  if (root?.type !== "object") throw new InvalidConfig([`${placeAt(0)}: expected a JSON object`]);
  return root;
}

/**
 * Only the first problem of each line: after a mistake the parser is out of step for a while, and what it reports
 * then is wrong.
 */
function syntaxProblems(errors: readonly ParseError[], placeAt: (offset: number) => string): string[] {
  const lines = new Set<string>();
  return errors.flatMap(({ offset, error }) => {
    const place = placeAt(offset);
    const line = place.slice(0, place.lastIndexOf(":"));
    if (lines.has(line)) return [];
    lines.add(line);
    return [`${place}: ${expectation(printParseErrorCode(error))}`];
  });
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

/** Real files nest six levels. All later steps walk the tree recursively, so that its depth must be limited. */
const mostLevels = 64;

interface KeySearch {
  readonly placeAt: (offset: number) => string;
  readonly wrongKeys: WrongKey[];
}

/** Of two equal keys one would be lost. Which one was meant is not guessed (fault 87). */
function findWrongKeys(node: Node, path: Path, search: KeySearch): void {
  const { placeAt, wrongKeys } = search;
  if (path.length > mostLevels) {
    throw new InvalidConfig([`${placeAt(node.offset)}: nested deeper than ${mostLevels} levels`]);
  }
  const seen = new Set<string>();
  for (const [index, child] of (node.children ?? []).entries()) {
    if (node.type !== "object") {
      findWrongKeys(child, [...path, index], search);
      continue;
    }
    const [keyNode, valueNode] = child.children ?? [];
    if (!keyNode) continue;
    const key = String(keyNode.value);
    const found = (why: string) =>
      wrongKeys.push({
        path: [...path, key],
        problem: `${placeAt(keyNode.offset)}: the key ${JSON.stringify(key)} ${why}`,
      });
    if (seen.has(key)) found("stands here a second time; keep one");
    if (isReserved(key, path.length)) found("is not allowed");
    seen.add(key);
    if (valueNode) findWrongKeys(valueNode, [...path, key], search);
  }
}

/**
 * A server may be called `prototype`. Further down, such names can only be an attack, and the schema library would
 * drop them without a message.
 */
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
