import type { HttpClient, HttpRequest, ResponseHandler, TransportFailure } from "./http-client.ts";
import { noHead, type ResponseHead } from "./response-head.ts";

/** A response that has arrived. */
export interface WholeResponse {
  readonly head: ResponseHead;
  readonly body: Buffer;
}

export interface WholeResponseLimits {
  readonly mostBytes: number;
  /** Why a longer body is refused. Without it, its beginning is the answer. */
  readonly tooLong: (() => Error) | undefined;
  readonly toError: (failure: TransportFailure) => Error;
}

/**
 * Sends a request and gathers its response. It has no deadline: a caller that gives up closes the client, and stops
 * waiting.
 */
export async function sendWhole(
  client: Pick<HttpClient, "send">,
  request: HttpRequest,
  limits: WholeResponseLimits,
): Promise<WholeResponse> {
  return await new Promise((resolve, reject) => {
    client.send(request, new Gatherer(limits, resolve, reject));
  });
}

class Gatherer implements ResponseHandler {
  readonly #limits: WholeResponseLimits;
  readonly #resolve: (response: WholeResponse) => void;
  readonly #reject: (error: Error) => void;
  readonly #chunks: Buffer[] = [];
  #head: ResponseHead = noHead;
  #bytes = 0;

  constructor(limits: WholeResponseLimits, resolve: (response: WholeResponse) => void, reject: (error: Error) => void) {
    this.#limits = limits;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  onConnected(): boolean {
    return true;
  }

  onHead(head: ResponseHead): void {
    this.#head = head;
  }

  onBody(bytes: Buffer, start: number, end: number): void {
    const { mostBytes, tooLong } = this.#limits;
    const isFull = this.#bytes > mostBytes;
    this.#bytes += end - start;
    // Until the client is closed more may arrive, which is ignored.
    if (isFull) return;
    if (this.#bytes > mostBytes && tooLong !== undefined) return this.#reject(tooLong());
    this.#chunks.push(Buffer.from(bytes.subarray(start, end)));
    if (this.#bytes > mostBytes) this.onComplete();
  }

  onComplete(): void {
    this.#resolve({ head: this.#head, body: Buffer.concat(this.#chunks) });
  }

  onTransportFailure(failure: TransportFailure): void {
    this.#reject(this.#limits.toError(failure));
  }
}
