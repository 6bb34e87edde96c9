import { parseExact } from "../../json/exact-json.ts";
import { spliceJson } from "../../json/spliced-json.ts";
import { blockRevisions, toJson, toTextBlock } from "./content-shapes.ts";
import { ResultBytes } from "../result-bytes.ts";
import { modernRevision } from "../revisions.ts";
import { isObject } from "./shape.ts";

/**
 * A result as clients of this revision can read it: a value that is no object is left out of it before 2026-07-28, and
 * blocks of types that came later are text. The same object where the revision can hold it, as nearly always.
 */
export function fitResult(result: ResultBytes, revision: string): ResultBytes {
  if (result.verdict === undefined || result.verdict.needs <= revision) return result;
  const given = parseExact(result.bytes.toString("utf8"));
  if (!isObject(given)) return result;
  const fitting = { ...given };
  const { content, messages, structuredContent } = given;
  if (Array.isArray(content)) fitting["content"] = eachOf(content, (block) => olderBlock(block, revision));
  if (Array.isArray(messages)) fitting["messages"] = eachOf(messages, (message) => olderMessage(message, revision));
  if (structuredContent !== undefined && !isObject(structuredContent) && revision < modernRevision) {
    delete fitting["structuredContent"];
    const blocks: readonly unknown[] = Array.isArray(fitting["content"]) ? fitting["content"] : [];
    if (!blocks.some((block) => isObject(block) && block["type"] === "text"))
      fitting["content"] = [...blocks, { type: "text", text: toJson(structuredContent) }];
  }
  return new ResultBytes(spliceJson(result.bytes, given, fitting));
}

function eachOf(list: readonly unknown[], fit: (item: unknown) => unknown): readonly unknown[] {
  const fitting = list.map(fit);
  return fitting.every((item, index) => item === list[index]) ? list : fitting;
}

function olderBlock(block: unknown, revision: string): unknown {
  const since = isObject(block) && typeof block["type"] === "string" ? blockRevisions[block["type"]] : undefined;
  return since !== undefined && since > revision ? toTextBlock(block) : block;
}

function olderMessage(message: unknown, revision: string): unknown {
  if (!isObject(message)) return message;
  const content = olderBlock(message["content"], revision);
  return content === message["content"] ? message : { ...message, content };
}
