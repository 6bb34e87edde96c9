import { deepestJson } from "../../../kernel/limits.ts";
import { openBrace } from "../../../wire/json/characters.ts";
import { asciiJson } from "../../../wire/json/ascii-json.ts";
import { findMember, scanMembers, scanNested } from "../../../wire/json/json-scan.ts";
import { metaKeys } from "../../../wire/mcp/revisions.ts";
import type { Era } from "../../../kernel/call/call-context.ts";
import type { JsonBytes, JsonObject } from "../../../kernel/text/json-bytes.ts";
import type { ResultBytes } from "../../../wire/mcp/result-bytes.ts";

/**
 * Text that is ready to be written: a latin1 string, or for something large its pieces, in which what passes through
 * is the server's own bytes. A megabyte as a string would be copied three times, and each copy is work for the
 * garbage collector.
 */
export type WireText = string | readonly (string | Buffer)[];

/** From here on a copy costs more than an additional piece. */
const piecesFromBytes = 32_768;

export function joinText(text: WireText): string {
  if (typeof text === "string") return text;
  let joined = "";
  for (const piece of text) joined += typeof piece === "string" ? piece : piece.toString("latin1");
  return joined;
}

/** In bytes: the text is latin1. */
export function textLength(text: WireText): number {
  return typeof text === "string" ? text.length : text.reduce((sum, piece) => sum + piece.length, 0);
}

/** The same with something before it; a string stays one. */
export function prefixed(prefix: string, text: WireText): WireText {
  return typeof text === "string" ? prefix + text : [prefix, ...text];
}

/**
 * A server's result as the client's era wants it. To a modern client every result says `resultType` and carries our
 * serverInfo, whatever its origin (2026-07-28, basic/index: protocol keys of `_meta` belong to the hop); to a legacy
 * one none does, because its revisions have no such member. Everything else is the server's bytes.
 */
export function toResultText(answer: ResultBytes, era: Era, serverInfoText: string, hints = ""): WireText {
  const { bytes: result, known: parsed } = answer;
  const isLarge = result.length >= piecesFromBytes;
  if (era === "legacy") {
    if (!answer.saysType) return isLarge ? [result] : result.toString("latin1");
    if (answer.outline !== undefined) return withoutType(answer, isLarge);
    return withoutPlainType(result, isLarge) ?? withoutType(answer, isLarge);
  }
  const cut: Cut = isLarge
    ? (start, end) => result.subarray(start, end)
    : (start, end) => result.toString("latin1", start, end);
  const pieces =
    parsed === undefined || parsed["_meta"] !== undefined
      ? joinedPieces(answer, cut, serverInfoText, hints)
      : plainPieces(result, cut, parsed, serverInfoText, hints);
  return isLarge ? pieces : joinText(pieces);
}

const firstTypeText = '{"resultType":"complete",';
const lastTypeText = ',"resultType":"complete"}';
const typeKeyText = '"resultType"';
/** How a name begins that is spelled with an escape. */
const escapeText = "\\u";
const [firstType, lastType, typeKey, escape] = [firstTypeText, lastTypeText, typeKeyText, escapeText].map((text) =>
  Buffer.from(text),
) as [Buffer, Buffer, Buffer, Buffer];

/**
 * The result without its `resultType` where servers usually write it, at the beginning or at the end. Undefined when
 * it may stand anywhere else too: spelled with an escape, or a second time. Looking for that takes a tenth of the time
 * of a scan.
 */
function withoutPlainType(result: JsonBytes, isLarge: boolean): WireText | undefined {
  if (!isLarge) return withoutTypeText(result.toString("latin1"));
  const isFirst = result.subarray(0, firstType.length).equals(firstType);
  if (!isFirst && !result.subarray(-lastType.length).equals(lastType)) return undefined;
  const start = isFirst ? firstType.length : 0;
  const end = isFirst ? result.length : result.length - lastType.length;
  const at = result.indexOf(typeKey, start);
  if ((at >= 0 && at < end) || result.includes(escape)) return undefined;
  const [before, after] = isFirst ? ["{", ""] : ["", "}"];
  return [before, result.subarray(start, end), after];
}

/** The same for a result that is made a string in any case: there, looking costs a third. */
function withoutTypeText(text: string): string | undefined {
  const isFirst = text.startsWith(firstTypeText);
  if (!isFirst && !text.endsWith(lastTypeText)) return undefined;
  const rest = isFirst ? `{${text.slice(firstTypeText.length)}` : `${text.slice(0, -lastTypeText.length)}}`;
  return rest.includes(typeKeyText) || text.includes(escapeText) ? undefined : rest;
}

/** The result without its `resultType`, wherever that is, and however often. */
function withoutType(answer: ResultBytes, isLarge: boolean): WireText {
  const { bytes: result } = answer;
  const members = answer.members();
  const pieces: Buffer[] = [];
  let lead = "{";
  // Runs of members that stay, each with its commas as they were.
  for (let from = 0; from < members.length; from += 1) {
    if (members[from]?.is("resultType") === true) continue;
    let to = from;
    while (members[to + 1]?.is("resultType") === false) to += 1;
    pieces.push(Buffer.from(lead), result.subarray(members[from]?.keyStart, members[to]?.end));
    lead = ",";
    from = to;
  }
  pieces.push(Buffer.from(pieces.length === 0 ? "{}" : "}"));
  return isLarge ? pieces : Buffer.concat(pieces).toString("latin1");
}

/** The bytes of the result from `start` to `end`, or to its end. */
type Cut = (start: number, end?: number) => string | Buffer;

/** Its members are known already, and no `_meta` has to be merged. */
function plainPieces(
  result: JsonBytes,
  cut: Cut,
  parsed: JsonObject,
  serverInfoText: string,
  hints: string,
): (string | Buffer)[] {
  const type = parsed["resultType"] === undefined ? '"resultType":"complete",' : "";
  const caching = hints === "" || parsed["ttlMs"] !== undefined ? "" : `${hints},`;
  let isEmpty = true;
  for (const _key in parsed) isEmpty = false;
  return [
    `{${type}${caching}"_meta":{"${metaKeys.serverInfo}":${serverInfoText}}${isEmpty ? "" : ","}`,
    cut(result.indexOf(openBrace) + 1),
  ];
}

function joinedPieces(answer: ResultBytes, cut: Cut, serverInfoText: string, hints: string): (string | Buffer)[] {
  const { bytes: result } = answer;
  const { members, inner: own } = membersOf(answer);
  const type = findMember(members, "resultType") === undefined ? '"resultType":"complete",' : "";
  const caching = hints === "" || findMember(members, "ttlMs") !== undefined ? "" : `${hints},`;
  const open = result.indexOf(openBrace) + 1;
  const serverInfo = `"${metaKeys.serverInfo}":${serverInfoText}`;
  const meta = findMember(members, "_meta");
  if (meta === undefined)
    return [`{${type}${caching}"_meta":{${serverInfo}}${members.length > 0 ? "," : ""}`, cut(open)];
  // No object, so nothing of it is worth keeping; two of that name would be read in as many ways as there are clients.
  if (own === undefined) return [`{${type}${caching}`, cut(open, meta.start), `{${serverInfo}}`, cut(meta.end)];
  const theirs = findMember(own, metaKeys.serverInfo);
  const lead = `{${type}${caching}`;
  if (theirs !== undefined) return [lead, cut(open, theirs.start), serverInfoText, cut(theirs.end)];
  return [lead, cut(open, meta.start + 1), `${serverInfo}${own.length > 0 ? "," : ""}`, cut(meta.start + 1)];
}

/** The members of a result, and those of its `_meta` if that is an object. */
function membersOf({ bytes, outline }: ResultBytes): ReturnType<typeof scanNested> {
  if (outline === undefined) return scanNested(bytes, 0, bytes.length, deepestJson, "_meta");
  const { members } = outline;
  const meta = findMember(members, "_meta");
  const isObject = meta !== undefined && bytes[meta.start] === openBrace;
  return { members, inner: isObject ? scanMembers(bytes, meta.start, meta.end, deepestJson) : undefined };
}

/** A result of our own. */
export function ownResultText(result: object, era: Era, serverInfoText: string, meta?: JsonObject): string {
  const text = asciiJson(result);
  if (era === "legacy") return text;
  const more = meta === undefined ? "" : `,${asciiJson(meta).slice(1, -1)}`;
  return `{"resultType":"complete","_meta":{"${metaKeys.serverInfo}":${serverInfoText}${more}}${text === "{}" ? "" : ","}${text.slice(1)}`;
}
