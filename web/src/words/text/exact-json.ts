/**
 * JSON as text, with every number as it was written: JavaScript would change 9007199254740993 by parsing it.
 */

const space = /\s/;

/** From quote to quote: a string may be 30 MB long. */
function endOfString(text: string, from: number): number {
  for (let quote = text.indexOf('"', from + 1); quote !== -1; quote = text.indexOf('"', quote + 1)) {
    let escapes = 0;
    while (text[quote - 1 - escapes] === "\\") escapes += 1;
    if (escapes % 2 === 0) return quote + 1;
  }
  throw new SyntaxError("the text ends in the middle of a string");
}

/** The end of the value that begins at `from`. Throws SyntaxError. */
function endOfValue(text: string, from: number): number {
  let at = from;
  let depth = 0;
  for (;;) {
    const character = text[at];
    if (character === undefined) throw new SyntaxError("the text ends in the middle of a value");
    if (character === '"') {
      at = endOfString(text, at);
    } else if (character === "{" || character === "[") {
      depth += 1;
      at += 1;
    } else if (character === "}" || character === "]") {
      depth -= 1;
      at += 1;
    } else if (/[,:\s]/.test(character)) at += 1;
    else while (at < text.length && !/[,:\]}\s]/.test(text[at] as string)) at += 1;
    if (depth === 0) return at;
  }
}

function skipSpace(text: string, from: number): number {
  let at = from;
  while (at < text.length && space.test(text[at] as string)) at += 1;
  return at;
}

/** The text of one member of the object that `text` is; undefined without one. */
export function memberText(text: string, name: string): string | undefined {
  let at = skipSpace(text, 0);
  if (text[at] !== "{") return undefined;
  at = skipSpace(text, at + 1);
  while (text[at] === '"') {
    const keyEnd = endOfValue(text, at);
    const key: unknown = JSON.parse(text.slice(at, keyEnd));
    const start = skipSpace(text, skipSpace(text, keyEnd) + 1);
    const end = endOfValue(text, start);
    if (key === name) return text.slice(start, end);
    at = skipSpace(text, skipSpace(text, end) + 1);
  }
  return undefined;
}

/** The same text on lines of its own, as `indentJson` writes it; as it is where that cannot read it. */
export function indentedOrAsIs(text: string): string {
  try {
    return indentJson(text);
  } catch {
    return text;
  }
}

/** The same text on lines of its own, indented by two spaces. Strings and numbers stay as they are. */
export function indentJson(text: string): string {
  let out = "";
  let depth = 0;
  const line = (): string => `\n${"  ".repeat(depth)}`;
  for (let at = 0; at < text.length;) {
    const character = text[at] as string;
    if (space.test(character)) at += 1;
    else if (character === "{" || character === "[") {
      const next = skipSpace(text, at + 1);
      const close = character === "{" ? "}" : "]";
      if (text[next] === close) {
        out += character + close;
        at = next + 1;
      } else {
        depth += 1;
        out += character + line();
        at += 1;
      }
    } else if (character === "}" || character === "]") {
      depth -= 1;
      out += line() + character;
      at += 1;
    } else if (character === ",") {
      out += character + line();
      at += 1;
    } else if (character === ":") {
      out += ": ";
      at += 1;
    } else {
      const end = endOfValue(text, at);
      out += text.slice(at, end);
      at = end;
    }
  }
  return out;
}

/** Whether a form, which has numbers as JavaScript has them, would change a number there. */
export function hasInexactNumber(text: string): boolean {
  const outside = text.replaceAll(/"(?:[^"\\]|\\.)*"/g, "");
  return [...outside.matchAll(/-?\d[\d.eE+-]*/g)].some(([number]) => {
    const plain = number.replace(/[.eE+-]/g, "");
    return plain.length > 15 && String(Number(number)) !== number;
  });
}

/** Where a value of a form has whole numbers that JavaScript may have changed, as steps from the outside. */
export function inexactPaths(value: unknown): readonly (readonly string[])[] {
  if (typeof value === "number") return Number.isInteger(value) && !Number.isSafeInteger(value) ? [[]] : [];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([step, inner]) => inexactPaths(inner).map((path) => [step, ...path]));
}
