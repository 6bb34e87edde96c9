/** One statement of a TOML file, with the line break behind it: `text.slice(start, end)`. */
export interface TomlStatement {
  readonly kind: "table" | "tables" | "pair" | "blank" | "comment";
  readonly start: number;
  readonly end: number;
  /** The keys of a header or of a pair as they are written there, without the table that encloses a pair. */
  readonly keys: readonly string[];
  /** Of a pair: where its value begins, and where it ends, without spaces and comments behind it. */
  readonly value?: { readonly start: number; readonly end: number };
}

/**
 * Takes a TOML text apart into statements, so that one can be changed and all others stay as they are written. For
 * texts that a parser has accepted: what it does with others is not defined.
 */
export function toTomlStatements(text: string): readonly TomlStatement[] {
  const statements: TomlStatement[] = [];
  for (let start = 0; start < text.length;) {
    const statement = readStatement(text, start);
    statements.push(statement);
    start = statement.end;
  }
  return statements;
}

function readStatement(text: string, start: number): TomlStatement {
  const at = skipSpaces(text, start);
  const first = text[at];
  if (first === undefined || first === "\n" || first === "\r")
    return { kind: "blank", start, end: lineEnd(text, at), keys: [] };
  if (first === "#") return { kind: "comment", start, end: lineEnd(text, at), keys: [] };
  if (first === "[") {
    const isList = text[at + 1] === "[";
    const { keys, end } = readKeys(text, at + (isList ? 2 : 1));
    return { kind: isList ? "tables" : "table", start, end: lineEnd(text, end), keys };
  }
  const { keys, end: equals } = readKeys(text, at);
  const valueStart = skipSpaces(text, equals + 1);
  const valueEnd = endOfValue(text, valueStart);
  return { kind: "pair", start, end: lineEnd(text, valueEnd), keys, value: { start: valueStart, end: valueEnd } };
}

/** Dotted keys, bare or quoted. `end` is the place of the `=` or `]` behind them. */
function readKeys(text: string, from: number): { readonly keys: readonly string[]; readonly end: number } {
  const keys: string[] = [];
  for (let at = from; ;) {
    at = skipSpaces(text, at);
    const quote = text[at];
    if (quote === '"' || quote === "'") {
      const end = endOfString(text, at);
      keys.push(quote === "'" ? text.slice(at + 1, end - 1) : unescaped(text.slice(at, end)));
      at = end;
    } else {
      const [bare = ""] = /^[^\s.=\]"'#]*/.exec(text.slice(at, at + longestBareKey)) ?? [];
      keys.push(bare);
      at += bare.length;
    }
    at = skipSpaces(text, at);
    if (text[at] !== ".") return { keys, end: at };
    at += 1;
  }
}

const longestBareKey = 1_000;

/** TOML's escapes are JSON's and two more, with eight digits and for the escape character. */
function unescaped(quoted: string): string {
  const asJson = quoted
    .replace(/\\U([0-9A-Fa-f]{8})/g, (_, digits: string) =>
      JSON.stringify(String.fromCodePoint(Number.parseInt(digits, 16))).slice(1, -1),
    )
    .replaceAll("\\e", "\\u001b");
  try {
    return JSON.parse(asJson) as string;
  } catch {
    return quoted;
  }
}

/**
 * Behind the value: lists and inline tables may take several lines, and have comments in them. A comma ends a member of
 * a list.
 */
function endOfValue(text: string, from: number, isMember = false): number {
  let depth = 0;
  let at = from;
  let end = from;
  while (at < text.length) {
    const character = text[at];
    if (character === '"' || character === "'") {
      at = endOfString(text, at);
      end = at;
      continue;
    }
    if (depth === 0 && (character === "\n" || character === "#")) break;
    if (isMember && depth === 0 && (character === "," || character === "]")) break;
    if (character === "#") {
      at = text.indexOf("\n", at);
      if (at === -1) return text.length;
      continue;
    }
    if (character === "[" || character === "{") depth += 1;
    if (character === "]" || character === "}") depth -= 1;
    at += 1;
    if (character !== " " && character !== "\t" && character !== "\r" && character !== "\n") end = at;
  }
  return end;
}

/** Behind the closing quotation marks of the string that begins at `from`. */
function endOfString(text: string, from: number): number {
  const quote = text.charAt(from);
  const isLong = text.startsWith(quote.repeat(3), from);
  const closing = isLong ? quote.repeat(3) : quote;
  for (let at = from + closing.length; at < text.length; at += 1) {
    if (quote === '"' && text[at] === "\\") at += 1;
    else if (text.startsWith(closing, at)) {
      let end = at + closing.length;
      // A long string may end in up to two quotation marks of its own.
      while (isLong && end < at + 5 && text[end] === quote) end += 1;
      return end;
    }
  }
  return text.length;
}

/** Where the members of a list stand that begins at `start`, without the commas and comments between them. */
export function membersOfList(
  text: string,
  start: number,
): readonly { readonly start: number; readonly end: number }[] {
  const members: { readonly start: number; readonly end: number }[] = [];
  for (let at = start + 1; at < text.length;) {
    const character = text.charAt(at);
    if (character === "]") break;
    if (character === "#") at = lineEnd(text, at);
    else if (/[\s,]/.test(character)) at += 1;
    else {
      const end = endOfValue(text, at, true);
      members.push({ start: at, end });
      at = end;
    }
  }
  return members;
}

function skipSpaces(text: string, from: number): number {
  let at = from;
  while (text[at] === " " || text[at] === "\t") at += 1;
  return at;
}

function lineEnd(text: string, from: number): number {
  const at = text.indexOf("\n", from);
  return at === -1 ? text.length : at + 1;
}
