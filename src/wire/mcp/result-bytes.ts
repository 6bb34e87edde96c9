import { deepestJson } from "../../kernel/limits.ts";
import { isJsonObject, type JsonBytes, type JsonObject } from "../../kernel/json-bytes.ts";
import { findMember, scanMembers } from "../json/json-scan.ts";

/**
 * A result as the bytes that its server wrote, together with what has been parsed of them. Nobody can hold one beside
 * the other: changed bytes are another value, of which nothing is known yet.
 */
export class ResultBytes {
  readonly bytes: JsonBytes;
  #parsed: JsonObject | undefined;
  #isError: boolean | undefined;

  /** `parsed` and `isError`, where they are given, are what these bytes hold. */
  constructor(bytes: JsonBytes, parsed?: JsonObject, isError?: boolean) {
    this.bytes = bytes;
    this.#parsed = parsed;
    this.#isError = isError;
  }

  /** What the bytes hold, if somebody needed to parse them already. For what is only quicker to do with it. */
  get known(): JsonObject | undefined {
    return this.#parsed;
  }

  /** What the bytes hold; parsed at the first time. Throws SyntaxError or TypeError when they are no JSON object. */
  parsed(): JsonObject {
    if (this.#parsed !== undefined) return this.#parsed;
    const parsed: unknown = JSON.parse(this.bytes.toString("utf8"));
    if (!isJsonObject(parsed)) throw new TypeError("the result is no JSON object");
    return (this.#parsed = parsed);
  }

  /** Whether a tool says with it that it failed. Nothing large is parsed for that. */
  get isError(): boolean {
    return (this.#isError ??= this.#parsed === undefined ? hasErrorFlag(this.bytes) : this.#parsed["isError"] === true);
  }

  /**
   * Whether it asks the client something, and is not the end of the request. Such results are parsed when they are
   * checked.
   */
  get isQuestion(): boolean {
    return this.#parsed?.["resultType"] === "input_required";
  }

  /** The result with these bytes; itself when they are the same. */
  with(bytes: JsonBytes): ResultBytes {
    return bytes === this.bytes ? this : new ResultBytes(bytes);
  }
}

function hasErrorFlag(bytes: JsonBytes): boolean {
  const flag = findMember(scanMembers(bytes, 0, bytes.length, deepestJson), "isError");
  return flag !== undefined && bytes.toString("latin1", flag.start, flag.end) === "true";
}
