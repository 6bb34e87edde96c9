import { estimateTokens } from "../../catalog/exposure/token-estimate.ts";
import type { JsonBytes } from "../../kernel/json-bytes.ts";
import { asciiJson } from "../../wire/json/ascii-json.ts";
import { noteBlock } from "../../wire/mcp/own-names.ts";
import { quote } from "../../wire/json/characters.ts";
import type { Span } from "../../wire/json/json-scan.ts";
import type { KeptText } from "./kept-page.ts";
import { toElementLines } from "./element-lines.ts";
import type { Oversized } from "./oversized.ts";
import { onlyMember, stringAt, type Block } from "./result-texts.ts";
import { shortenJson, type ShortenedArray } from "./shorter-json.ts";
import { endOfPart } from "./text-parts.ts";

/**
 * What becomes of structured content that does not fit: it is left out for clients that were never shown its schema
 * (they need not expect it), and made shorter within its shape for those that were. It is kept whole where it cannot
 * be made shorter and still fit its schema.
 */
export type StructuredRule = "leave out" | "shorten" | "keep";

/** What a result is cut to, before it is written. */
export interface Cut {
  /** Everything that was said in text, for whoever reads on. */
  readonly kept: KeptText;
  /** The text that is given out in the blocks, from the first on. */
  readonly shown: string;
  /** Undefined: none is given out. */
  readonly structured: JsonBytes | undefined;
  /** Arrays of the structured content that lost elements. */
  readonly arrays: readonly ShortenedArray[];
  /** Estimate of what is given out, without the note. */
  readonly shownTokens: number;
}

/** Left for the note. A budget that is smaller than a few notes is given to the text all the same. */
const noteTokens = 150;

/** What is said beside what is given out. */
export interface Note {
  readonly text: string;
  /** Of the content that it is in a resource. */
  readonly uri: string | undefined;
}

/** Decides what of a result is given out. */
export function planCut(large: Oversized, maxTokens: number, rule: StructuredRule): Cut {
  const room = Math.max(maxTokens - noteTokens, Math.ceil(maxTokens / 2));
  const shares = shareTokens(large, room);
  const { bytes: structured, arrays } = cutStructured(large, shares.structured, rule);
  // It still says what the structured content says, which is no beginning of what it said.
  if (large.repetition === "as JSON" && structured !== undefined && rule === "shorten") {
    const shown = structured.toString("utf8");
    const kept = { text: large.text, maxTokens: room, shown: 0 };
    return { kept, shown, structured, arrays, shownTokens: estimateTokens(shown) };
  }
  const end = large.text === "" ? 0 : endOfPart(large.text, 0, shares.text);
  const shown = large.text.slice(0, end);
  const given = structured === undefined ? undefined : sameText(large, structured, shown);
  const kept = { text: keptText(large, structured), maxTokens: room, shown: end };
  return { kept, shown, structured: given, arrays, shownTokens: countShown(large, shown, given) };
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

/** What is small stays whole; two large ones have half each. */
function shareTokens({ repetition, textTokens, structuredTokens }: Oversized, room: number): Shares {
  if (repetition !== "none" || structuredTokens === 0) return { text: room, structured: room };
  const half = Math.floor(room / 2);
  if (structuredTokens <= half) return { text: room - structuredTokens, structured: half };
  if (textTokens <= half) return { text: half, structured: room - textTokens };
  return { text: half, structured: half };
}

interface CutStructured {
  readonly bytes: JsonBytes | undefined;
  readonly arrays: readonly ShortenedArray[];
}

function cutStructured(large: Oversized, share: number, rule: StructuredRule): CutStructured {
  const { result, texts, structuredTokens } = large;
  if (texts.structured === undefined) return { bytes: undefined, arrays: [] };
  const bytes = result.subarray(texts.structured.start, texts.structured.end);
  if (structuredTokens <= share || rule === "keep") return { bytes, arrays: [] };
  if (rule === "leave out") return { bytes: undefined, arrays: [] };
  return shortenJson(bytes, Math.floor((bytes.length * share) / structuredTokens));
}

/** All texts, and the structured content where no text says the same and it is not given out whole. */
function keptText({ result, texts, text, repetition }: Oversized, structured: JsonBytes | undefined): string {
  const whole = texts.structured;
  if (whole === undefined || repetition !== "none" || structured?.length === whole.end - whole.start) return text;
  const lines = toElementLines(result.toString("utf8", whole.start, whole.end));
  return text === "" ? lines : `${text}\n${lines}`;
}

/** Writes the result with what the cut leaves of it, and the note at its beginning. Every other byte stays. */
export function writeCut({ result, texts }: Oversized, cut: Cut, note: Note): JsonBytes {
  const blocks = [toBlock(note), ...shownBlocks(result, texts.blocks, cut.shown)];
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

/** Texts as far as they are shown; what is no text stays where it was. */
function shownBlocks(result: JsonBytes, blocks: readonly Block[], shown: string): Buffer[] {
  let at = 0;
  return blocks.flatMap((block) => {
    if (block.text === undefined) return [result.subarray(block.start, block.end)];
    if (at > 0 && at >= shown.length) return [];
    const whole = toElementLines(stringAt(result, block.text));
    const text = shown.slice(at, at + whole.length);
    at += whole.length + 1;
    return [
      text.length === whole.length
        ? result.subarray(block.start, block.end)
        : withText(result, block, block.text, text),
    ];
  });
}

function withText(result: JsonBytes, block: Block, place: Span, text: string): Buffer {
  return Buffer.concat([
    result.subarray(block.start, place.start),
    Buffer.from(asciiJson(text), "latin1"),
    result.subarray(place.end, block.end),
  ]);
}

/** A block of a tool's result, or a content of a resource. */
function toBlock({ text, uri }: Note): Buffer {
  const block = uri === undefined ? noteBlock(text) : { uri, mimeType: "text/plain", text };
  return Buffer.from(asciiJson(block), "latin1");
}
