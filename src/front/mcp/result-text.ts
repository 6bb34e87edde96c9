import { asciiJson } from "../../protocol/ascii-json.ts";
import { findMember, scanMembers } from "../../protocol/json-scan.ts";
import { metaKeys } from "../../protocol/revisions.ts";
import type { Era } from "../../shared/call-context.ts";
import type { JsonBytes } from "../../shared/json-bytes.ts";

const depthLimit = 1_000;

/**
 * A server's result as the client's era wants it, as latin1 text. To a modern client every result says `resultType` and carries our
 * serverInfo, whoever made it (2026-07-28, basic/index: protocol keys of `_meta` belong to the hop). Everything else is the server's bytes.
 */
export function toResultText(result: JsonBytes, era: Era, serverInfoText: string, hints = ""): string {
  if (era === "legacy") return result.toString("latin1");
  const members = scanMembers(result, 0, result.length, depthLimit);
  const lead = `${findMember(members, "resultType") === undefined ? '"resultType":"complete"' : ""}`;
  const extra = [lead, findMember(members, "ttlMs") === undefined ? hints : ""].filter((part) => part !== "").join(",");
  const meta = findMember(members, "_meta");
  const open = result.indexOf(openBrace) + 1;
  const serverInfo = `"${metaKeys.serverInfo}":${serverInfoText}`;
  if (meta === undefined || result[meta.start] !== openBrace) {
    const added = `${extra === "" ? "" : `${extra},`}"_meta":{${serverInfo}}`;
    return `{${added}${members.length > 0 ? "," : ""}${result.toString("latin1", open)}`;
  }
  const own = scanMembers(result, meta.start, meta.end, depthLimit);
  const theirs = findMember(own, metaKeys.serverInfo);
  const before = `{${extra === "" ? "" : `${extra},`}${result.toString("latin1", open, theirs?.start ?? meta.start + 1)}`;
  if (theirs !== undefined) return `${before}${serverInfoText}${result.toString("latin1", theirs.end)}`;
  return `${before}${serverInfo}${own.length > 0 ? "," : ""}${result.toString("latin1", meta.start + 1)}`;
}

/** A result of our own. */
export function ownResultText(result: object, era: Era, serverInfoText: string): string {
  const text = asciiJson(result);
  if (era === "legacy") return text;
  return `{"resultType":"complete","_meta":{"${metaKeys.serverInfo}":${serverInfoText}}${text === "{}" ? "" : ","}${text.slice(1)}`;
}

const openBrace = 0x7b;
