import { estimateTokens } from "../../catalog/exposure/text/token-estimate.ts";
import type { JsonBytes } from "../../kernel/text/json-bytes.ts";
import { findRepetition, findTexts, type OutlinedResult, type Repetition, type ResultTexts } from "./result-texts.ts";
import { decodeText, toSaidText, type SaidText } from "./said-text.ts";
import { findParts, type Parts } from "./text-parts.ts";

/** A result that costs a model more than it may. Tokens are estimates. */
export interface Oversized {
  readonly result: JsonBytes;
  readonly texts: ResultTexts;
  /** All texts in order, and the structured content behind them where none of them says the same. */
  readonly said: SaidText;
  /** What it is cut into where the first part may have as many tokens as the others. */
  readonly parts: Parts;
  /** Whether the one text says the same as the structured content: then they are counted once. */
  readonly repetition: Repetition;
  readonly textTokens: number;
  readonly structuredTokens: number;
  readonly tokens: number;
}

/** Left for the note. A budget that is smaller than a few notes is given to the text all the same. */
const noteTokens = 150;

/** What a part may have of a budget. */
export function roomIn(maxTokens: number): number {
  return Math.max(maxTokens - noteTokens, Math.ceil(maxTokens / 2));
}

/**
 * Undefined for a result that fits; most are seen to fit by their length alone. Done in slices, because somebody else
 * may wait: a result may have many megabytes.
 */
export function* findOversized(
  result: OutlinedResult,
  listName: "content" | "contents",
  maxTokens: number,
): Generator<void, Oversized | undefined> {
  const { bytes } = result;
  // No token has less than a byte.
  if (bytes.length <= maxTokens) return undefined;
  const texts = yield* findTexts(result, listName);
  if (texts.textBytes <= maxTokens) return undefined;
  const plain = texts.blocks.flatMap(({ text }) =>
    text === undefined ? [] : [{ ...text, spelling: "escaped" as const }],
  );
  const { structured } = texts;
  const own =
    structured === undefined ? [] : [{ start: structured.start, end: structured.end, spelling: "plain" as const }];
  const [only, ...others] = plain;
  const repetition =
    structured === undefined || only === undefined || others.length > 0
      ? "none"
      : yield* findRepetition(bytes, only, structured);
  const said = toSaidText(bytes, repetition === "none" ? [...plain, ...own] : plain);
  const parts = yield* findParts(said, roomIn(maxTokens), roomIn(maxTokens));
  const textSegments = plain.filter(({ start, end }) => end > start).length;
  const [textTokens, structuredTokens] = [
    yield* count(toSaidText(bytes, plain), parts.tokens.slice(0, textSegments)),
    yield* count(toSaidText(bytes, own), parts.tokens.slice(textSegments)),
  ];
  const tokens = repetition === "none" ? textTokens + structuredTokens : Math.max(textTokens, structuredTokens);
  if (tokens <= maxTokens) return undefined;
  return { result: bytes, texts, said, parts, repetition, textTokens, structuredTokens, tokens };
}

/** Up to this size the words of a text are looked at; beyond it only its bytes, which is a tenth of the work. */
const countedWords = 131_072;

/** `known` are the tokens of its segments, as far as they were counted with the parts. */
function* count(said: SaidText, known: readonly number[]): Generator<void, number> {
  if (said.bytes.length <= countedWords) return estimateTokens(decodeText(said));
  const tokens = known.length > 0 ? known : (yield* findParts(said, largestPart, largestPart)).tokens;
  return Math.ceil(tokens.reduce((sum, one) => sum + one, 0));
}

/** In one part as good as any text. */
const largestPart = 1_000_000;
