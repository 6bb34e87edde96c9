import { GatewayError } from "../../../kernel/failures/gateway-error.ts";
import { isJsonObject, type JsonBytes, type JsonObject } from "../../../kernel/text/json-bytes.ts";
import { parseExact } from "../../../wire/json/exact-json.ts";
import { spliceJson } from "../../../wire/json/spliced-json.ts";
import { ResultBytes } from "../../../wire/mcp/result-bytes.ts";
import { anyShape, isValue, resultShape } from "../../../wire/mcp/shapes/result-shapes.ts";
import { isObject, Notes, type Shape } from "../../../wire/mcp/shapes/shape.ts";
import { faulty, tooManyBlocks, toVerdict, type ResultLimits, type ResultSubject } from "./result-faults.ts";

/** The same as `checkResult`, in one turn and by parsing all of it, with the value that was parsed. */
export function checkParsed(subject: ResultSubject, result: JsonBytes, limits: ResultLimits): ResultBytes {
  const { what, method } = subject;
  const parsed = parseObject(what, result);
  if (method === "tools/call" && isPlain(parsed, limits)) return new ResultBytes(result, parsed);
  if (!isValue(parsed)) return mend({ what, shape: anyShape }, result, parsed);
  const { content } = parsed;
  if (method === "tools/call" && Array.isArray(content) && content.length > limits.contentBlocks)
    throw tooManyBlocks(what, limits);
  return mend({ what, shape: resultShape(method, what) ?? anyShape }, result, parsed);
}

/** Whether it is as nearly all results are: plain text, beside an object at most. No other shape allows less. */
function isPlain(result: JsonObject, { contentBlocks }: ResultLimits): boolean {
  const { content, isError, structuredContent, _meta, resultType } = result;
  if (!Array.isArray(content) || content.length === 0 || content.length > contentBlocks || _meta !== undefined)
    return false;
  if (isError !== undefined && typeof isError !== "boolean") return false;
  if (resultType !== undefined && resultType !== "complete") return false;
  if (structuredContent !== undefined && !isJsonObject(structuredContent)) return false;
  for (const block of content as readonly unknown[]) {
    if (!isJsonObject(block) || block["type"] !== "text" || typeof block["text"] !== "string") return false;
    if (block["annotations"] !== undefined || block["_meta"] !== undefined) return false;
  }
  return true;
}

interface Mending {
  readonly what: string;
  readonly shape: Shape;
}

function mend({ what, shape }: Mending, result: JsonBytes, parsed: JsonObject): ResultBytes {
  const notes = new Notes();
  try {
    const made = shape(parsed, notes);
    if (made === parsed) return new ResultBytes(result, parsed, undefined, toVerdict(notes));
    if (!isObject(made)) throw faulty(what, "is no object");
    // Once more with all numbers as they are. Nearly no result comes here.
    const exact = parseExact(result.toString("utf8"));
    const bytes = spliceJson(result, exact, shape(exact, new Notes()));
    return new ResultBytes(bytes, parseObject(what, bytes), undefined, toVerdict(notes));
  } catch (error) {
    // A value that is to become text may nest more deeply than can be written.
    const isTooDeep = error instanceof RangeError || (error instanceof GatewayError && error.code === "BODY_TOO_DEEP");
    throw isTooDeep ? faulty(what, "nests too deeply") : error;
  }
}

function parseObject(path: string, result: JsonBytes): JsonObject {
  let parsed: unknown;
  try {
    parsed = JSON.parse(result.toString("utf8"));
  } catch {
    throw faulty(path, "is no valid JSON");
  }
  if (!isJsonObject(parsed)) throw faulty(path, "is no object");
  return parsed;
}
