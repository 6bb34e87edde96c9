import type { ServerResponse, IncomingMessage } from "node:http";
import { answerPieces, answerText } from "../../../wire/mcp/envelope.ts";
import { eventPieces, eventStreamHeaders, eventText, keepAliveText } from "../../../wire/sse/event-text.ts";
import type { LargeBuffers } from "../../../wire/json/large-buffers.ts";
import { type EventLog, clientRetryMs, type ResumableStreams } from "./event-log.ts";
import { joinText, textLength, type WireText } from "../answers/result-text.ts";

/**
 * The way back for one request over HTTP. Starts as a single JSON answer; becomes an event stream when something has
 * to be said before the answer, or the answer takes long, and the client takes event streams. All text is latin1: see
 * `wire/json/ascii-json.ts`.
 */
export interface AnswerChannel {
  /** Sends a message that belongs to this request, before its answer; false when the client takes no streams. */
  send(message: string): boolean;
  /** Whether the client's connection is there, or one that it came back on. */
  isHere?(): boolean;
  /** Begins the event stream without a message, where the client takes one. Missing where there is a stream already. */
  open?(): void;
  /**
   * Ends the stream without the answer, where the client can come back for it; elsewhere nothing happens. The answer
   * is not there before `nextMs` are over: the client, which waits as long as it was told, is let go so late that it
   * does not come in vain, and so early that it is not late.
   */
  breakOff?(nextMs: number): void;
  /** The answer: `body` is `"result":…` or `"error":…`. Nothing can be sent after it. */
  finish(body: WireText, httpStatus?: number): void;
}

export interface AnswerChannelOptions {
  /** The request's id; undefined where what it is finished with is a whole message (a batch of answers). */
  readonly idText: string | undefined;
  /** A client may take JSON, event streams, or both. */
  readonly accepts: Accepts;
  /** Where events are kept for a client that comes back; undefined for clients without a session, which cannot. */
  readonly resumable: Pick<ResumableStreams, "open"> | undefined;
  /** Told of large answers that were written out: their bytes are not used any more. */
  readonly memory: LargeBuffers;
  readonly onGone: () => void;
  /** Told of everything that is sent, while messages are looked at. */
  readonly onMessage?: ((message: WireText) => void) | undefined;
}

/** Bytes that may wait for a client that reads slowly, per stream; beyond it the stream is closed (fault 26). */
const mostWaitingBytes = 8 * 1024 * 1024;
/**
 * Comments on event streams: often enough for every proxy, and to notice within a minute that the client has
 * disconnected.
 */
export const keepAliveMs = 15_000;

export function createAnswerChannel(response: ServerResponse, options: AnswerChannelOptions): AnswerChannel {
  return new HttpAnswerChannel(response, options);
}

/** A class and not closures, because one is made for every request. */
class HttpAnswerChannel implements AnswerChannel {
  readonly #response: ServerResponse;
  readonly #options: AnswerChannelOptions;
  /** The answer has become an event stream: its head is written. */
  #streaming = false;
  #finished = false;
  /** The connection has ended, or the stream was broken off: later messages reach a client that comes back. */
  #gone = false;
  #keepAlive: NodeJS.Timeout | undefined;
  #letGo: NodeJS.Timeout | undefined;
  #events: EventLog | undefined;

  constructor(response: ServerResponse, options: AnswerChannelOptions) {
    this.#response = response;
    this.#options = options;
    response.on("close", () => this.#closed());
  }

  send(message: string): boolean {
    if (this.#finished || !this.#options.accepts.stream) return false;
    // The client has disconnected, and no event log is kept for its return: the message has to go another way.
    if (this.#gone && this.#events === undefined) return false;
    if (!this.#streaming && !this.#gone) this.#openStream();
    this.#options.onMessage?.(message);
    this.#writeEvent(message);
    return true;
  }

  open(): void {
    if (this.#streaming || this.#finished || this.#gone || !this.#options.accepts.stream) return;
    this.#openStream();
    this.#write(keepAliveText);
  }

  isHere(): boolean {
    return !this.#gone || this.#events?.isFollowed === true;
  }

  breakOff(nextMs: number): void {
    if (this.#finished || this.#gone || !this.#options.accepts.stream || this.#options.resumable === undefined) return;
    if (!this.#streaming) this.#openStream();
    if (this.#events === undefined) return;
    clearTimeout(this.#letGo);
    this.#letGo = setTimeout(() => this.#breakOffNow(), Math.max(0, nextMs - clientRetryMs));
  }

  #breakOffNow(): void {
    if (this.#finished || this.#gone) return;
    this.#gone = true;
    this.#response.end();
  }

  finish(body: WireText, httpStatus = 200): void {
    if (this.#finished) return;
    if (!this.#streaming && !this.#options.accepts.json && httpStatus === 200 && !this.#gone) this.#openStream();
    this.#finished = true;
    if (this.#streaming) {
      this.#writeLastEvent(body);
      if (!this.#gone) this.#response.end();
      return;
    }
    if (this.#gone) return;
    const message = this.#toMessage(body);
    if (typeof message === "string") this.#writeJson(httpStatus, message);
    else this.#writePieces(httpStatus, message);
  }

  #toMessage(body: WireText): WireText {
    const { idText, onMessage } = this.#options;
    const isWhole = idText === undefined;
    const message = isWhole ? body : typeof body === "string" ? answerText(idText, body) : answerPieces(idText, body);
    onMessage?.(message);
    return message;
  }

  /** What a client cannot come back for is not kept, and so not joined. */
  #writeLastEvent(body: WireText): void {
    const message = this.#toMessage(body);
    if (this.#events !== undefined || typeof message === "string") this.#writeEvent(joinText(message));
    else if (!this.#gone) for (const piece of eventPieces("message", message)) this.#response.write(piece, "latin1");
    this.#events?.end();
  }

  #writeJson(httpStatus: number, message: string): void {
    this.#response.writeHead(httpStatus, [
      "Content-Type",
      "application/json",
      "Content-Length",
      String(message.length),
    ]);
    this.#response.end(message, "latin1");
  }

  /** All pieces leave in one write of the socket, which node:http corks until the turn ends. */
  #writePieces(httpStatus: number, pieces: readonly (string | Buffer)[]): void {
    const length = textLength(pieces);
    this.#response.writeHead(httpStatus, ["Content-Type", "application/json", "Content-Length", String(length)]);
    for (const piece of pieces) this.#response.write(piece, "latin1");
    this.#response.end();
    // Not when the client has disconnected: then a write to the socket may still be pending.
    this.#response.once("finish", () => {
      if (!this.#response.destroyed) this.#options.memory.written(pieces);
    });
  }

  #closed(): void {
    clearInterval(this.#keepAlive);
    clearTimeout(this.#letGo);
    if (this.#finished || this.#gone) return;
    this.#gone = true;
    this.#options.onGone();
  }

  #openStream(): void {
    this.#streaming = true;
    this.#response.writeHead(200, [...eventStreamHeaders]);
    this.#events = this.#options.resumable?.open(this.#options.idText);
    if (this.#events !== undefined) this.#write(this.#events.prime());
    this.#keepAlive = setInterval(() => this.#write(keepAliveText), keepAliveMs);
    this.#keepAlive.unref();
  }

  #write(text: string): void {
    if (this.#gone) return;
    if (this.#response.writableLength > mostWaitingBytes) {
      this.#response.destroy();
      return;
    }
    this.#response.write(text, "latin1");
  }

  #writeEvent(message: string): void {
    if (this.#events !== undefined) this.#write(this.#events.append(message));
    else this.#write(eventText("message", message));
  }
}

/** What a client takes as an answer to a POST. */
export interface Accepts {
  readonly json: boolean;
  readonly stream: boolean;
}

/**
 * Read liberally: who says nothing, or `*` + `/*`, gets JSON; streams only for those who name them, at once for those
 * who name them first.
 */
export function readAccept(request: IncomingMessage): Accepts {
  const { accept } = request.headers;
  if (accept === undefined) return { json: true, stream: false };
  const streamAt = accept.indexOf("text/event-stream");
  const jsonAt = accept.indexOf("application/json");
  if (streamAt !== -1 && jsonAt !== -1) return { stream: true, json: jsonAt < streamAt };
  const stream = streamAt !== -1 || accept.includes("text/*");
  return { stream, json: !stream || jsonAt !== -1 || accept.includes("*/*") || accept.includes("application/*") };
}
