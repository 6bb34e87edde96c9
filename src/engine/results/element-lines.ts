/** A line of JSON is ended behind an element once it has so many characters: short ones would cost more line ends. */
const longLine = 160;
/** A text whose lines are longer than this on the average cannot be cut or searched by lines. */
const unreadableLine = 1_000;

/**
 * The text with a line for each element, if it is JSON that somebody wrote without line ends: so that it can be cut at
 * an element and searched by lines. Only white space between values is added. Any other text is given back as it is.
 */
export function toElementLines(text: string): string {
  return isDense(text) ? breakLines(text) : text;
}

function isDense(text: string): boolean {
  const first = text.charAt(text.search(/\S/));
  if (first !== "{" && first !== "[") return false;
  let lines = 1;
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) lines += 1;
  return text.length / lines > unreadableLine;
}

/** Behind every comma that stands before an object or array, and behind any other where the line is long already. */
function breakLines(text: string): string {
  const lines: string[] = [];
  let from = 0;
  let at = 0;
  while (at < text.length) {
    const sign = text.charCodeAt(at);
    if (sign === quoteSign) {
      at = stringEnd(text, at);
      continue;
    }
    at += 1;
    if (sign !== commaSign) continue;
    if (at - from < longLine && !opensContainer(text, at)) continue;
    lines.push(text.slice(from, at));
    from = at;
  }
  lines.push(text.slice(from));
  return lines.join("\n");
}

const quoteSign = 0x22;
const commaSign = 0x2c;

/** Behind the string that begins at `start`; the end of the text when it does not end. */
function stringEnd(text: string, start: number): number {
  let at = start + 1;
  for (;;) {
    const found = text.indexOf('"', at);
    if (found === -1) return text.length;
    let escapes = 0;
    while (text.charAt(found - escapes - 1) === "\\") escapes += 1;
    at = found + 1;
    if (escapes % 2 === 0) return at;
  }
}

function opensContainer(text: string, at: number): boolean {
  const next = text.charAt(text.charAt(at) === " " ? at + 1 : at);
  return next === "{" || next === "[";
}
