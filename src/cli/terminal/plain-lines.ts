import { plainText } from "../../kernel/text/plain-text.ts";

/** A server's text for a terminal, with its lines kept. */
export function plainLines(text: string): readonly string[] {
  return text.replaceAll("\r\n", "\n").split("\n").map(plainText);
}
