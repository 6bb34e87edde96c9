/** SQLite ends a text at the first NUL, and its texts are UTF-8, which has no halves of characters. */
const unstorable = /[\0\p{Surrogate}]/gu;

/** The text as it will be read again. */
export function toStorable(text: string): string {
  return text.replace(unstorable, "\uFFFD");
}
