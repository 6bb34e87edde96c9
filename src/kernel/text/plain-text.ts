/**
 * A server's text for a terminal: control, bidirectional and zero-width characters become spaces, so that none can
 * move the cursor.
 */
export function plainText(text: string): string {
  return text.replace(
    // oxlint-disable-next-line no-control-regex -- these are removed
    /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\u{e0000}-\u{e007f}]/gu,
    " ",
  );
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
