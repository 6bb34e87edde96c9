import { deepestJson } from "../../kernel/limits.ts";
import { isJsonObject, type JsonBytes, type JsonObject } from "../../kernel/text/json-bytes.ts";
import type { JsonOutline } from "../json/json-outline.ts";
import { findMember, scanFor, scanMembers, type Member } from "../json/json-scan.ts";

/** Where the parts of a large result are: its members, and the blocks of its `content` with their types. */
export type ResultOutline = Pick<JsonOutline, "members" | "elements">;

/** What there is to say of a result that is not as every client can read it. */
export interface Verdict {
  /** The oldest revision that can hold it; "" for all of them. */
  readonly needs: string;
  /** What was odd, and is mended in these bytes. */
  readonly oddity: string | undefined;
}

/**
 * A result as the bytes that its server wrote, together with the value parsed from them, if any. The two always
 * match: changed bytes make a new object that has not been parsed.
 */
export class ResultBytes {
  readonly bytes: JsonBytes;
  /** Where its parts are, of large results that were checked without being parsed. */
  readonly outline: ResultOutline | undefined;
  readonly verdict: Verdict | undefined;
  #parsed: JsonObject | undefined;
  #isError: boolean | undefined;
  #saysType: boolean | undefined;

  /** `parsed` and `outline`, where given, must be what the bytes contain. */
  constructor(bytes: JsonBytes, parsed?: JsonObject, outline?: ResultOutline, verdict?: Verdict) {
    this.bytes = bytes;
    this.verdict = verdict;
    this.#parsed = parsed;
    this.outline = outline;
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
    return (this.#isError ??= this.#parsed === undefined ? this.#hasErrorFlag() : this.#parsed["isError"] === true);
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
    return (this.#saysType ??= this.#hasType());
  }

  /** Its members, which are found now unless they were found when it was checked. */
  members(): readonly Member[] {
    return this.outline?.members ?? scanMembers(this.bytes, 0, this.bytes.length, deepestJson);
  }

  #hasErrorFlag(): boolean {
    const flag = findMember(this.members(), "isError");
    return flag !== undefined && this.bytes.toString("latin1", flag.start, flag.end) === "true";
  }

  #hasType(): boolean {
    if (this.outline !== undefined) return findMember(this.outline.members, "resultType") !== undefined;
    return mayHoldType(this.bytes) && hasType(this.bytes);
  }

  /** A result with these bytes, which say the same of another spelling; the same object when the bytes are the same. */
  with(bytes: JsonBytes): ResultBytes {
    return bytes === this.bytes ? this : new ResultBytes(bytes, undefined, undefined, this.verdict);
  }
}

const typeWord = Buffer.from("resultType");

/** A key may also be spelled with escapes, which begin with a backslash. */
function mayHoldType(bytes: JsonBytes): boolean {
  return bytes.includes(typeWord) || bytes.includes("\\u");
}

function hasType(bytes: JsonBytes): boolean {
  return scanFor(bytes, 0, bytes.length, deepestJson, "resultType") !== undefined;
}
