/** The line break that a text is written with, as changes of single settings see it (`config/edit/json-change.ts`). */
export function lineBreakOf(text: string): "\r\n" | "\n" {
  return text.includes("\r\n") ? "\r\n" : "\n";
}

/** The text with this line break everywhere. */
export function withLineBreak(text: string, lineBreak: "\r\n" | "\n"): string {
  return text.replaceAll(/\r\n?|\n/g, lineBreak);
}
