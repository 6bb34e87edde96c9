import measure from "fast-string-truncated-width";

interface Output {
  readonly isTTY?: boolean;
  readonly columns?: number;
}

/** Columns of the terminal behind a stream. Without a terminal there is no end: programs read whole lines. */
export function columnsOf({ isTTY, columns }: Output): number {
  return isTTY === true ? columns || 80 : Number.POSITIVE_INFINITY;
}

/** How many columns of a terminal a text takes: wide characters take two. */
export function widthOf(text: string): number {
  return measure(text).width;
}

/**
 * Lines of at most so many columns, broken between words. Those after the first begin with `hanging`. A word that is
 * longer than a line, such as a path, is broken behind one of its signs.
 */
export function wrapText(text: string, columns: number, hanging = ""): readonly string[] {
  if (widthOf(text) <= columns) return [text];
  const lines: string[] = [];
  let line = "";
  for (const [, spaces = "", word = ""] of text.matchAll(/(\s*)(\S+)/g)) {
    if (widthOf(line + spaces + word) <= columns) {
      line += spaces + word;
      continue;
    }
    // Spaces at the beginning of a text are its indentation.
    const isFirst = lines.length === 0 && line === "";
    if (!isFirst) lines.push(line);
    line = isFirst ? spaces : hanging;
    const room = Math.max(1, columns - widthOf(line));
    const pieces = piecesOf(word, room);
    lines.push(...pieces.slice(0, -1).map((piece, at) => (at === 0 ? line : hanging) + piece));
    line = (pieces.length > 1 ? hanging : line) + (pieces.at(-1) ?? "");
  }
  return [...lines, line].filter((one) => one.trim() !== "");
}

/** As much of a text as fits into so many columns, ending between words, with an ellipsis for the rest. */
export function clipText(text: string, columns: number): string {
  if (widthOf(text) <= columns) return text;
  const [first = ""] = wrapText(text, Math.max(1, columns - 1));
  return `${first.trimEnd()}…`;
}

function piecesOf(word: string, columns: number): readonly string[] {
  const pieces: string[] = [];
  let rest = word;
  while (widthOf(rest) > columns) {
    const fitting = rest.slice(0, Math.max(1, measure(rest, { limit: columns }).index));
    const behind = [/^.*[,;]/, /^.*[/\\]/, /^.*[^\p{L}\p{N}]/u].map((sign) => sign.exec(fitting)?.[0] ?? "");
    const piece = behind.find(({ length }) => length > fitting.length / 3) ?? fitting;
    pieces.push(piece);
    rest = rest.slice(piece.length);
  }
  return [...pieces, rest];
}

/** Writes lines for a person, on a terminal broken between words. */
export function printText(stream: Output & { write(text: string): unknown }, text: string, hanging = "  "): void {
  const columns = columnsOf(stream);
  const lines = text.split("\n");
  stream.write(`${lines.flatMap((line) => wrapText(line, columns, hangingOf(line, hanging))).join("\n")}\n`);
}

/** Lines for a message that is printed behind a bar, as prompts do it. */
export function besideBar(text: string): string {
  const columns = columnsOf(process.stdout) - barColumns;
  return text
    .split("\n")
    .flatMap((line) => wrapText(line, columns, hangingOf(line, "")))
    .join("\n");
}

/** The same where the bar ends: its other lines begin below the first. */
export function belowBar(text: string): string {
  return besideBar(text).replaceAll("\n", "\n   ");
}

const barColumns = 4;

/** Below a line that is indented, its rest is indented as well. */
function hangingOf(line: string, hanging: string): string {
  return `${/^ */.exec(line)?.[0] ?? ""}${hanging}`;
}
