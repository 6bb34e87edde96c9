import { deepestJson } from "../../kernel/limits.ts";
import { isJsonObject, type JsonBytes, type JsonObject } from "../../kernel/json-bytes.ts";
import { findMember, scanFor, scanMembers } from "../json/json-scan.ts";

/** What a result was seen to say, without being parsed. */
export interface SeenInResult {
  readonly isError?: boolean;
  readonly saysType?: boolean;
}

/**
 * A result as the bytes that its server wrote, together with the value parsed from them, if any. The two always
 * match: changed bytes make a new object that has not been parsed.
 */
export class ResultBytes {
  readonly bytes: JsonBytes;
  #parsed: JsonObject | undefined;
  #isError: boolean | undefined;
  #saysType: boolean | undefined;

  /** `parsed`, and what was `seen` without parsing, where given, must be what the bytes contain. */
  constructor(bytes: JsonBytes, parsed?: JsonObject, seen?: SeenInResult) {
    this.bytes = bytes;
    this.#parsed = parsed;
    this.#isError = seen?.isError;
    this.#saysType = seen?.saysType;
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

  /** Whether it has a `resultType`. Only what has the word in it is looked through. */
  get saysType(): boolean {
    if (this.#parsed !== undefined) return this.#parsed["resultType"] !== undefined;
    return (this.#saysType ??= mayHoldType(this.bytes) && hasType(this.bytes));
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

const typeWord = Buffer.from("resultType");

/** A key may also be spelled with escapes, which begin with a backslash. */
function mayHoldType(bytes: JsonBytes): boolean {
  return bytes.includes(typeWord) || bytes.includes("\\u");
}

function hasType(bytes: JsonBytes): boolean {
  return scanFor(bytes, 0, bytes.length, deepestJson, "resultType") !== undefined;
}
