/**
 * A server's text for a terminal: control, bidirectional and zero-width characters become spaces, so that none can
 * move the cursor.
 */
export function plainText(text: string): string {
  // oxlint-disable-next-line no-control-regex -- these are removed
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2066-\u2069]/g, " ");
}

/** A server's text for a terminal, with its lines kept. */
export function plainLines(text: string): readonly string[] {
  return text.replaceAll("\r\n", "\n").split("\n").map(plainText);
}

/**
 * At most this many UTF-16 units of the text, ending in an ellipsis where something was left out. A character that
 * takes two of them, such as an emoji, is kept or left out as a whole.
 */
export function shorten(text: string, characters: number): string {
  if (text.length <= characters) return text;
  return `${text
    .slice(0, characters - 1)
    .replace(/[\ud800-\udbff]$/, "")
    .trimEnd()}…`;
}
