import type { Era } from "../../kernel/call-context.ts";
import { GatewayError, toGatewayError } from "../../kernel/gateway-error.ts";
import { settingNow } from "../../kernel/setting-now.ts";
import type { Connection } from "../upstream/connection.ts";
import type { HeldConnection } from "./held-connection.ts";
import type { InstanceDeps, Opened } from "./instance-deps.ts";
import type { Life } from "./life.ts";
import type { ListRefresh } from "./list-refresh.ts";
import type { OpenInTurn } from "./opening.ts";
import type { Refresher } from "./refresh.ts";
import type { StartReason } from "./state.ts";
import type { Users } from "./users.ts";
import type { Waiters } from "./waiters.ts";

/** The starts of one instance: one at a time, for all who want one. */
export interface Attempts {
  /** Monotonic ms of the last one. */
  readonly lastTryMs: number | undefined;
  /** Begins one, where the state admits it. */
  start(why: StartReason): void;
  /** It was up in an earlier life, and spoke these. */
  noteEarlierLife(eras: readonly Era[]): void;
  /** Fails the one that is under way; false when there is none. */
  fail(cause: GatewayError): boolean;
  /** Ends the one that is under way, and the connection. */
  abandon(reason: GatewayError): void;
}

export interface AttemptsParts {
  readonly life: Life;
  readonly held: HeldConnection;
  readonly users: Users;
  readonly waiters: Waiters<Connection>;
  readonly refresher: Refresher;
  readonly listRefresh: ListRefresh;
  readonly openInTurn: OpenInTurn;
  /** `isLastTry`: it was given up before, and a call wants it all the same. */
  readonly onStart: (isLastTry: boolean) => void;
  readonly onUp: () => void;
  readonly onFailed: (cause: GatewayError) => void;
}

/** One that is under way; aborted when nobody wants it any more. */
interface Attempt {
  readonly controller: AbortController;
  /** It only slept: it is the same server as before. */
  readonly wakes: boolean;
  readonly startedMs: number;
}

export function createAttempts(parts: AttemptsParts, deps: InstanceDeps): Attempts {
  const { life, held, listRefresh, refresher } = parts;
  let current: Attempt | undefined;
  /** Settles when what the attempt started is up, or gone again. */
  let ended: Promise<void> = Promise.resolve();
  let lastTryMs: number | undefined;
  let eras: readonly Era[] | undefined;
  let everOnline = false;

  function start(why: StartReason): void {
    const before = life.state;
    life.apply({ kind: "start", why });
    if (life.state === before || life.state.kind !== "starting") return;
    parts.onStart(before.kind === "failed" && why === "demand");
    const startedMs = deps.clock.monotonic();
    lastTryMs = startedMs;
    const wakes = before.kind === "dormant" && everOnline;
    const attempt: Attempt = { controller: new AbortController(), wakes, startedMs };
    current = attempt;
    ended = run(attempt).catch((error: unknown) => failed(attempt, toGatewayError(error)));
  }

  async function run(attempt: Attempt): Promise<void> {
    refuseFullQueue(life.server.slug, deps);
    const { signal } = attempt.controller;
    const opened = await parts.openInTurn({ eras, everOnline }, signal);
    if (signal.aborted) {
      await opened[Symbol.asyncDispose]();
      return;
    }
    takeIn(opened);
    const isUnknown = deps.lender === undefined && deps.catalog.get(life.id) === undefined;
    if (isUnknown) {
      life.apply({ kind: "phase", phase: "discovering" });
      await refresher.refresh(opened, signal);
      life.apply({ kind: "phase", phase: "syncing" });
    }
    if (current !== attempt) return;
    current = undefined;
    life.apply({ kind: "started" });
    everOnline = true;
    parts.onUp();
    tellUp(attempt, opened, life, deps);
    // After a failure it may be another server than before; one that only slept is the same.
    if (!isUnknown && (!attempt.wakes || listRefresh.isDue())) listRefresh.refreshQuietly("revalidate");
  }

  function takeIn(opened: Opened): void {
    parts.users.processStarted();
    eras = opened.peer.eras;
    held.take(opened);
    parts.waiters.resolveAll(opened);
  }

  function failed(attempt: Attempt, cause: GatewayError): void {
    if (current !== attempt) return;
    current = undefined;
    // It may have changed what it speaks: the next try asks.
    eras = undefined;
    held.drop();
    parts.onFailed(cause);
  }

  return {
    get lastTryMs() {
      return lastTryMs;
    },
    start,
    noteEarlierLife(earlier) {
      eras ??= earlier;
      everOnline = true;
    },
    fail(cause) {
      const attempt = current;
      if (attempt === undefined) return false;
      failed(attempt, cause);
      attempt.controller.abort(cause);
      return true;
    },
    abandon(reason) {
      const attempt = current;
      current = undefined;
      attempt?.controller.abort(reason);
      if (attempt !== undefined) held.awaitAlso(ended);
      held.drop();
    },
  };
}

function tellUp({ wakes, startedMs }: Attempt, { pid }: Opened, life: Life, { clock, events }: InstanceDeps): void {
  const durationMs = Math.round(clock.monotonic() - startedMs);
  events.emit(
    wakes
      ? { type: "mcp.server.respawned", ...life.about(), durationMs }
      : { type: "mcp.server.started", ...life.about(), pid, durationMs },
  );
}

function refuseFullQueue(server: string, { starts, settings }: InstanceDeps): void {
  if (starts.waiting < settings().startQueue) return;
  throw new GatewayError("START_QUEUE_FULL", `${server} is not started: ${starts.waiting} starts are waiting already`, {
    hint: `Call again in a few seconds, or raise ${settingNow("instances.startQueue", settings().startQueue)}.`,
  });
}
