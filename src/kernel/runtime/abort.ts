/** The reason of an aborted signal as an Error, whatever type of value was passed to `abort()`. */
export function abortReason(signal: AbortSignal): Error {
  const reason: unknown = signal.reason;
  return reason instanceof Error ? reason : new Error(`aborted: ${String(reason)}`);
}

/**
 * Waits for `promise`, but rejects with the signal's reason as soon as `signal` aborts. The promise itself is not
 * cancelled; if it rejects after that, the rejection is ignored.
 */
export async function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  if (signal.aborted) {
    promise.catch(() => undefined);
    throw abortReason(signal);
  }
  let giveUp: (() => void) | undefined;
  const aborted = new Promise<never>((_resolve, reject) => {
    giveUp = () => reject(abortReason(signal));
    signal.addEventListener("abort", giveUp, { once: true });
  });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    if (giveUp) signal.removeEventListener("abort", giveUp);
    promise.catch(() => undefined);
  }
}

/**
 * A signal that aborts after `delayMs`, or with the first of `signals`. Its timer does not keep the process alive.
 * Use it for short waits: the listeners on `signals` are removed only when it aborts.
 *
 * `AbortSignal.any` with `AbortSignal.timeout` is no replacement: Node 20 may collect the timeout as garbage before
 * it fires (nodejs/node#54614), and the wait would never end.
 */
export function abortAfter(delayMs: number, ...signals: readonly AbortSignal[]): AbortSignal {
  const controller = new AbortController();
  const timer = setTimeout(() => end(new DOMException(`${delayMs} ms have passed`, "TimeoutError")), delayMs);
  timer.unref();
  const forwards = signals.map((signal) => ({ signal, forward: () => end(abortReason(signal)) }));
  function end(reason: Error): void {
    clearTimeout(timer);
    for (const { signal, forward } of forwards) signal.removeEventListener("abort", forward);
    controller.abort(reason);
  }
  for (const { signal, forward } of forwards) {
    if (signal.aborted) {
      forward();
      break;
    }
    signal.addEventListener("abort", forward, { once: true });
  }
  return controller.signal;
}

/** Resolves after `delayMs`; rejects with the signal's reason if the signal aborts first. */
export function sleep(delayMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) {
      reject(abortReason(signal));
      return;
    }
    const giveUp = () => {
      clearTimeout(timer);
      reject(abortReason(signal));
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", giveUp);
      resolve();
    }, delayMs);
    signal.addEventListener("abort", giveUp, { once: true });
  });
}

/** Told of an abort. An object and not a function, so that the waiting object can be the listener itself. */
export interface AbortListener {
  handleEvent(): void;
}

/**
 * The place for one listener on a signal of a pool. Node's EventTarget makes several objects for each listener and
 * makes a new map of them when the last one leaves: 2 microseconds in every call.
 */
class AbortPlace implements AbortListener {
  listener: AbortListener | undefined;

  handleEvent(): void {
    const { listener } = this;
    this.listener = undefined;
    listener?.handleEvent();
  }
}

const placeKey = Symbol("toolyard.abortPlace");
type PlacedSignal = AbortSignal & { readonly [placeKey]?: AbortPlace };

/** Calls the listener when the signal aborts. It is removed with {@link offAbort}, which costs next to nothing. */
export function onAbort(signal: AbortSignal, listener: AbortListener): void {
  const place = (signal as PlacedSignal)[placeKey];
  if (place !== undefined && place.listener === undefined) place.listener = listener;
  else signal.addEventListener("abort", listener, { once: true });
}

export function offAbort(signal: AbortSignal, listener: AbortListener): void {
  const place = (signal as PlacedSignal)[placeKey];
  if (place !== undefined && place.listener === listener) place.listener = undefined;
  else signal.removeEventListener("abort", listener);
}

/** AbortControllers for work that nearly always ends without being aborted. */
export interface AbortPool {
  take(): AbortController;
  /** Returns a controller after its work has ended. One that was aborted is discarded. */
  give(controller: AbortController): void;
}

/**
 * A pool of at most `most` unused controllers. Making an AbortController costs a call 5 to 8 microseconds, most of it
 * in the garbage collector (bench/http-upstream). A controller whose work ended without an abort is as good as new: its
 * listeners were removed or can no longer be affected by an abort.
 */
export function createAbortPool(most: number): AbortPool {
  const free: AbortController[] = [];
  return {
    take: () => free.pop() ?? withPlace(new AbortController()),
    give(controller) {
      const { signal } = controller;
      if (signal.aborted || free.length >= most) return;
      const place = (signal as PlacedSignal)[placeKey];
      if (place !== undefined) place.listener = undefined;
      free.push(controller);
    },
  };
}

function withPlace(controller: AbortController): AbortController {
  const place = new AbortPlace();
  Object.defineProperty(controller.signal, placeKey, { value: place });
  controller.signal.addEventListener("abort", place, { once: true });
  return controller;
}

/** A promise, and the function that resolves it. */
export function createSignal<T = void>(): { readonly promise: Promise<T>; readonly done: (value: T) => void } {
  let done: (value: T) => void = () => undefined;
  const promise = new Promise<T>((resolve) => (done = resolve));
  return { promise, done };
}
