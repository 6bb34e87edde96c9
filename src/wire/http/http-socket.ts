import type { Socket } from "node:net";
import type { RequestInFlight, ResponseHandler, TransportFailure } from "./http-client.ts";
import { ResponseReader } from "./response-reader.ts";

/** What a connection tells its pool. */
export interface HttpSocketOwner {
  onFree(socket: HttpSocket): void;
  onGone(socket: HttpSocket): void;
}

/** How long a server that has answered may take to read the rest of what it answered. */
const unsentGraceMs = 1_000;

/** One connection to a server (RFC 9112), with at most one request on it at a time. */
export class HttpSocket implements RequestInFlight {
  readonly #socket: Socket;
  readonly #owner: HttpSocketOwner;
  readonly #reader = new ResponseReader();
  #handler: ResponseHandler | undefined;
  #failure: TransportFailure = { kind: "closed", reason: "" };
  #isOpen = true;
  /** Monotonic ms until which the server keeps it without a request. */
  idleUntilMs = 0;
  /** Monotonic ms at which its last request was answered. */
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

  /** For how long the server keeps it without a request, when it says so. */
  get idleS(): number | undefined {
    return this.#reader.idleS;
  }

  /** Writes a request: `head` up to its empty line. The connection is free, and its handler wants it. */
  send(handler: ResponseHandler, head: string, body: string | null): void {
    this.#handler = handler;
    this.#reader.expect(handler);
    // One string, so that it is one write.
    this.#socket.write(body === null ? head : head + body, "latin1");
  }

  abort(handler: ResponseHandler): void {
    if (this.#handler !== handler) return;
    this.#handler = undefined;
    this.destroy();
  }

  destroy(failure?: TransportFailure): void {
    if (failure !== undefined) this.#failure = failure;
    this.#isOpen = false;
    this.#socket.destroy();
  }

  /** Bytes that came. Also without a request: then they are nothing that could be trusted. */
  receive(bytes: Buffer): void {
    if (!this.#isOpen) return;
    const handler = this.#handler;
    if (handler === undefined) {
      this.destroy();
      return;
    }
    let taken: number;
    try {
      taken = this.#reader.feed(bytes);
    } catch (error) {
      this.destroy({ kind: "malformed", reason: error instanceof Error ? error.message : String(error) });
      return;
    }
    // The handler may have aborted while it was told.
    if (this.#handler === handler && this.#reader.isDone) this.#finish(handler, taken === bytes.length);
  }

  #finish(handler: ResponseHandler, isClean: boolean): void {
    this.#handler = undefined;
    if (!isClean || !this.#reader.isReusable || !this.isOpen) this.destroy();
    else if (this.#socket.writableLength === 0) this.#owner.onFree(this);
    else this.#freeWhenSent();
    handler.onComplete();
  }

  /**
   * The answer to a large request often comes before the socket says that all of it was written. But a server that
   * answered before it had read everything may also never read the rest.
   */
  #freeWhenSent(): void {
    const timer = setTimeout(() => this.destroy(), unsentGraceMs);
    this.#socket.write("", () => {
      clearTimeout(timer);
      if (this.isOpen) this.#owner.onFree(this);
    });
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
