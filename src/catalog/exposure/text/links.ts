import { deepestJson } from "../../../kernel/limits.ts";
import { openBrace, openBracket } from "../../../wire/json/characters.ts";
import { toNativeUri, toRawUri, toSkillUri } from "../../model/resource-uri.ts";
import { asciiJson } from "../../../wire/json/ascii-json.ts";
import { findMember, scanElements, scanMembers, type Span } from "../../../wire/json/json-scan.ts";
import type { ServerSlug } from "../../../kernel/ids.ts";
import { isJsonObject, type JsonBytes, type JsonObject } from "../../../kernel/text/json-bytes.ts";
import type { ResultBytes } from "../../../wire/mcp/result-bytes.ts";

const blockLimit = 1_000_000;

/**
 * The same tool or prompt result, with the URIs of resource links and embedded resources in the form that can be read
 * here (docs/design.md, "Resource addresses"). Only those strings change; every other byte stays.
 */
export function rewriteLinks(result: ResultBytes, server: ServerSlug): ResultBytes {
  const mayHold = result.known === undefined ? mayHoldLinks(result) : holdsLinks(result.known);
  return mayHold ? result.with(withLinksRewritten(result.bytes, server)) : result;
}

/** How the type of a block with an address begins. Looked for natively, in a tenth of the time that a scan takes. */
const linkMark = '"resource';

function mayHoldLinks({ bytes, outline }: ResultBytes): boolean {
  if (outline === undefined || findMember(outline.members, "messages") !== undefined) return bytes.includes(linkMark);
  return (outline.elements ?? []).some(({ members }) => {
    const type = members.get("type");
    return type !== undefined && bytes.toString("latin1", type.start, type.start + linkMark.length) === linkMark;
  });
}

function withLinksRewritten(result: JsonBytes, server: ServerSlug): JsonBytes {
  const spans: Span[] = [];
  const members = scanMembers(result, 0, result.length, deepestJson);
  collectBlocks(result, findMember(members, "content"), spans);
  const messages = findMember(members, "messages");
  for (const message of messages === undefined ? [] : elementsOf(result, messages)) {
    if (result[message.start] !== openBrace) continue;
    collectBlocks(result, findMember(scanMembers(result, message.start, message.end, deepestJson), "content"), spans);
  }
  return replaceUris(result, spans, server);
}

/** Small results have already been parsed, and nearly all of them are plain text. */
function holdsLinks(parsed: JsonObject): boolean {
  const { content, messages } = parsed;
  if (messages !== undefined) return true;
  return (
    Array.isArray(content) &&
    content.some(
      (block: unknown) => isJsonObject(block) && (block["type"] === "resource" || block["type"] === "resource_link"),
    )
  );
}

/**
 * The same as {@link rewriteLinks} for the `contents` of resources/read. `isRaw` spells them as they were asked for,
 * where that was behind `raw/`.
 */
export function rewriteContents(result: JsonBytes, server: ServerSlug, isRaw = false): JsonBytes {
  const spans: Span[] = [];
  collectUris(result, findMember(scanMembers(result, 0, result.length, deepestJson), "contents"), spans);
  return replaceUris(result, spans, server, isRaw ? toRawUri : toNativeUri);
}

/**
 * The same for the answers of skills/get and resources/directory/read: the skill, its files, or the children of the
 * directory. Digests and everything else stay the server's bytes.
 */
export function rewriteSkill(result: JsonBytes, server: ServerSlug): JsonBytes {
  const spans: Span[] = [];
  const members = scanMembers(result, 0, result.length, deepestJson);
  collectUris(result, findMember(members, "resources"), spans);
  const skill = findMember(members, "skill");
  if (skill !== undefined && result[skill.start] === openBrace) {
    const entry = scanMembers(result, skill.start, skill.end, deepestJson);
    const uri = findMember(entry, "uri");
    if (uri !== undefined) spans.push(uri);
    collectUris(result, findMember(entry, "resources"), spans);
  }
  return replaceUris(result, spans, server, toSkillUri);
}

function collectUris(bytes: Buffer, list: Span | undefined, spans: Span[]): void {
  for (const item of list === undefined ? [] : elementsOf(bytes, list)) {
    if (bytes[item.start] !== openBrace) continue;
    const uri = findMember(scanMembers(bytes, item.start, item.end, deepestJson), "uri");
    if (uri !== undefined) spans.push(uri);
  }
}

function collectBlocks(bytes: Buffer, content: Span | undefined, spans: Span[]): void {
  if (content === undefined) return;
  const blocks = bytes[content.start] === openBracket ? elementsOf(bytes, content) : [content];
  for (const block of blocks) {
    if (bytes[block.start] !== openBrace) continue;
    const members = scanMembers(bytes, block.start, block.end, deepestJson);
    const type = findMember(members, "type");
    const kind = type === undefined ? "" : bytes.toString("utf8", type.start + 1, type.end - 1);
    if (kind === "resource_link") {
      const uri = findMember(members, "uri");
      if (uri !== undefined) spans.push(uri);
    } else if (kind === "resource") {
      const resource = findMember(members, "resource");
      if (resource === undefined || bytes[resource.start] !== openBrace) continue;
      const uri = findMember(scanMembers(bytes, resource.start, resource.end, deepestJson), "uri");
      if (uri !== undefined) spans.push(uri);
    }
  }
}

function elementsOf(bytes: Buffer, span: Span): readonly Span[] {
  return bytes[span.start] === openBracket ? scanElements(bytes, span.start, span.end, deepestJson, blockLimit) : [];
}

function replaceUris(bytes: Buffer, spans: readonly Span[], server: ServerSlug, spell = toNativeUri): Buffer {
  if (spans.length === 0) return bytes;
  const pieces: Buffer[] = [];
  let from = 0;
  for (const span of [...spans].sort((left, right) => left.start - right.start)) {
    const uri: unknown = JSON.parse(bytes.toString("utf8", span.start, span.end));
    if (typeof uri !== "string") continue;
    pieces.push(bytes.subarray(from, span.start), Buffer.from(asciiJson(spell(server, uri)), "latin1"));
    from = span.end;
  }
  pieces.push(bytes.subarray(from));
  return Buffer.concat(pieces);
}
