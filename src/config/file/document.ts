import { getNodeValue, parseTree, printParseErrorCode, type Node, type ParseError } from "jsonc-parser";
import { backslash, lineFeed, quote, space } from "../../wire/json/characters.ts";
import { allSteps } from "../../kernel/runtime/slices.ts";
import { foreignFormat } from "./foreign-format.ts";
import { InvalidConfig } from "./problems.ts";
import { endOfComment, mostLevels, parsingTree, slash, tooDeep, type Misfit } from "./tree.ts";

export type Path = readonly (string | number)[];

/** A parsed file that still knows the place of everything in it. */
export interface Document {
  readonly fileName: string;
  /**
   * Keys of the object at `path`, in the order of the file (Object.keys would put numeric ones first). Empty when it
   * is no object.
   */
  keys(path: Path): readonly string[];
  /** The kind of value at `path`, without a look at its contents. Undefined when there is nothing. */
  kind(path: Path): Node["type"] | undefined;
  /** Whether there are more values and keys at `path` than this. */
  hasMoreThan(most: number, path: Path): boolean;
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
  /** Those of them within `path`. */
  wrongKeysIn(path: Path): readonly WrongKey[];
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
  return allSteps(parsingDocument(text, fileName));
}

/** The same in steps, for a file that others should not have to wait for. */
export function* parsingDocument(text: string, fileName: string): Generator<undefined, Document> {
  const source = text.replace(/^\uFEFF/, "");
  const lines = createLines(source);
  // Places are told at once; of a long text their lines are counted before, in steps.
  if (source.length > mostForProblems) yield* lines.counting();
  const placeAt = (offset: number): string => `${fileName}:${lines.placeOf(offset)}`;
  const root = yield* parsingRoot(source, fileName, placeAt);
  const search: KeySearch = { placeAt, wrongKeys: [], byObject: new Map() };
  yield* findingWrongKeys(root, [], search);
  const members = createMembers();
  const find = (path: Path): Node | undefined => {
    let node: Node | undefined = root;
    for (const step of path) node = node && members.find(node, step);
    return node;
  };
  return {
    fileName,
    wrongKeys: search.wrongKeys,
    wrongKeysIn(path) {
      const node = find(path);
      return node === undefined ? [] : wrongWithin(node, search.byObject);
    },
    keys(path) {
      const node = find(path);
      return node?.type === "object"
        ? (node.children ?? []).map((property) => String(property.children?.[0]?.value))
        : [];
    },
    kind: (path) => find(path)?.type,
    hasMoreThan: (most, path) => countNodes(find(path), most + 1) > most,
    value(path) {
      const node = find(path);
      return node && (getNodeValue(node) as unknown);
    },
    textAt(path) {
      const node = find(path);
      return node && source.slice(node.offset, node.offset + node.length);
    },
    place(path) {
      let node = root;
      for (const step of path) {
        const next = members.find(node, step);
        if (next === undefined) break;
        node = next;
      }
      return placeAt(node.offset);
    },
  };
}

function countNodes(node: Node | undefined, most: number): number {
  let count = node === undefined || node.type === "property" ? 0 : 1;
  for (const child of node?.children ?? []) {
    if (count >= most) break;
    count += countNodes(child, most - count);
  }
  return count;
}

/** The members of objects, in a table where they are many: files list thousands of servers. */
function createMembers() {
  const tables = new WeakMap<Node, ReadonlyMap<string, Node>>();

  function tableOf(object: Node): ReadonlyMap<string, Node> {
    let table = tables.get(object);
    if (table === undefined) {
      // As everywhere, the first of equal keys counts.
      const pairs = (object.children ?? []).flatMap(({ children: [key, value] = [] }) =>
        key === undefined || value === undefined ? [] : [[String(key.value), value] as const],
      );
      tables.set(object, (table = new Map(pairs.toReversed())));
    }
    return table;
  }

  return {
    find(node: Node, step: string | number): Node | undefined {
      if (typeof step === "number") return node.type === "array" ? node.children?.[step] : undefined;
      return node.type === "object" ? tableOf(node).get(step) : undefined;
    },
  };
}

type PlaceAt = (offset: number) => string;

function* parsingRoot(source: string, fileName: string, placeAt: PlaceAt): Generator<undefined, Node> {
  if (source.trim() === "") throw new InvalidConfig([`${placeAt(0)}: expected a JSON object, but the file is empty`]);
  const quick = yield* keepingWithinSize(source, placeAt);
  const tree = yield* parsingTree(quick);
  if ("code" in tree) {
    const foreign = foreignFormat(source, fileName);
    const problems = foreign === undefined ? syntaxProblems(quick, tree, placeAt) : [`${placeAt(0)}: ${foreign}`];
    throw new InvalidConfig(problems);
  }
  if (tree.type !== "object") throw new InvalidConfig([`${placeAt(0)}: expected a JSON object`]);
  return tree;
}

/** What a file takes of memory and time depends on how much there is in it rather than on its length. */
const mostTokens = 200_000;
/** Between values: the parser looks at each of them. */
const mostBlanks = 1_000_000;
/** Of one text. A longer one has no use here, and variables are looked for in each. */
const longestText = 262_144;

/**
 * The same text with line breaks for long runs of spaces between values: the parser takes five times as long for a
 * space. Throws InvalidConfig for a file with too much in it.
 */
function* keepingWithinSize(source: string, placeAt: PlaceAt): Generator<undefined, string> {
  const pieces: string[] = [];
  let kept = 0;
  let tokens = 0;
  let blanks = 0;
  let isNew = true;
  let nextStep = stepLength;
  for (let at = 0; at < source.length; at += 1) {
    if (at > nextStep) {
      nextStep = at + stepLength;
      yield;
    }
    const code = source.charCodeAt(at);
    const start = at;
    if (code === space) {
      while (source.charCodeAt(at + 1) === space) at += 1;
      if (at - start > fewSpaces) {
        pieces.push(source.slice(kept, start), "\n".repeat(at + 1 - start));
        kept = at + 1;
      }
    } else if (code === quote) {
      at = closingQuote(source, at);
      if (at - start > longestText)
        throw new InvalidConfig([`${placeAt(start)}: a text of more than ${longestText} characters`]);
    } else if (code === slash) at = endOfComment(source, at);
    if (code <= space) blanks += at + 1 - start;
    const isWord = code > space && !signs.includes(source.charAt(start));
    if (code > space && (isNew || !isWord)) tokens += 1;
    isNew = !isWord;
    if (tokens > mostTokens)
      throw new InvalidConfig([`${placeAt(at)}: more than ${mostTokens} values, keys and signs between them`]);
    if (blanks > mostBlanks) throw new InvalidConfig([`${placeAt(at)}: more than ${mostBlanks} blanks between values`]);
  }
  return pieces.join("") + source.slice(kept);
}

const fewSpaces = 8;
/** Characters between two steps. */
const stepLength = 65_536;
const signs = '{}[],:/"';

function closingQuote(source: string, start: number): number {
  let at = start + 1;
  while (at < source.length && source.charCodeAt(at) !== quote) at += source.charCodeAt(at) === backslash ? 2 : 1;
  return at;
}

/** A text with a mistake is parsed a second time in one turn, to tell the mistakes behind the first one. */
const mostForProblems = 65_536;

/**
 * Only the first problem of each line: after a mistake the parser is out of step for a while, and what it reports
 * then is wrong. Of a long text only the first problem.
 */
function syntaxProblems(source: string, first: Misfit, placeAt: PlaceAt): string[] {
  const problems: string[] = [];
  let lineEnd = -1;
  for (const { offset, code } of isOnlyOne(source, first) ? [first] : misfits(source, first)) {
    if (offset <= lineEnd) continue;
    if (problems.length > mostWrongLines) break;
    problems.push(`${placeAt(offset)}: ${expectation(code)}`);
    const next = source.indexOf("\n", offset);
    lineEnd = next === -1 ? source.length : next;
  }
  return problems;
}

/** More are not counted: a file may consist of nothing else. */
const mostWrongLines = 1_000;

function isOnlyOne(source: string, first: Misfit): boolean {
  return first.code === tooDeep || source.length > mostForProblems;
}

/** The first one too, should the library find none. */
function misfits(source: string, first: Misfit): readonly Misfit[] {
  const errors: ParseError[] = [];
  try {
    parseTree(source, errors, { allowTrailingComma: true });
  } catch (error) {
    // The library's parser is recursive: some ten thousand brackets overflow the stack.
    if (!(error instanceof RangeError)) throw error;
  }
  const found = errors.map(({ offset, error }) => ({ offset, code: printParseErrorCode(error) }));
  return found.length > 0 ? found : [first];
}

function expectation(code: string): string {
  switch (code) {
    case tooDeep:
      return `nested deeper than ${mostLevels} levels`;
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

/** A file with more of them is refused as a whole, because its meaning is unclear. */
const mostWrongKeys = 1_000;

interface KeySearch {
  readonly placeAt: (offset: number) => string;
  readonly wrongKeys: WrongKey[];
  /** Those of the same that stand in an object itself. */
  readonly byObject: Map<Node, WrongKey[]>;
}

/** Of two equal keys one would be lost. Which one was meant is not guessed (fault 87). */
function* findingWrongKeys(node: Node, path: Path, search: KeySearch): Generator<undefined> {
  const seen = new Set<string>();
  for (const [index, child] of (node.children ?? []).entries()) {
    const [keyNode, valueNode] = node.type === "object" ? (child.children ?? []) : [undefined, child];
    if (keyNode !== undefined) checkKey({ object: node, keyNode, path, seen }, search);
    if (valueNode === undefined) continue;
    const within = [...path, keyNode === undefined ? index : String(keyNode.value)];
    // Most values are no lists and no objects.
    if (valueNode.children !== undefined) yield* findingWrongKeys(valueNode, within, search);
    if (path.length < 2) yield;
  }
}

interface SeenKey {
  readonly object: Node;
  readonly keyNode: Node;
  /** Of the object. */
  readonly path: Path;
  /** Keys before it. */
  readonly seen: Set<string>;
}

function checkKey({ object, keyNode, path, seen }: SeenKey, { placeAt, wrongKeys, byObject }: KeySearch): void {
  const key = String(keyNode.value);
  const found = (why: string): void => {
    const wrong = {
      path: [...path, key],
      problem: `${placeAt(keyNode.offset)}: the key ${JSON.stringify(key)} ${why}`,
    };
    wrongKeys.push(wrong);
    byObject.set(object, [...(byObject.get(object) ?? []), wrong]);
    if (wrongKeys.length > mostWrongKeys) throw new InvalidConfig(wrongKeys.map(({ problem }) => problem));
  };
  if (seen.has(key)) found("is here a second time; keep one");
  if (isReserved(key, path.length)) found("is not allowed");
  seen.add(key);
}

/** The wrong keys of an object and of everything within it. */
function wrongWithin(node: Node, byObject: ReadonlyMap<Node, readonly WrongKey[]>): readonly WrongKey[] {
  if (byObject.size === 0) return [];
  const own = byObject.get(node) ?? [];
  return [...own, ...(node.children ?? []).flatMap((child) => wrongWithin(child, byObject))];
}

/**
 * A server may be called `prototype`. Further down, such names can only be an attack, and the schema library would
 * drop them without a message.
 */
function isReserved(key: string, depth: number): boolean {
  return key === "__proto__" || (depth >= 2 && (key === "constructor" || key === "prototype"));
}

/** Characters whose line ends are counted together. */
const blockLength = 512;

/** Lines are counted once, for each block of the text, and only where a place is told. */
function createLines(source: string) {
  let blocks: { readonly lines: Uint32Array; readonly starts: Uint32Array } | undefined;

  /** Of each block: the number of the line in which it begins, and where that line begins. */
  function* counting(): Generator<undefined, NonNullable<typeof blocks>> {
    const count = Math.floor(source.length / blockLength) + 1;
    const [lines, starts] = [new Uint32Array(count), new Uint32Array(count)];
    let [line, start] = [1, 0];
    for (let block = 0; block < count; block += 1) {
      [lines[block], starts[block]] = [line, start];
      [line, start] = goOn(block * blockLength, (block + 1) * blockLength, [line, start]);
      if (block % 64 === 63) yield;
    }
    return (blocks = { lines, starts });
  }

  function goOn(from: number, to: number, [line, start]: readonly [number, number]): [number, number] {
    let [lineNow, startNow] = [line, start];
    for (let at = from; at < to; at += 1)
      if (source.charCodeAt(at) === lineFeed) [lineNow, startNow] = [lineNow + 1, at + 1];
    return [lineNow, startNow];
  }

  return {
    counting,
    /** `line:column`, both from 1. What it costs does not depend on how long the line is. */
    placeOf(offset: number): string {
      blocks ??= allSteps(counting());
      const block = Math.floor(Math.min(offset, source.length) / blockLength);
      const before = [blocks.lines[block] as number, blocks.starts[block] as number] as const;
      const [line, start] = goOn(block * blockLength, offset, before);
      return `${line}:${offset - start + 1}`;
    },
  };
}
