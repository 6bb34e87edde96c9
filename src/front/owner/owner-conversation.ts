import { once } from "node:events";
import type { Duplex } from "node:stream";
import type { EverydayLine } from "./everyday-lines.ts";

/** One command that is being answered, line by line. */
export interface Conversation {
  /** Resolves when there is room for more. Rejects with the signal's reason. */
  send(line: EverydayLine): Promise<void>;
  /** The next line that the other side writes; undefined when it has left. */
  next(): Promise<string | undefined>;
  /** Aborts when the other side has left. */
  readonly signal: AbortSignal;
}

export interface ConversationOptions {
  readonly socket: Duplex;
  readonly lines: AsyncIterator<string>;
  readonly signal: AbortSignal;
}

export function createConversation({ socket, lines, signal }: ConversationOptions): Conversation {
  return {
    signal,
    async send(line) {
      signal.throwIfAborted();
      if (!socket.write(`${JSON.stringify(line)}\n`)) await once(socket, "drain", { signal });
    },
    async next() {
      const { value, done } = await lines.next();
      return done === true ? undefined : value;
    },
  };
}
