import { estimateTokens } from "../../catalog/exposure/token-estimate.ts";
import type { JsonBytes } from "../../kernel/json-bytes.ts";
import { toElementLines } from "./element-lines.ts";
import { findRepetition, findTexts, stringAt, type Repetition, type ResultTexts } from "./result-texts.ts";

/** A result that costs a model more than it may. Tokens are estimates. */
export interface Oversized {
  readonly result: JsonBytes;
  readonly texts: ResultTexts;
  /** All texts, in order, each with a line for an element where it is JSON on one line. */
  readonly text: string;
  /** Whether the one text says the same as the structured content: then they are counted once. */
  readonly repetition: Repetition;
  readonly textTokens: number;
  readonly structuredTokens: number;
  readonly tokens: number;
}

/** Undefined for a result that fits; most are seen to fit by their length alone. */
export function findOversized(
  result: JsonBytes,
  listName: "content" | "contents",
  maxTokens: number,
): Oversized | undefined {
  // No token has less than a byte.
  if (result.length <= maxTokens) return undefined;
  const texts = findTexts(result, listName);
  if (texts.textBytes <= maxTokens) return undefined;
  const { structured } = texts;
  const plain = texts.blocks.flatMap(({ text }) => (text === undefined ? [] : [stringAt(result, text)]));
  const [only] = plain;
  const repetition =
    structured === undefined || plain.length > 1 || only === undefined
      ? "none"
      : findRepetition(only, result, structured);
  const textTokens = estimateLong(plain.join("\n"));
  const structuredTokens =
    structured === undefined ? 0 : estimateLong(result.toString("utf8", structured.start, structured.end));
  const tokens = repetition === "none" ? textTokens + structuredTokens : Math.max(textTokens, structuredTokens);
  if (tokens <= maxTokens) return undefined;
  return {
    result,
    texts,
    text: plain.map(toElementLines).join("\n"),
    repetition,
    textTokens,
    structuredTokens,
    tokens,
  };
}

/** Longer texts are judged by samples: counting the tokens of a megabyte takes longer than a hundred calls. */
const countedWhole = 131_072;
const samples = 16;
const sampleLength = 4_096;

function estimateLong(text: string): number {
  if (text.length <= countedWhole) return estimateTokens(text);
  let tokens = 0;
  for (let sample = 0; sample < samples; sample += 1) {
    const start = Math.floor((sample * (text.length - sampleLength)) / (samples - 1));
    tokens += estimateTokens(text.slice(start, start + sampleLength));
  }
  return Math.ceil((tokens / (samples * sampleLength)) * text.length);
}
