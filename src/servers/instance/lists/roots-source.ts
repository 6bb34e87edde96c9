import { asciiJson } from "../../../wire/json/ascii-json.ts";
import { sleep } from "../../../kernel/runtime/abort.ts";
import type { JsonBytes } from "../../../kernel/text/json-bytes.ts";
import type { Connection, RootsSource } from "../../upstream/connection.ts";
import type { OpenConnection } from "../instance-deps.ts";

/** The result of `roots/list` for roots from the configuration. */
export function rootsResult(uris: readonly string[]): JsonBytes {
  return Buffer.from(asciiJson({ roots: uris.map((uri) => ({ uri })) }), "latin1");
}

/** Answers `roots/list` with roots from the configuration. */
export function configuredRoots(uris: readonly string[]): RootsSource {
  const result = rootsResult(uris);
  return { answer: async () => await Promise.resolve({ kind: "result", result }) };
}

/**
 * Wraps `open` so that the server gets these roots. A legacy server asks for them after `initialize`, and until then
 * serves the folders that it was started with; so the connection is handed out only after the server has had the
 * answer.
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

/** How long to wait for the answer to a ping. A server that does not answer pings is not waited for any longer. */
const pingMs = 2_000;
/** After the answer a server still looks up each folder on its disk, and does not tell when it is done. */
const takeInMs = 100;

/**
 * Waits until the server has its roots. A server handles messages in order: when it has answered a ping, it has also
 * sent its own request for roots, if it sends one at the start.
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
