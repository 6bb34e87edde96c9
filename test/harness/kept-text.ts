import type { KeptText } from "../../src/engine/results/kept-page.ts";
import { toSaidText } from "../../src/engine/results/said-text.ts";
import { findParts } from "../../src/engine/results/text-parts.ts";
import { atOnce } from "./at-once.ts";

/** A text as it is kept of a result that was cut, in parts of so many tokens. */
export function keptText(text: string, maxTokens: number, firstTokens = maxTokens): KeptText {
  const bytes = Buffer.from(text);
  const said = toSaidText(bytes, [{ start: 0, end: bytes.length, spelling: "plain" }]);
  return { said, starts: atOnce(findParts(said, firstTokens, maxTokens)).starts, maxTokens, isBeginningShown: true };
}
