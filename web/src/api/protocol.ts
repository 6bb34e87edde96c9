import { rawFetch, type Schemas } from "./client.ts";
import { readEvents } from "./event-text.ts";
import { problemOf, toFailure, type ApiFailure } from "./failure.ts";

type ProtocolMessage = Schemas["ProtocolMessage"] & { readonly key: string };

/** What a page that follows messages has seen. */
export interface ProtocolState {
  /** The newest first. */
  readonly messages: readonly ProtocolMessage[];
  /** How many were left out by the gateway. */
  readonly lost: number;
  /** Whether the messages of all people are shown; undefined until that is known. */
  readonly everybody: boolean | undefined;
  readonly failure: ApiFailure | undefined;
}

const mostMessages = 1_000;
/** Messages come in bursts: one drawing for all of them. */
const gatherMs = 100;
const retryMs = 2_000;
let seen = 0;

/** Follows the messages that pass, until the returned function is called. */
export function followProtocol(update: (change: (now: ProtocolState) => ProtocolState) => void): () => void {
  const ending = new AbortController();
  let waiting: ProtocolMessage[] = [];
  let timer: number | undefined;

  function draw(): void {
    timer = undefined;
    const newest = waiting.reverse();
    waiting = [];
    update((now) => ({ ...now, messages: [...newest, ...now.messages].slice(0, mostMessages) }));
  }

  function take(type: string, data: string): void {
    if (type === "message") {
      waiting.push({ ...(JSON.parse(data) as Schemas["ProtocolMessage"]), key: String((seen += 1)) });
      timer ??= window.setTimeout(draw, gatherMs);
    } else if (type === "lost") {
      const { count } = JSON.parse(data) as { readonly count: number };
      update((now) => ({ ...now, lost: now.lost + count }));
    } else if (type === "begin") {
      const { everybody } = JSON.parse(data) as { readonly everybody: boolean };
      update((now) => ({ ...now, everybody, failure: undefined }));
    }
  }

  async function read(): Promise<void> {
    while (!ending.signal.aborted) {
      try {
        const response = await rawFetch("/api/protocol", {
          headers: { Accept: "text/event-stream" },
          cache: "no-store",
          signal: ending.signal,
        });
        if (!response.ok || response.body === null) throw problemOf(response.status, await response.json());
        await readEvents(response.body, ({ type, data }) => take(type, data));
      } catch (error) {
        if (ending.signal.aborted) return;
        update((now) => ({ ...now, failure: toFailure(error) }));
      }
      await new Promise((resolve) => setTimeout(resolve, retryMs));
    }
  }

  void read();
  return () => {
    ending.abort();
    clearTimeout(timer);
  };
}
