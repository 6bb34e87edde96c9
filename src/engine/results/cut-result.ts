import { estimateTokens } from "../../catalog/exposure/text/token-estimate.ts";
import type { JsonBytes } from "../../kernel/text/json-bytes.ts";
import { asciiJson } from "../../wire/json/ascii-json.ts";
import { noteBlock } from "../../wire/mcp/shapes/own-names.ts";
import { quote } from "../../wire/json/characters.ts";
import type { KeptText } from "./kept-page.ts";
import { roomIn, type Oversized } from "./oversized.ts";
import { onlyMember, type Block } from "./result-texts.ts";
import { readText, type Place } from "./said-text.ts";
import { shortenJson, type ShortenedArray } from "./shorter-json.ts";
import { findParts } from "./text-parts.ts";

/**
 * What becomes of structured content that does not fit: it is left out for clients that were never shown its schema
 * (they need not expect it), and made shorter within its shape for those that were. It is kept whole where it cannot
 * be made shorter and still fit its schema.
 */
export type StructuredRule = "leave out" | "shorten" | "keep";

/** What a result is cut to, before it is written. */
export interface Cut {
  /** The whole text, for reading on. */
  readonly kept: KeptText;
  /** Up to where in that text the blocks give it out. */
  readonly shownEnd: number;
  /** The text that is given out in place of the only one. */
  readonly instead: string | undefined;
  /** Undefined: none is given out. */
  readonly structured: JsonBytes | undefined;
  /** Arrays of the structured content that lost elements. */
  readonly arrays: readonly ShortenedArray[];
  /** Estimate of the part that is returned, without the note. */
  readonly shownTokens: number;
}

/** The note beside the part that is returned. */
export interface Note {
  readonly text: string;
  /** Of the content that it is in a resource. */
  readonly uri: string | undefined;
}

const beginning: Place = { at: 0, isInString: false };

/** Decides what of a result is given out. In slices, as `findOversized`. */
export function* planCut(large: Oversized, maxTokens: number, rule: StructuredRule): Generator<void, Cut> {
  const room = roomIn(maxTokens);
  const shares = shareTokens(large, room, rule);
  const { bytes: structured, arrays } = yield* cutStructured(large, shares.structured, rule);
  const { said, repetition } = large;
  // It still says what the structured content says, which is no beginning of what it said.
  if (repetition === "as JSON" && structured !== undefined && rule === "shorten") {
    const instead = structured.toString("utf8");
    const kept = { said, starts: large.parts.starts, maxTokens: room, isBeginningShown: false };
    return { kept, shownEnd: 0, instead, structured, arrays, shownTokens: estimateTokens(instead) };
  }
  const { starts } = shares.text === room ? large.parts : yield* findParts(said, shares.text, room);
  const kept = keepWhatIsSaid(large, structured, { starts, maxTokens: room });
  const shownEnd = kept.isBeginningShown ? (kept.starts[1]?.at ?? kept.said.bytes.length) : 0;
  const shown = readText(kept.said, beginning, shownEnd);
  const given = structured === undefined ? undefined : sameText(large, structured, shown);
  return {
    kept,
    shownEnd,
    instead: undefined,
    structured: given,
    arrays,
    shownTokens: countShown(large, shown, given),
  };
}

/**
 * All texts, and the structured content where no text says the same and it is not given out whole. The first part ends
 * with the texts, because the blocks give out nothing else.
 */
function keepWhatIsSaid(
  { said, texts, repetition }: Oversized,
  structured: JsonBytes | undefined,
  { starts, maxTokens }: Pick<KeptText, "starts" | "maxTokens">,
): KeptText {
  const whole = texts.structured;
  if (whole === undefined || repetition !== "none") return { said, starts, maxTokens, isBeginningShown: true };
  const textEnd = said.segments.at(-1)?.start ?? 0;
  const isBeginningShown = textEnd > 0;
  if (structured?.length === whole.end - whole.start) {
    const own = { bytes: said.bytes.subarray(0, textEnd), segments: said.segments.slice(0, -1) };
    return { said: own, starts: starts.filter(({ at }) => at === 0 || at < textEnd), maxTokens, isBeginningShown };
  }
  const [first = beginning, second, ...others] = starts;
  const isLater = second === undefined ? isBeginningShown : second.at > textEnd && isBeginningShown;
  const behind = { at: textEnd, isInString: false };
  return {
    said,
    starts: isLater ? [first, behind, ...(second === undefined ? [] : [second]), ...others] : starts,
    maxTokens,
    isBeginningShown,
  };
}

/** Where its only member is the text, and both are cut, both end at the same line. */
function sameText({ texts, result, repetition }: Oversized, structured: JsonBytes, shown: string): JsonBytes {
  const whole = texts.structured;
  if (repetition !== "of its only member" || whole === undefined) return structured;
  const member = onlyMember(result, whole);
  if (member === undefined || result[member.start] !== quote || structured.length === whole.end - whole.start)
    return structured;
  const name = result.subarray(member.keyStart, member.start);
  return Buffer.concat([Buffer.from("{"), name, Buffer.from(`${asciiJson(shown)}}`, "latin1")]);
}

/** What says the same is counted once, as in the tokens of the whole result. */
function countShown({ repetition }: Oversized, shown: string, structured: JsonBytes | undefined): number {
  const text = estimateTokens(shown);
  if (structured === undefined) return text;
  const tokens = estimateTokens(structured.toString("utf8"));
  return repetition === "none" ? text + tokens : Math.max(text, tokens);
}

interface Shares {
  readonly text: number;
  readonly structured: number;
}

/** A small one stays whole; two large ones have half each, where both are returned. */
function shareTokens(
  { repetition, textTokens, structuredTokens }: Oversized,
  room: number,
  rule: StructuredRule,
): Shares {
  const half = Math.floor(room / 2);
  if (repetition !== "none" || structuredTokens === 0) return { text: room, structured: room };
  if (structuredTokens <= half) return { text: room - structuredTokens, structured: half };
  if (rule === "leave out") return { text: room, structured: half };
  if (textTokens <= half) return { text: half, structured: room - textTokens };
  return { text: half, structured: half };
}

interface CutStructured {
  readonly bytes: JsonBytes | undefined;
  readonly arrays: readonly ShortenedArray[];
}

function* cutStructured(large: Oversized, share: number, rule: StructuredRule): Generator<void, CutStructured> {
  const { result, texts, structuredTokens } = large;
  if (texts.structured === undefined) return { bytes: undefined, arrays: [] };
  const bytes = result.subarray(texts.structured.start, texts.structured.end);
  if (structuredTokens <= share || rule === "keep") return { bytes, arrays: [] };
  if (rule === "leave out") return { bytes: undefined, arrays: [] };
  return yield* shortenJson(bytes, Math.floor((bytes.length * share) / structuredTokens));
}

/** Writes the result with what the cut leaves of it, and the note at its beginning. Every other byte stays. */
export function writeCut({ result, texts }: Oversized, cut: Cut, note: Note): JsonBytes {
  const blocks = [toBlock(note), ...shownBlocks(result, texts.blocks, cut)];
  const list = Buffer.concat([Buffer.from("["), ...joined(blocks), Buffer.from("]")]);
  const members: Buffer[] = [];
  for (const member of texts.members) {
    const name = result.subarray(member.keyStart, member.start);
    if (texts.list?.start === member.start) members.push(Buffer.concat([name, list]));
    else if (texts.structured?.start !== member.start) members.push(result.subarray(member.keyStart, member.end));
    else if (cut.structured !== undefined) members.push(Buffer.concat([name, cut.structured]));
  }
  if (texts.list === undefined) members.push(Buffer.concat([Buffer.from('"content":'), list]));
  return Buffer.concat([Buffer.from("{"), ...joined(members), Buffer.from("}")]);
}

function joined(pieces: readonly Buffer[]): Buffer[] {
  return pieces.flatMap((piece, index) => (index === 0 ? [piece] : [Buffer.from(","), piece]));
}

/** Texts as far as they are shown; other blocks stay where they were. */
function shownBlocks(result: JsonBytes, blocks: readonly Block[], { kept, shownEnd, instead }: Cut): Buffer[] {
  let at = 0;
  return blocks.flatMap(({ start, end, text }) => {
    if (text === undefined) return [result.subarray(start, end)];
    const place = { at, isInString: false };
    at += text.end - text.start;
    if (instead === undefined && at <= shownEnd) return [result.subarray(start, end)];
    if (instead === undefined && place.at > 0 && place.at >= shownEnd) return [];
    const shown = instead ?? readText(kept.said, place, shownEnd);
    // The quotes around it are written with it.
    const before = result.subarray(start, text.start - 1);
    return [Buffer.concat([before, Buffer.from(asciiJson(shown), "latin1"), result.subarray(text.end + 1, end)])];
  });
}

/** A block of a tool's result, or a content of a resource. */
function toBlock({ text, uri }: Note): Buffer {
  const block = uri === undefined ? noteBlock(text) : { uri, mimeType: "text/plain", text };
  return Buffer.from(asciiJson(block), "latin1");
}
