import { hasProcess } from "../../../config/entry/transports.ts";
import { type GatewayError, toGatewayError } from "../../../kernel/failures/gateway-error.ts";
import { toDurationText } from "../../../kernel/text/number-text.ts";
import type { Closed, ReplicaFacts } from "../../upstream/connection.ts";
import type { Opened } from "../instance-deps.ts";
import type { Listening } from "../lists/listening.ts";
import { createWatchedCalls, type WatchedCalls } from "./watched-calls.ts";
import { openOne, type ReplicaDeps, type ReplicaPlace } from "./replica-opening.ts";

/** One process or address of a server that has several. It starts again when it ends. */
export interface Replica {
  /** What it is made for; the group finds it by that. */
  readonly key: string;
  readonly link: Link;
  readonly calls: WatchedCalls;
  readonly facts: ReplicaFacts;
  /** Connects. Rejects with the cause, after which it is tried again. */
  start(isInTurn: boolean): Promise<void>;
  /** Starts it again if it ended in good order, as servers do that are not used. */
  wake(): void;
  /** Ends it for good. */
  stop(): Promise<void>;
}

export interface ReplicaOptions extends ReplicaPlace {
  readonly key: string;
  /** Whether its breaker may open. */
  readonly hasBreaker: () => boolean;
  /** Whether another one is up already: then its definitions are compared before it takes calls. */
  readonly isLater: () => boolean;
  readonly onUp: () => void;
  /** False: it was the last one, and does not start again. */
  readonly onDown: (ended: Closed) => boolean;
}

/** Not connected at first. */
export function createReplica(given: ReplicaOptions, deps: ReplicaDeps): Replica {
  const { key, name, server, options } = given;
  const { clock, rules } = deps;
  const canCrash = hasProcess(server.transport);
  const lifetime = new AbortController();
  const retries = createRetries(given, deps, () => quietly(start(false)));
  const link = createLink(deps);
  let starting: Promise<void> = Promise.resolve();

  const calls = createWatchedCalls({
    ...{ clock, settings: deps.settings, canCrash, isOn: given.hasBreaker, lifetime: lifetime.signal },
    connection: () => link.current,
    onUnreachable: (on, reason) => onEnd(on, { kind: "lost", reason }),
    onChange: (state, why) => options.events.onReplica?.({ kind: "breaker", name, state, why }),
  });

  async function start(isInTurn: boolean): Promise<void> {
    retries.begin();
    const trying = tryStart(isInTurn);
    starting = trying.catch(() => undefined);
    await trying;
  }

  async function tryStart(isInTurn: boolean): Promise<void> {
    const { signal } = lifetime;
    const starter = { owner: null, clock, signal };
    const open = async () => {
      await link.gone;
      const lines = { onStderr: retries.noteLine, stderr: () => retries.lines };
      return await openOne(given, { ...deps, ...lines, signal, wasUp: link.wasUp });
    };
    try {
      const opened = isInTurn ? await open() : await deps.starts.run(server.transport, starter, open);
      if (given.isLater()) await options.onReopened?.(opened, signal);
      if (signal.aborted) await opened[Symbol.asyncDispose]();
      else takeIn(opened);
    } catch (error) {
      const cause = toGatewayError(error);
      if (!signal.aborted) retries.plan(cause, cause.code === "UPSTREAM_CLOSED" ? 0 : undefined);
      throw cause;
    }
  }

  function takeIn(opened: Opened): void {
    const isNews = link.wasUp;
    link.take(opened);
    retries.noteUp();
    calls.breaker.reset();
    void opened.closed.then((closed) => onEnd(opened, closed));
    given.onUp();
    options.events.onReplica?.({ kind: "up", name, isNews });
  }

  function onEnd(opened: Opened, closed: Closed): void {
    if (link.current !== opened || lifetime.signal.aborted) return;
    link.drop();
    if (!given.onDown(closed)) return;
    if (rules.isCleanEnd(closed)) retries.sleep();
    else retries.plan(rules.toClosedCause(server.slug, canCrash, closed, retries.lines), link.uptimeMs());
  }

  return {
    ...{ key, link, calls, start },
    get facts() {
      const { state, nextTryMs = retries.nextTryMs } = calls.breaker;
      const text = state === "closed" ? retries.why : `breaker: ${state}`;
      const next = nextTryMs === undefined ? "" : `, next try in ${toDurationText(nextTryMs)}`;
      const why = text === undefined ? undefined : `${text}${next}`;
      const { current } = link;
      return { name, isUp: current !== undefined, pid: current?.pid, inFlight: calls.running, breaker: state, why };
    },
    wake() {
      if (retries.isAsleep) quietly(start(false));
    },
    async stop() {
      retries.cancel();
      lifetime.abort(new Error(`${name} is not needed any more`));
      calls.breaker.stop();
      link.drop();
      await starting;
      await link.gone;
    },
  };
}

function quietly(work: Promise<unknown>): void {
  work.catch(() => undefined);
}

/** The connection of one replica, and the stream on which it announces changes. */
type Link = ReturnType<typeof createLink>;

function createLink({ clock, rules }: ReplicaDeps) {
  let current: Opened | undefined;
  let listening: Listening | undefined;
  let gone: PromiseLike<void> = Promise.resolve();
  let upSinceMs: number | undefined;
  return {
    /** Undefined while it takes no requests. */
    get current(): Opened | undefined {
      return current;
    },
    /** Settles when the connection before has ended. */
    get gone(): PromiseLike<void> {
      return gone;
    },
    get wasUp(): boolean {
      return upSinceMs !== undefined;
    },
    uptimeMs: (): number => clock.monotonic() - (upSinceMs ?? Number.POSITIVE_INFINITY),
    take(opened: Opened): void {
      current = opened;
      listening = rules.listenForChanges(opened, clock);
      upSinceMs = clock.monotonic();
    },
    drop(): void {
      if (current === undefined) return;
      gone = current[Symbol.asyncDispose]();
      current = undefined;
      listening?.stop();
    },
    /** Whether announcements of changed lists arrive. */
    get isHeard(): boolean {
      return current === undefined || (current.peer.era === "modern" && listening?.works === true);
    },
    /** Requests in flight, without those that listen for changes. */
    get inFlight(): number {
      return current === undefined ? 0 : current.inFlight - (listening?.open ?? 0);
    },
  };
}

/** The lines that an error of a start shows. */
const keptLines = 20;

/**
 * When one that is down is started again. The same rules as for a server with one process (docs/design.md, "Crashes"),
 * except that no call has to come for it: one that was given up, or cannot be reached, is tried again all the same.
 */
function createRetries({ name, server, options, isLater }: ReplicaOptions, deps: ReplicaDeps, start: () => void) {
  const { clock, settings, rules } = deps;
  const canCrash = hasProcess(server.transport);
  const crashes = rules.createCrashCount(settings);
  let lines: string[] = [];
  let failedTries = 0;
  let why: string | undefined;
  let isAsleep = false;
  let retryAtMs: number | undefined;
  let cancelRetry: (() => void) | undefined;

  function cancel(): void {
    cancelRetry?.();
    cancelRetry = retryAtMs = undefined;
    isAsleep = false;
  }

  return {
    cancel,
    /** Call when a start begins. */
    begin(): void {
      cancel();
      why = "starting";
      lines = [];
    },
    noteLine(line: string): void {
      if (lines.push(line) > keptLines) lines.shift();
    },
    noteUp(): void {
      why = undefined;
      failedTries = 0;
    },
    /** It ended in good order. */
    sleep(): void {
      isAsleep = true;
      why = "it ended on its own; the next call starts it";
    },
    /** `uptimeMs` is that of a process that ended; undefined where none did. */
    plan(cause: GatewayError, uptimeMs: number | undefined): void {
      const { restartDelaysMs, probeIntervalMs, failedRetryMs } = settings();
      const verdict = canCrash && uptimeMs !== undefined ? crashes.judge(clock.monotonic(), uptimeMs) : undefined;
      const growing = Math.min(restartDelaysMs[failedTries] ?? probeIntervalMs, probeIntervalMs);
      failedTries += 1;
      const afterMs = verdict === undefined ? growing : verdict.kind === "restart" ? verdict.afterMs : failedRetryMs;
      cancel();
      why = cause.message;
      retryAtMs = clock.monotonic() + afterMs;
      cancelRetry = clock.after(afterMs, start);
      // While none is up, the instance itself tells why.
      if (!isLater()) return;
      const crash = verdict && { ...rules.exitOf(cause), crashes: crashes.count, stderr: [...lines] };
      options.events.onReplica?.({ kind: "down", name, why, crash });
    },
    get lines(): readonly string[] {
      return lines;
    },
    get why(): string | undefined {
      return why;
    },
    get isAsleep(): boolean {
      return isAsleep;
    },
    get nextTryMs(): number | undefined {
      return retryAtMs === undefined ? undefined : Math.max(0, retryAtMs - clock.monotonic());
    },
  };
}
