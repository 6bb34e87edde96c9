import { deepestJson } from "../../kernel/limits.ts";
import { isJsonObject, type JsonBytes, type JsonObject } from "../../kernel/json-bytes.ts";
import { findMember, scanMembers } from "../json/json-scan.ts";

/**
 * A result as the bytes that its server wrote, together with the value parsed from them, if any. The two always
 * match: changed bytes make a new object that has not been parsed.
 */
export class ResultBytes {
  readonly bytes: JsonBytes;
  #parsed: JsonObject | undefined;
  #isError: boolean | undefined;

  /** `parsed` and `isError`, where given, must be what the bytes contain. */
  constructor(bytes: JsonBytes, parsed?: JsonObject, isError?: boolean) {
    this.bytes = bytes;
    this.#parsed = parsed;
    this.#isError = isError;
  }

  /** The parsed result if it has already been parsed, for optional work that is not worth parsing for. */
  get known(): JsonObject | undefined {
    return this.#parsed;
  }

  /**
   * The parsed result; parses it when first called. Throws SyntaxError or TypeError when the bytes are not a JSON
   * object.
   */
  parsed(): JsonObject {
    if (this.#parsed !== undefined) return this.#parsed;
    const parsed: unknown = JSON.parse(this.bytes.toString("utf8"));
    if (!isJsonObject(parsed)) throw new TypeError("the result is not a JSON object");
    return (this.#parsed = parsed);
  }

  /** Whether the tool reports an error with this result. A large result is only scanned for it, not parsed. */
  get isError(): boolean {
    return (this.#isError ??= this.#parsed === undefined ? hasErrorFlag(this.bytes) : this.#parsed["isError"] === true);
  }

  /**
   * Whether the result asks the client something instead of ending the request. Always known, because checking a
   * result parses those that ask.
   */
  get isQuestion(): boolean {
    return this.#parsed?.["resultType"] === "input_required";
  }

  /** A result with these bytes; the same object when the bytes are the same. */
  with(bytes: JsonBytes): ResultBytes {
    return bytes === this.bytes ? this : new ResultBytes(bytes);
  }
}

function hasErrorFlag(bytes: JsonBytes): boolean {
  const flag = findMember(scanMembers(bytes, 0, bytes.length, deepestJson), "isError");
  return flag !== undefined && bytes.toString("latin1", flag.start, flag.end) === "true";
}
