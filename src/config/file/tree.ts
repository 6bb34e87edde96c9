import { createScanner, type JSONScanner, type Node } from "jsonc-parser";

/** The scanner's signs: its own names for them exist for the compiler only. */
const sign = { openBrace: 1, closeBrace: 2, openBracket: 3, closeBracket: 4, comma: 5, colon: 6 } as const;
const [nullWord, trueWord, falseWord, text, number, unknown, end] = [7, 8, 9, 10, 11, 16, 17];

/** Tokens, blanks and comments between two steps. */
const tokensInStep = 500;

/** Real files nest six levels. All later steps walk the tree recursively, so that its depth must be limited. */
export const mostLevels = 64;

/** Where a text stops being JSON, or nests too deep. Offsets count UTF-16 units. */
export interface Misfit {
  readonly offset: number;
  /** As the library names it; `tooDeep` has no name there. */
  readonly code: string;
}

export const tooDeep = "TooDeep";

/** The library's nodes while they are made. */
interface Growing {
  type: Node["type"];
  value?: unknown;
  offset: number;
  length: number;
  colonOffset?: number;
  children?: Growing[];
}
type Parent = Growing & { children: Growing[] };

/** A list or an object that is not yet closed, and what comes next in it. */
interface Open {
  readonly node: Parent;
  expected: "member" | "colon" | "value" | "comma";
}

/**
 * The tree of a JSON text with comments and trailing commas, as the library's `parseTree` makes it of a text without
 * mistakes, but in steps: everybody waits for a parser that cannot be interrupted. Ends at the first mistake.
 */
export function* parsingTree(source: string): Generator<undefined, Node | Misfit> {
  const scanner = createScanner(source);
  const open: Open[] = [];
  let root: Growing | undefined;
  for (let count = 1; ; count += 1) {
    if (count % tokensInStep === 0) yield;
    skipComments(source, scanner);
    const kind: number = scanner.scan();
    const misfit = (code: string): Misfit => ({ offset: scanner.getTokenOffset(), code });
    const isBlank = kind > number && kind < unknown;
    const error: number = scanner.getTokenError();
    if (error > 0) return misfit(scanErrors[error] ?? "InvalidSymbol");
    if (isBlank) continue;
    const parent = open.at(-1);
    if (parent === undefined && root !== undefined) return kind === end ? root : misfit("EndOfFileExpected");
    if (parent !== undefined && takeSign(kind, parent, scanner)) {
      if (isClosing(kind)) close(open, scanner);
      continue;
    }
    if (parent !== undefined && !(parent.expected === "value" || parent.expected === "member"))
      return misfit(missing(parent, kind));
    const isKey = parent?.node.type === "object" && parent.expected === "member";
    if (isKey && kind !== text) return misfit("PropertyNameExpected");
    const node = toNode(kind, scanner);
    if (node === undefined)
      return misfit(kind === end && parent !== undefined ? missing(parent, kind) : "ValueExpected");
    if (open.length > mostLevels) return misfit(tooDeep);
    add(node, parent, isKey);
    root ??= node;
    if (isOpen(node)) open.push({ node, expected: "member" });
  }
}

/** The scanner looks at each character of a comment, of which a file may consist. One without an end is left to it. */
function skipComments(source: string, scanner: JSONScanner): void {
  for (let at = scanner.getPosition(); source.charCodeAt(at) === slash; at = scanner.getPosition()) {
    const last = endOfComment(source, at);
    if (last === at || last === source.length) return;
    scanner.setPosition(last + 1);
  }
}

export const slash = 0x2f;

/** Its last character; the first one of a `/` that begins none; the length of a text that ends before it. */
export function endOfComment(source: string, start: number): number {
  const second = source[start + 1];
  if (second !== "/" && second !== "*") return start;
  const end = source.indexOf(second === "/" ? "\n" : "*/", start + 2);
  return end === -1 ? source.length : end + (second === "*" ? 1 : 0);
}

const scanErrors = [
  "",
  "UnexpectedEndOfComment",
  "UnexpectedEndOfString",
  "UnexpectedEndOfNumber",
  "InvalidUnicode",
  "InvalidEscapeCharacter",
  "InvalidCharacter",
];

/** Whether it is a sign that may come here; what comes after it is expected from now on. */
function takeSign(kind: number, parent: Open, scanner: JSONScanner): boolean {
  const { node, expected } = parent;
  if (kind === sign.colon && expected === "colon") {
    const property = node.children.at(-1);
    if (property !== undefined) property.colonOffset = scanner.getTokenOffset();
    parent.expected = "value";
    return true;
  }
  if (kind === sign.comma && expected === "comma") {
    parent.expected = "member";
    return true;
  }
  const closing = node.type === "object" ? sign.closeBrace : sign.closeBracket;
  return kind === closing && (expected === "comma" || expected === "member");
}

function isClosing(kind: number): boolean {
  return kind === sign.closeBrace || kind === sign.closeBracket;
}

/** The list or object ends with this token, and with it the property that it is the value of. */
function close(open: Open[], scanner: JSONScanner): void {
  const closed = open.pop();
  if (closed !== undefined) endWith(closed.node, scanner);
  const parent = open.at(-1);
  if (parent?.node.type === "object") endWith(parent.node.children.at(-1), scanner);
}

function endWith(node: Growing | undefined, scanner: JSONScanner): void {
  if (node !== undefined) node.length = scanner.getTokenOffset() + scanner.getTokenLength() - node.offset;
}

/** What the library says where the container cannot go on with this token. */
function missing({ node, expected }: Open, kind: number): string {
  if (expected === "colon") return "ColonExpected";
  if (kind === end && expected !== "value")
    return node.type === "object" ? "CloseBraceExpected" : "CloseBracketExpected";
  return expected === "comma" ? "CommaExpected" : "ValueExpected";
}

function toNode(kind: number, scanner: JSONScanner): Growing | undefined {
  const place = { offset: scanner.getTokenOffset(), length: scanner.getTokenLength() };
  if (kind === text) return { type: "string", ...place, value: scanner.getTokenValue() };
  if (kind === number) return { type: "number", ...place, value: Number(scanner.getTokenValue()) };
  if (kind === trueWord || kind === falseWord) return { type: "boolean", ...place, value: kind === trueWord };
  if (kind === nullWord) return { type: "null", ...place, value: null };
  if (kind === sign.openBrace) return { type: "object", ...place, children: [] };
  return kind === sign.openBracket ? { type: "array", ...place, children: [] } : undefined;
}

/** Puts a node into its list or object, where a key begins a property and a value ends it. */
function add(node: Growing, parent: Open | undefined, isKey: boolean): void {
  if (parent === undefined) return;
  if (isKey) {
    const { offset, length } = node;
    parent.node.children.push({ type: "property", offset, length, children: [node] });
    parent.expected = "colon";
    return;
  }
  const property = parent.node.type === "object" ? parent.node.children.at(-1) : undefined;
  (property ?? parent.node).children?.push(node);
  if (property !== undefined) property.length = node.offset + node.length - property.offset;
  parent.expected = "comma";
}

function isOpen(node: Growing): node is Parent {
  return node.children !== undefined;
}
