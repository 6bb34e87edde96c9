import { asciiJson } from "../../wire/json/ascii-json.ts";
import { sleep } from "../../kernel/abort.ts";
import type { JsonBytes } from "../../kernel/json-bytes.ts";
import type { Connection, RootsSource } from "../upstream/connection.ts";
import type { OpenConnection } from "./instance-deps.ts";

/** The result of `roots/list` where the configuration lists them. */
export function rootsResult(uris: readonly string[]): JsonBytes {
  return Buffer.from(asciiJson({ roots: uris.map((uri) => ({ uri })) }), "latin1");
}

export function configuredRoots(uris: readonly string[]): RootsSource {
  const result = rootsResult(uris);
  return { answer: async () => await Promise.resolve({ kind: "result", result }) };
}

/**
 * Opens connections whose server is told of these roots. Servers ask when `initialize` is over, and serve meanwhile
 * what they were started with: nobody gets the connection before that is through.
 */
export function openWithRoots(open: OpenConnection, roots: RootsSource): OpenConnection {
  return async (server, instance, options, signal) => {
    const watched = watchRoots(roots);
    const connection = await open(server, instance, { ...options, roots: watched }, signal);
    if (connection.peer.era === "modern") return connection;
    try {
      await settleRoots(connection, watched, signal);
      return connection;
    } catch (error) {
      await connection[Symbol.asyncDispose]();
      throw error;
    }
  };
}

interface WatchedRoots extends RootsSource {
  readonly wasAsked: boolean;
  /** Settles when every question so far has been answered. */
  answered(): Promise<void>;
}

function watchRoots(roots: RootsSource): WatchedRoots {
  const open = new Set<Promise<unknown>>();
  let wasAsked = false;
  return {
    get wasAsked() {
      return wasAsked;
    },
    async answer(params, signal) {
      wasAsked = true;
      const answering = roots.answer(params, signal);
      open.add(answering);
      try {
        return await answering;
      } finally {
        open.delete(answering);
      }
    },
    async answered() {
      while (open.size > 0) await Promise.allSettled(open);
    },
  };
}

/** Of a ping: a server that answers none is waited for no longer. */
const pingMs = 2_000;
/** A server that has its answer still looks each folder up on its disk, and says nothing when it is done. */
const takeInMs = 100;

/**
 * A server answers in the order in which it is asked: by the time of its pong it has asked for roots, if it ever does
 * at the start.
 */
async function settleRoots(connection: Connection, roots: WatchedRoots, signal: AbortSignal): Promise<void> {
  await ping(connection, signal);
  if (!roots.wasAsked) return;
  await roots.answered();
  await ping(connection, signal);
  await sleep(takeInMs, signal);
}

async function ping(connection: Connection, signal: AbortSignal): Promise<void> {
  const asked = { method: "ping", params: [], era: "legacy", signal, timeoutMs: pingMs, maxTimeoutMs: pingMs } as const;
  await connection.request(asked).catch(() => undefined);
  signal.throwIfAborted();
}
