import { rawFetch } from "./client.ts";
import { readEvents, type StreamEvent } from "./event-text.ts";
import { sessionStore } from "./session.ts";

/** Whether the page shows the present state. */
export type LiveState = "connecting" | "live" | "lost";

/** What tabs tell each other. */
type Message =
  | { readonly kind: "event"; readonly event: StreamEvent }
  | { readonly kind: "state"; readonly state: LiveState }
  | { readonly kind: "hello" };

const lockName = "toolyard-events";
const firstRetryMs = 500;
const longestRetryMs = 5_000;

let state: LiveState = "connecting";
const stateListeners = new Set<() => void>();
const eventListeners = new Set<(event: StreamEvent) => void>();

export const liveStore = {
  get: (): LiveState => state,
  subscribe(listener: () => void): () => void {
    stateListeners.add(listener);
    return () => stateListeners.delete(listener);
  },
};

/** Calls back for every event of the gateway, whichever tab reads the stream. */
export function onLiveEvent(listener: (event: StreamEvent) => void): () => void {
  eventListeners.add(listener);
  return () => eventListeners.delete(listener);
}

function setState(next: LiveState): void {
  if (next === state) return;
  const wasLost = state === "lost";
  state = next;
  for (const listener of stateListeners) listener();
  // Whatever happened meanwhile was missed, unless the stream could be continued.
  if (wasLost && next === "live") deliver({ id: undefined, type: "reset", data: "{}" });
}

function deliver(event: StreamEvent): void {
  for (const listener of eventListeners) listener(event);
}

/**
 * One stream per browser, not per tab: a browser opens six connections to an origin at most, and a stream keeps one.
 * The tab that has the lock reads; when it is closed, another gets the lock.
 */
export function startLive(): void {
  const channel = new BroadcastChannel(lockName);
  let isReader = false;
  const tell = (message: Message): void => channel.postMessage(message);

  channel.addEventListener("message", ({ data }: MessageEvent<Message>) => {
    if (data.kind === "hello") {
      if (isReader) tell({ kind: "state", state });
    } else if (data.kind === "state") setState(data.state);
    else deliver(data.event);
  });
  tell({ kind: "hello" });

  const become = (next: LiveState): void => {
    setState(next);
    tell({ kind: "state", state: next });
  };

  void navigator.locks.request(lockName, async () => {
    isReader = true;
    let last: string | undefined;
    let waitMs = firstRetryMs;
    for (;;) {
      await untilLoggedIn();
      try {
        const response = await rawFetch("/api/events", {
          headers: { Accept: "text/event-stream", ...(last === undefined ? {} : { "Last-Event-ID": last }) },
          cache: "no-store",
        });
        if (response.ok && response.body !== null) {
          become("live");
          waitMs = firstRetryMs;
          await readEvents(response.body, (event) => {
            last = event.id ?? last;
            if (event.data === "") return;
            deliver(event);
            tell({ kind: "event", event });
          });
        }
      } catch {
        // The gateway ended, or cannot be reached: tried again below.
      }
      become("lost");
      await new Promise((resolve) => setTimeout(resolve, waitMs));
      waitMs = Math.min(longestRetryMs, waitMs * 2);
    }
  });
}

async function untilLoggedIn(): Promise<void> {
  while (sessionStore.get().kind !== "in")
    await new Promise<void>((resolve) => {
      const stop = sessionStore.subscribe(() => {
        stop();
        resolve();
      });
    });
}
