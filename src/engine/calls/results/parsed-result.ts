import { GatewayError } from "../../../kernel/failures/gateway-error.ts";
import { isJsonObject, type JsonBytes, type JsonObject } from "../../../kernel/text/json-bytes.ts";
import { parseExact } from "../../../wire/json/exact-json.ts";
import { parsedBytes } from "../../../wire/json/json-parts.ts";
import { spliceJson } from "../../../wire/json/spliced-json.ts";
import { ResultBytes } from "../../../wire/mcp/result-bytes.ts";
import { anyShape, isPlainMeta, isValue, resultShape } from "../../../wire/mcp/shapes/result-shapes.ts";
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
  if (!Array.isArray(content) || content.length === 0 || content.length > contentBlocks) return false;
  if (!isPlainMeta(_meta)) return false;
  if (isError !== undefined && typeof isError !== "boolean") return false;
  if (resultType !== undefined && resultType !== "complete") return false;
  if (structuredContent !== undefined && !isJsonObject(structuredContent)) return false;
  for (const block of content as readonly unknown[]) {
    if (!isJsonObject(block) || block["type"] !== "text" || typeof block["text"] !== "string") return false;
    if (block["annotations"] !== undefined || block["_meta"] !== undefined) return false;
  }
  return true;
}

/**
 * 16 MiB of rows of a table take two thirds of it; of empty objects, a result of that size takes twice as much. A limit
 * for the thread's heap would end the whole process instead, because JSON.parse cannot be interrupted.
 */
const mostParsedBytes = 160 * 1_048_576;

/**
 * The same for a thread that mends one large result: it is parsed once, with all numbers as they are, because memory is
 * what there is least of there.
 */
export function mendLarge(
  subject: ResultSubject,
  result: JsonBytes,
  limits: ResultLimits,
): Pick<ResultBytes, "bytes" | "verdict"> {
  const { what, method } = subject;
  if (parsedBytes(result) > mostParsedBytes)
    throw faulty(what, `is odd, and has too many parts to be mended: ${result.length} bytes of them`);
  const parsed = parseObject(what, result, parseExact);
  // Questions and tasks concern the gateway itself, which would have to parse them again.
  if (!isValue(parsed)) throw faulty(what, `is a question or a task of ${result.length} bytes in too many parts`);
  const { content } = parsed;
  if (method === "tools/call" && Array.isArray(content) && content.length > limits.contentBlocks)
    throw tooManyBlocks(what, limits);
  return withDepthTold(what, () => {
    const notes = new Notes();
    const made = (resultShape(method, what) ?? anyShape)(parsed, notes);
    return { bytes: spliceJson(result, parsed, made), verdict: toVerdict(notes) };
  });
}

interface Mending {
  readonly what: string;
  readonly shape: Shape;
}

function mend({ what, shape }: Mending, result: JsonBytes, parsed: JsonObject): ResultBytes {
  return withDepthTold(what, () => {
    const notes = new Notes();
    const made = shape(parsed, notes);
    if (made === parsed) return new ResultBytes(result, parsed, undefined, toVerdict(notes));
    if (!isObject(made)) throw faulty(what, "is no object");
    // Once more with all numbers as they are. Nearly no result comes here.
    const exact = parseExact(result.toString("utf8"));
    const bytes = spliceJson(result, exact, shape(exact, new Notes()));
    return new ResultBytes(bytes, parseObject(what, bytes), undefined, toVerdict(notes));
  });
}

/** A value that is to become text may nest more deeply than can be written. */
function withDepthTold<T>(what: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    const isTooDeep = error instanceof RangeError || (error instanceof GatewayError && error.code === "BODY_TOO_DEEP");
    throw isTooDeep ? faulty(what, "nests too deeply") : error;
  }
}

function parseObject(path: string, result: JsonBytes, parse: (text: string) => unknown = JSON.parse): JsonObject {
  let parsed: unknown;
  try {
    parsed = parse(result.toString("utf8"));
  } catch {
    throw faulty(path, "is no valid JSON");
  }
  if (!isJsonObject(parsed)) throw faulty(path, "is no object");
  return parsed;
}
