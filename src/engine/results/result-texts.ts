import { isDeepStrictEqual } from "node:util";
import { deepestJson } from "../../kernel/limits.ts";
import type { JsonBytes } from "../../kernel/json-bytes.ts";
import { openBrace, openBracket, quote } from "../../wire/json/characters.ts";
import { findMember, scanElements, scanMembers, type Member, type Span } from "../../wire/json/json-scan.ts";

/** What a model reads of a result, and where it stands in the bytes. */
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
  /** The string that a model reads; undefined for images, audio, links and binary resources. */
  readonly text: Span | undefined;
}

/** As many as `limits.contentBlocks` lets pass, and more. */
const mostBlocks = 1_000_000;

/** Throws PARSE_ERROR for bytes that are no result: those are refused before anybody asks for their texts. */
export function findTexts(result: JsonBytes, listName: "content" | "contents"): ResultTexts {
  const members = scanMembers(result, 0, result.length, deepestJson);
  const list = findMember(members, listName);
  const structured = findMember(members, "structuredContent");
  const isList = list !== undefined && result[list.start] === openBracket;
  const blocks = isList
    ? scanElements(result, list.start, list.end, deepestJson, mostBlocks).map((span) => toBlock(result, span))
    : [];
  let textBytes = structured === undefined ? 0 : structured.end - structured.start;
  for (const { text } of blocks) if (text !== undefined) textBytes += text.end - text.start;
  return { members, list: isList ? list : undefined, blocks, structured, textBytes };
}

/** A block of text has `text`; an embedded resource has it one level down. */
function toBlock(result: JsonBytes, { start, end }: Span): Block {
  if (result[start] !== openBrace) return { start, end, text: undefined };
  const members = scanMembers(result, start, end, deepestJson);
  const own = findMember(members, "text");
  if (own !== undefined) return { start, end, text: asString(result, own) };
  const resource = findMember(members, "resource");
  if (resource === undefined || result[resource.start] !== openBrace) return { start, end, text: undefined };
  const inner = findMember(scanMembers(result, resource.start, resource.end, deepestJson), "text");
  return { start, end, text: inner === undefined ? undefined : asString(result, inner) };
}

function asString(result: JsonBytes, span: Span): Span | undefined {
  return result[span.start] === quote ? span : undefined;
}

/** The string that stands there. */
export function stringAt(result: JsonBytes, { start, end }: Span): string {
  return JSON.parse(result.toString("utf8", start, end)) as string;
}

/**
 * Whether a text only says once more what the structured content says: all of it as JSON (2025-06-18, tools,
 * "Structured Content": servers SHOULD do so for older clients), or its only member, as servers with text results do
 * (`{"content": "…"}`, `{"result": "…"}`). A client that hands both to its model doubles the cost.
 */
export type Repetition = "none" | "as JSON" | "of its only member";

/** Texts beyond this are compared as they are written only: parsing both would hold up everybody. */
const comparedUpToBytes = 4 * 1024 * 1024;

export function findRepetition(text: string, result: JsonBytes, structured: Span): Repetition {
  const written = result.toString("utf8", structured.start, structured.end);
  if (written === text) return "as JSON";
  const member = onlyMember(result, structured);
  if (member !== undefined && result[member.start] === quote && stringAt(result, member) === text)
    return "of its only member";
  if (text.length > comparedUpToBytes || written.length > comparedUpToBytes || !looksLikeJson(text)) return "none";
  try {
    const said: unknown = JSON.parse(text);
    const whole: unknown = JSON.parse(written);
    if (isDeepStrictEqual(said, whole)) return "as JSON";
    return member !== undefined && isDeepStrictEqual(said, Object.values(whole as object)[0])
      ? "of its only member"
      : "none";
  } catch {
    return "none";
  }
}

/** The member of an object that has one and no other. */
export function onlyMember(result: JsonBytes, structured: Span): Member | undefined {
  if (result[structured.start] !== openBrace) return undefined;
  const members = scanMembers(result, structured.start, structured.end, deepestJson);
  return members.length === 1 ? members[0] : undefined;
}

function looksLikeJson(text: string): boolean {
  const first = text.charAt(text.search(/\S/));
  return first === "{" || first === "[";
}
