/**
 * A JSON text with line breaks and indents, for people. Nothing but the space between its values is touched, so that
 * every digit of a number and every escape stays as it is. The text must be valid JSON.
 */
export function indentJson(text: string): string {
  let depth = 0;
  let result = "";
  const newLine = (): string => `\n${"  ".repeat(depth)}`;
  for (const [token] of text.matchAll(tokens)) {
    if (token === "}" || token === "]") {
      depth -= 1;
      result += newLine() + token;
    } else if (token === "{" || token === "[") {
      depth += 1;
      result += token + newLine();
    } else if (token === ",") result += token + newLine();
    else result += token === ":" ? ": " : token;
  }
  return result;
}

/** Empty ones in one piece. White space between them is no token. */
const tokens = /\{\s*\}|\[\s*\]|"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/gs;
