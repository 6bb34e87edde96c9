/**
 * The two modules of undici that calls to servers need. The package's entry loads fetch, WebSocket and more (90 ms and 20 MB
 * instead of 41 ms and 11 MB), and has no types for its parts. The handler is the one with raw headers: no object per response.
 */
declare module "undici/lib/dispatcher/pool.js" {
  interface DispatchHandler {
    /** Called right before the request is written; throwing here takes it back without touching the socket. */
    onConnect(abort: (reason?: Error) => void): void;
    onHeaders(status: number, headers: Buffer[], resume: () => void, statusText: string): boolean;
    onData(chunk: Buffer): boolean;
    onComplete(trailers: Buffer[]): void;
    onError(error: Error): void;
  }
  interface DispatchOptions {
    readonly path: string;
    readonly method: string;
    readonly headers: readonly string[];
    readonly body: Buffer | null;
    readonly headersTimeout: number;
    readonly bodyTimeout: number;
  }
  interface PoolOptions {
    readonly connections: number;
    readonly pipelining: number;
    readonly headersTimeout: number;
    readonly bodyTimeout: number;
    readonly connect: { readonly timeout: number };
  }
  class Pool {
    constructor(origin: string, options: PoolOptions);
    dispatch(options: DispatchOptions, handler: DispatchHandler): boolean;
    destroy(): Promise<void>;
  }
  namespace Pool {
    export type { DispatchHandler, DispatchOptions, PoolOptions };
  }
  export = Pool;
}
