import { carriageReturn, lineFeed } from "../json/characters.ts";
import { ResponseHead } from "./response-head.ts";

/** Receives the parts of a response as they arrive. */
export interface ResponseSink {
  onHead(head: ResponseHead): void;
  /** Part of the body: `bytes` from `start` to `end`. The memory is reused after the call, so copy what you keep. */
  onBody(bytes: Buffer, start: number, end: number): void;
}

/**
 * Thrown for a response that breaks the rules of HTTP/1.1. Reading on could mistake its content for another response.
 */
export class MalformedResponse extends Error {}

/** The most bytes of a head; Node's own client has the same limit. */
const headLimit = 16_384;
/** The most bytes of a line with a chunk's size and extensions, or of one trailer; trailers are not used. */
const lineLimit = 4_096;
/** The most digits of a Content-Length: enough for any body we accept, and still exact as a JavaScript number. */
const mostDigits = 15;

const headEnd = Buffer.from("\r\n\r\n");
const none = Buffer.alloc(0);

/**
 * A well-formed head (RFC 9112, sections 4 and 5; RFC 9110, section 5.5): no space before a colon, no folded lines,
 * no control characters.
 */
const wellFormed =
  /^HTTP\/1\.[01] [1-9]\d\d(?: [\t\x20-\x7e\x80-\xff]*)?(?:\r\n[!#$%&'*+\-.^_`|~0-9A-Za-z]+:[\t\x20-\x7e\x80-\xff]*)*$/;
const trailer = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+:[\t\x20-\x7e\x80-\xff]*$/;
const chunkSize = /^([0-9A-Fa-f]{1,12})[ \t]*(?:;.*)?$/;
const keepAliveTimeout = /(?:^|[\s,;])timeout=(\d{1,9})/i;

type Mode = "done" | "head" | "length" | "chunk-size" | "chunk" | "chunk-end" | "trailer" | "until-close";

/**
 * Reads the responses of one connection, one at a time (RFC 9112). A response whose length is ambiguous throws
 * MalformedResponse, after which the connection must be closed. Bytes may arrive in pieces of any size.
 */
export class ResponseReader {
  #mode: Mode = "done";
  #sink: ResponseSink | undefined;
  #held: Buffer = none;
  #line = "";
  #trailerBytes = 0;
  /** Bytes that are still to come of the body or of the current chunk. */
  #left = 0;
  #isReusable = false;
  #idleS: number | undefined;

  /** Call when a request was sent: the bytes that follow are its response. */
  expect(sink: ResponseSink): void {
    this.#sink = sink;
    this.#mode = "head";
  }

  /** True when the response is complete, and when none is expected. */
  get isDone(): boolean {
    return this.#mode === "done";
  }

  /** Whether the server accepts another request on this connection. */
  get isReusable(): boolean {
    return this.#isReusable;
  }

  /** For how many seconds the server keeps the connection open without a request; undefined when it does not say. */
  get idleS(): number | undefined {
    return this.#idleS;
  }

  /**
   * Takes bytes until the response is complete. Returns the index of the first byte after the response, or the
   * length. Throws MalformedResponse.
   */
  feed(bytes: Buffer): number {
    let at = 0;
    while (at < bytes.length && this.#mode !== "done") {
      switch (this.#mode) {
        case "head":
          at = this.#readHead(bytes, at);
          break;
        case "length":
        case "chunk":
          at = this.#readBody(bytes, at);
          break;
        case "until-close":
          this.#sink?.onBody(bytes, at, bytes.length);
          return bytes.length;
        case "chunk-size":
        case "chunk-end":
        case "trailer":
          at = this.#readLine(bytes, at);
          break;
      }
    }
    return at;
  }

  /** Call when the server has closed the connection. Returns true when that completes the response. */
  end(): boolean {
    if (this.#mode !== "until-close") return false;
    this.#mode = "done";
    return true;
  }

  #readHead(bytes: Buffer, at: number): number {
    const held = this.#held;
    const all = held.length === 0 ? bytes : Buffer.concat([held, bytes.subarray(at)]);
    const from = held.length === 0 ? at : 0;
    // The empty line may have begun in the bytes that were held.
    const end = all.indexOf(headEnd, held.length === 0 ? at : Math.max(0, held.length - headEnd.length + 1));
    if ((end === -1 ? all.length : end) - from > headLimit)
      throw new MalformedResponse(`its head has more than ${headLimit} bytes`);
    if (end === -1) {
      refuseBareLineFeeds(all, from, held.length);
      this.#held = held.length === 0 ? Buffer.from(bytes.subarray(at)) : all;
      return bytes.length;
    }
    this.#held = none;
    this.#takeHead(all.toString("latin1", from, end));
    return at + (end + headEnd.length - from - held.length);
  }

  #takeHead(text: string): void {
    if (!wellFormed.test(text)) throw new MalformedResponse("its head is malformed");
    const status = Number(text.slice(9, 12));
    if (status < 200) {
      // Interim responses are skipped, but we never ask to switch protocols.
      if (status === 101) throw new MalformedResponse("it switches to a protocol that was not asked for");
      return;
    }
    const head = new ResponseHead(status, text);
    this.#readKeepAlive(head, text);
    this.#mode = this.#bodyMode(head);
    this.#sink?.onHead(head);
  }

  #readKeepAlive(head: ResponseHead, text: string): void {
    const connection = head.get("connection");
    this.#isReusable = text.startsWith("HTTP/1.1") && (connection === undefined || !/close/i.test(connection));
    const hint = head.get("keep-alive");
    const seconds = hint === undefined ? undefined : keepAliveTimeout.exec(hint)?.[1];
    this.#idleS = seconds === undefined ? undefined : Number(seconds);
  }

  /**
   * How the body is delimited (RFC 9112, section 6.3). A response with both a length and chunks, or with two lengths,
   * is refused: that is how responses are smuggled.
   */
  #bodyMode(head: ResponseHead): Mode {
    const encoding = head.get("transfer-encoding");
    const length = head.get("content-length");
    if (length !== undefined) {
      if (encoding !== undefined) throw new MalformedResponse("it has both a Transfer-Encoding and a Content-Length");
      if (head.getAll("content-length").length > 1) throw new MalformedResponse("it has two lengths");
      if (length.length > mostDigits || !/^\d+$/.test(length))
        throw new MalformedResponse("its Content-Length is not a number");
    }
    if (encoding !== undefined && (head.getAll("transfer-encoding").length > 1 || encoding.toLowerCase() !== "chunked"))
      throw new MalformedResponse("its Transfer-Encoding is not chunked");
    if (head.status === 204 || head.status === 304) return "done";
    if (encoding !== undefined) return "chunk-size";
    if (length === undefined) {
      this.#isReusable = false;
      return "until-close";
    }
    this.#left = Number(length);
    return this.#left === 0 ? "done" : "length";
  }

  #readBody(bytes: Buffer, at: number): number {
    const end = Math.min(bytes.length, at + this.#left);
    this.#left -= end - at;
    if (this.#left === 0) this.#mode = this.#mode === "chunk" ? "chunk-end" : "done";
    this.#sink?.onBody(bytes, at, end);
    return end;
  }

  /** Reads the lines between chunks. An incomplete line is kept until the rest arrives. */
  #readLine(bytes: Buffer, at: number): number {
    const end = bytes.indexOf(lineFeed, at);
    this.#line += bytes.toString("latin1", at, end === -1 ? bytes.length : end);
    if (this.#line.length > lineLimit)
      throw new MalformedResponse(`a line of its chunks is longer than ${lineLimit} bytes`);
    if (end === -1) return bytes.length;
    const line = this.#line;
    this.#line = "";
    if (!line.endsWith("\r")) throw new MalformedResponse("a line of its chunks does not end with CR LF");
    this.#takeLine(line.slice(0, -1));
    return end + 1;
  }

  #takeLine(line: string): void {
    switch (this.#mode) {
      case "chunk-end":
        if (line !== "") throw new MalformedResponse("a chunk is longer than it says");
        this.#mode = "chunk-size";
        return;
      case "trailer":
        this.#trailerBytes += line.length;
        if (this.#trailerBytes > headLimit)
          throw new MalformedResponse(`its trailers have more than ${headLimit} bytes`);
        if (line === "") this.#mode = "done";
        else if (!trailer.test(line)) throw new MalformedResponse("a trailer is malformed");
        return;
      default: {
        const size = chunkSize.exec(line)?.[1];
        if (size === undefined) throw new MalformedResponse("a chunk has no size");
        this.#left = Number.parseInt(size, 16);
        this.#trailerBytes = 0;
        this.#mode = this.#left === 0 ? "trailer" : "chunk";
      }
    }
  }
}

/**
 * Refuses an incomplete head that contains a bare line feed: the empty line that it ends with would never be found.
 * `from` is where the head begins; its first `seen` bytes have already been checked.
 */
function refuseBareLineFeeds(bytes: Buffer, from: number, seen: number): void {
  const start = from + seen;
  for (let at = bytes.indexOf(lineFeed, start); at !== -1; at = bytes.indexOf(lineFeed, at + 1))
    if (at === from || bytes[at - 1] !== carriageReturn)
      throw new MalformedResponse("a line of its head does not end with CR LF");
}
