import type { Socket } from "node:net";
import type { RequestInFlight, ResponseHandler, TransportFailure } from "./http-client.ts";
import { ResponseReader } from "./response-reader.ts";

/** How a connection reports to its pool. */
export interface HttpSocketOwner {
  onFree(socket: HttpSocket): void;
  onGone(socket: HttpSocket): void;
}

/** How long to keep a connection whose server has answered but not yet read the whole request. */
const unsentGraceMs = 1_000;

/**
 * Bytes of a connection that are taken in one turn of the event loop. When they arrive quickly, up to 32 buffers would
 * be, which can be a million lines of an event stream.
 */
const mostPerTurn = 262_144;
/** Smaller pieces are not counted: they are whole answers, and many of them are read in a turn anyway. */
const countedPiece = 32_768;

/** One connection to a server (RFC 9112), with at most one request in flight. */
export class HttpSocket implements RequestInFlight {
  readonly #socket: Socket;
  readonly #owner: HttpSocketOwner;
  readonly #reader = new ResponseReader();
  #handler: ResponseHandler | undefined;
  #failure: TransportFailure = { kind: "closed", reason: "" };
  #isOpen = true;
  #isPaused = false;
  #takenInTurn = 0;
  /** The socket is read again in the next turn. */
  #isResting = false;
  /** Monotonic ms until which the server keeps the connection open without a request. */
  idleUntilMs = 0;
  /** Monotonic ms at which the last response was complete. */
  freedAtMs = Number.NEGATIVE_INFINITY;

  constructor(socket: Socket, owner: HttpSocketOwner) {
    this.#socket = socket;
    this.#owner = owner;
    socket.on("error", (error: NodeJS.ErrnoException) => {
      if (this.#failure.reason === "") this.#failure = { kind: "closed", reason: error.code ?? "" };
    });
    socket.on("end", () => this.#onEnd());
    socket.on("close", () => this.#onClose());
  }

  get isOpen(): boolean {
    return this.#isOpen && !this.#socket.destroyed;
  }

  /** For how many seconds the server keeps the connection open without a request; undefined when it does not say. */
  get idleS(): number | undefined {
    return this.#reader.idleS;
  }

  /**
   * Writes a request. `head` ends with the empty line. Call it only when the connection is free and the handler still
   * wants the request sent.
   */
  send(handler: ResponseHandler, head: string, body: string | null): void {
    this.#handler = handler;
    this.#reader.expect(handler);
    // Joined, so that head and body leave in one write.
    this.#socket.write(body === null ? head : head + body, "latin1");
  }

  abort(handler: ResponseHandler): void {
    if (this.#handler !== handler) return;
    this.#handler = undefined;
    this.destroy();
  }

  pause(handler: ResponseHandler): void {
    if (this.#handler !== handler || !this.isOpen) return;
    this.#isPaused = true;
    this.#socket.pause();
  }

  resume(handler: ResponseHandler): void {
    if (this.#handler === handler) this.#readOn();
  }

  destroy(failure?: TransportFailure): void {
    if (failure !== undefined) this.#failure = failure;
    this.#isOpen = false;
    this.#socket.destroy();
  }

  /**
   * Takes bytes from the socket. Bytes that arrive while no request is in flight cannot be trusted, so they close the
   * connection.
   */
  receive(bytes: Buffer): void {
    if (!this.#isOpen) return;
    const handler = this.#handler;
    if (handler === undefined) {
      this.destroy();
      return;
    }
    if (bytes.length >= countedPiece) this.#rest(bytes.length);
    let taken: number;
    try {
      taken = this.#reader.feed(bytes);
    } catch (error) {
      this.destroy({ kind: "malformed", reason: error instanceof Error ? error.message : String(error) });
      return;
    }
    // The handler may have aborted the request during feed().
    if (this.#handler === handler && this.#reader.isDone) this.#finish(handler, taken === bytes.length);
  }

  #finish(handler: ResponseHandler, isClean: boolean): void {
    this.#handler = undefined;
    // The end of the response may have been in the very bytes after which reading was to stop.
    this.#readOn();
    if (!isClean || !this.#reader.isReusable || !this.isOpen) this.destroy();
    else if (this.#socket.writableLength === 0) this.#owner.onFree(this);
    else this.#freeWhenSent();
    handler.onComplete();
  }

  /**
   * The answer to a large request often arrives before the socket reports that all of the request was written, so the
   * connection is freed a little later. A server that answered without reading the whole request may never read the
   * rest; then the connection is closed.
   */
  #freeWhenSent(): void {
    const timer = setTimeout(() => this.destroy(), unsentGraceMs);
    this.#socket.write("", () => {
      clearTimeout(timer);
      if (this.isOpen) this.#owner.onFree(this);
    });
  }

  #readOn(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    if (this.isOpen && !this.#isResting) this.#socket.resume();
  }

  /** Leaves the rest of what has arrived to the next turn, where this turn has read much. */
  #rest(length: number): void {
    if (this.#takenInTurn === 0) setImmediate(() => this.#beginTurn());
    this.#takenInTurn += length;
    if (this.#takenInTurn < mostPerTurn || this.#isResting) return;
    this.#isResting = true;
    this.#socket.pause();
  }

  #beginTurn(): void {
    this.#takenInTurn = 0;
    if (!this.#isResting) return;
    this.#isResting = false;
    if (this.isOpen && !this.#isPaused) this.#socket.resume();
  }

  #onEnd(): void {
    const handler = this.#handler;
    if (handler !== undefined && this.#reader.end()) this.#finish(handler, false);
    else this.destroy();
  }

  #onClose(): void {
    this.#isOpen = false;
    this.#owner.onGone(this);
    const handler = this.#handler;
    this.#handler = undefined;
    handler?.onTransportFailure(this.#failure);
  }
}
