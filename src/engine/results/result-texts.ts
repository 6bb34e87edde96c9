import { isDeepStrictEqual } from "node:util";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import { deepestJson } from "../../kernel/limits.ts";
import type { JsonBytes } from "../../kernel/text/json-bytes.ts";
import { openBrace, quote } from "../../wire/json/characters.ts";
import { JsonOutline, type ListedElement } from "../../wire/json/json-outline.ts";
import { findMember, scanMembers, skipSpace, type Member, type Span } from "../../wire/json/json-scan.ts";
import { checkJson } from "../../wire/json/json-validity.ts";
import type { ResultOutline } from "../../wire/mcp/result-bytes.ts";
import { isSameJson, isSameText } from "./same-text.ts";

/** The texts of a result that a model reads, and their positions in the bytes. */
export interface ResultTexts {
  readonly members: readonly Member[];
  /** `content` of a tool's result, or `contents` of a resource's; undefined when there is none. */
  readonly list: Span | undefined;
  /** Its elements, in order. */
  readonly blocks: readonly Block[];
  readonly structured: Member | undefined;
  /** Bytes of all texts and of the structured content: tokens are never more than these. */
  readonly textBytes: number;
}

export interface Block extends Span {
  /** Between the quotes of the string that a model reads; undefined for images, audio, links and binary resources. */
  readonly text: Span | undefined;
}

/** A result, and where its parts are, if that is known. */
export interface OutlinedResult {
  readonly bytes: JsonBytes;
  readonly outline?: ResultOutline | undefined;
}

/** As many as `limits.contentBlocks` lets pass, and more. */
const mostBlocks = 1_000_000;
/** How many blocks are looked at before others may have their turn. */
const sliceBlocks = 256;

/** Throws PARSE_ERROR for bytes that are no result: those are refused before anybody asks for their texts. */
export function* findTexts(
  { bytes, outline }: OutlinedResult,
  listName: "content" | "contents",
): Generator<void, ResultTexts> {
  const { members, elements } = outline?.elements === undefined ? yield* outlineOf(bytes, listName) : outline;
  const structured = findMember(members, "structuredContent");
  const blocks: Block[] = [];
  let textBytes = structured === undefined ? 0 : structured.end - structured.start;
  for (const element of elements ?? []) {
    const block = toBlock(bytes, element);
    if (block.text !== undefined) textBytes += block.text.end - block.text.start + 2;
    if (blocks.push(block) % sliceBlocks === 0) yield;
  }
  const list = elements === undefined ? undefined : findMember(members, listName);
  return { members, list, blocks, structured, textBytes };
}

function* outlineOf(bytes: JsonBytes, list: string): Generator<void, ResultOutline> {
  if (bytes[skipSpace(bytes, 0, bytes.length)] !== openBrace)
    throw new GatewayError("PARSE_ERROR", "the result is no JSON object");
  const outline = new JsonOutline(bytes, { list, names: ["text"], most: mostBlocks });
  yield* checkJson(bytes, deepestJson, { outline });
  return outline;
}

/** A block of text has `text`; an embedded resource has it one level down. */
function toBlock(bytes: JsonBytes, { start, end, members }: ListedElement): Block {
  const own = members.get("text");
  if (own !== undefined) return { start, end, text: insideOf(bytes, own) };
  const resource =
    bytes[start] === openBrace ? findMember(scanMembers(bytes, start, end, deepestJson), "resource") : undefined;
  if (resource === undefined || bytes[resource.start] !== openBrace) return { start, end, text: undefined };
  const inner = findMember(scanMembers(bytes, resource.start, resource.end, deepestJson), "text");
  return { start, end, text: inner === undefined ? undefined : insideOf(bytes, inner) };
}

function insideOf(bytes: JsonBytes, { start, end }: Span): Span | undefined {
  return bytes[start] === quote ? { start: start + 1, end: end - 1 } : undefined;
}

/**
 * Whether a text only says once more what the structured content says: all of it as JSON (2025-06-18, tools,
 * "Structured Content": servers SHOULD do so for older clients), or its only member, as servers with text results do
 * (`{"content": "…"}`, `{"result": "…"}`). A client that hands both to its model doubles the cost.
 */
export type Repetition = "none" | "as JSON" | "of its only member";

/** Up to this size both are parsed, so that the order of members and the spelling of numbers make no difference. */
const parsedUpToBytes = 131_072;

export function* findRepetition(bytes: JsonBytes, text: Span, structured: Span): Generator<void, Repetition> {
  const said = { ...text, spelling: "escaped" } as const;
  const member = onlyMember(bytes, structured);
  if (member !== undefined && bytes[member.start] === quote) {
    const inside = { start: member.start + 1, end: member.end - 1, spelling: "escaped" } as const;
    if (yield* isSameText(bytes, said, inside)) return "of its only member";
  }
  if (yield* isSameJson(bytes, said, { start: structured.start, end: structured.end, spelling: "plain" }))
    return "as JSON";
  if (
    member !== undefined &&
    (yield* isSameJson(bytes, said, { start: member.start, end: member.end, spelling: "plain" }))
  )
    return "of its only member";
  const isSmall = text.end - text.start <= parsedUpToBytes && structured.end - structured.start <= parsedUpToBytes;
  return isSmall ? parsedRepetition(bytes, text, structured) : "none";
}

function parsedRepetition(bytes: JsonBytes, text: Span, structured: Span): Repetition {
  try {
    const said: unknown = JSON.parse(JSON.parse(bytes.toString("utf8", text.start - 1, text.end + 1)) as string);
    const whole = JSON.parse(bytes.toString("utf8", structured.start, structured.end)) as object;
    if (typeof said !== "object") return "none";
    if (isDeepStrictEqual(said, whole)) return "as JSON";
    const [only, ...others] = Object.values(whole) as unknown[];
    return others.length === 0 && isDeepStrictEqual(said, only) ? "of its only member" : "none";
  } catch {
    return "none";
  }
}

/** The member of an object that has one and no other. */
export function onlyMember(bytes: JsonBytes, structured: Span): Member | undefined {
  if (bytes[structured.start] !== openBrace) return undefined;
  const members = scanMembers(bytes, structured.start, structured.end, deepestJson);
  return members.length === 1 ? members[0] : undefined;
}
