import type { Era } from "../../../kernel/call/call-context.ts";
import { GatewayError, toGatewayError } from "../../../kernel/failures/gateway-error.ts";
import { settingNow } from "../../../kernel/text/number-text.ts";
import type { PrincipalId } from "../../../kernel/ids.ts";
import type { Connection, FailedStep, Handshake } from "../../upstream/connection.ts";
import type { HeldConnection } from "../held-connection.ts";
import type { InstanceDeps, Opened } from "../instance-deps.ts";
import type { Life } from "../instance-state.ts";
import type { ListRefresh } from "../lists/list-refresh.ts";
import type { Known, OpenInTurn } from "./opening.ts";
import type { Refresher } from "../lists/refresh.ts";
import type { ServerEvents } from "../lists/server-events.ts";
import type { StartReason } from "../state.ts";
import type { Users } from "../users.ts";
import type { Waiters } from "../waiters.ts";

/** The starts of one instance. Only one runs at a time, and everybody who needs the server shares it. */
export interface Attempts {
  /** Monotonic ms at which the last start began. */
  readonly lastTryMs: number | undefined;
  /** Begins a start if the state allows one, for `by` if it is for somebody in particular. */
  start(why: StartReason, by?: PrincipalId): void;
  /** Tells that the server was up before this gateway started, which eras it spoke, and how it was initialized. */
  noteEarlierLife(eras: readonly Era[], handshake: Handshake | undefined): void;
  /** Makes the running start fail. Returns false when none is running. */
  fail(cause: GatewayError): boolean;
  /** Aborts the running start and drops the connection. */
  abandon(reason: GatewayError): void;
}

/** The parts of an instance that starts need. */
export interface AttemptsParts {
  readonly life: Life;
  readonly held: HeldConnection;
  readonly users: Users;
  readonly waiters: Waiters<Connection>;
  readonly refresher: Refresher;
  readonly listRefresh: ListRefresh;
  readonly openInTurn: OpenInTurn;
  readonly serverEvents: Pick<ServerEvents, "handshake">;
  /** `isLastTry`: the server had been given up, and a call tries it once more. */
  readonly onStart: (isLastTry: boolean) => void;
  readonly onUp: () => void;
  readonly onFailed: (cause: GatewayError) => void;
}

/** A start that is running. Its controller is aborted when no call needs the start any more. */
interface Attempt {
  readonly controller: AbortController;
  /** Whether the server was only stopped for being idle, so that it is still the same server. */
  readonly wakes: boolean;
  readonly startedMs: number;
  readonly by: PrincipalId | undefined;
}

/** No start is running at first. */
export function createAttempts(parts: AttemptsParts, deps: InstanceDeps): Attempts {
  const { life, held, listRefresh, refresher } = parts;
  let current: Attempt | undefined;
  /** Settles when the start has succeeded, or has failed and its process has ended. */
  let ended: Promise<void> = Promise.resolve();
  let lastTryMs: number | undefined;
  let known: Pick<Known, "eras" | "handshake"> = nothingKnown;
  let everOnline = false;

  function start(why: StartReason, by?: PrincipalId): void {
    const before = life.state;
    life.apply({ kind: "start", why });
    if (life.state === before || life.state.kind !== "starting") return;
    parts.onStart(before.kind === "failed" && why === "demand");
    const startedMs = deps.clock.monotonic();
    lastTryMs = startedMs;
    const wakes = before.kind === "dormant" && everOnline;
    const attempt: Attempt = { controller: new AbortController(), wakes, startedMs, by };
    current = attempt;
    ended = run(attempt).catch((error: unknown) => failed(attempt, toGatewayError(error)));
  }

  async function run(attempt: Attempt): Promise<void> {
    refuseFullQueue(life.server.slug, deps);
    const { signal } = attempt.controller;
    const opened = await parts.openInTurn({ ...known, everOnline }, signal);
    const isUnknown = deps.lender === undefined && deps.catalog.get(life.id) === undefined;
    const isCompared = !isUnknown && (await compareLists(parts, deps, opened, signal));
    if (signal.aborted) return await opened[Symbol.asyncDispose]();
    takeIn(opened);
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
    // After a failure it may be another version than before, so its lists are fetched again; a server that was only
    // stopped for being idle is the same one.
    if (!isUnknown && !isCompared && (!attempt.wakes || listRefresh.isDue())) listRefresh.refreshQuietly("revalidate");
  }

  function takeIn(opened: Opened): void {
    parts.users.processStarted();
    known = opened.peer;
    held.take(opened);
    parts.waiters.resolveAll(opened);
  }

  function failed(attempt: Attempt, cause: GatewayError): void {
    if (current !== attempt) return;
    current = undefined;
    known = knownAfter(parts.serverEvents.handshake);
    held.drop();
    parts.onFailed(cause);
  }

  return {
    get lastTryMs() {
      return lastTryMs;
    },
    start,
    noteEarlierLife(eras, handshake) {
      if (known === nothingKnown) known = { eras, handshake };
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

/** A server that takes longer for its lists is called meanwhile, by the definitions that are known. */
const compareMs = 5_000;

/**
 * Before a call gets through: a program that was started again may have other definitions than a person looked at.
 * False where that makes no difference, and where its lists could not be had within a while.
 */
export async function compareLists(
  { life, refresher }: Pick<AttemptsParts, "life" | "refresher">,
  { lender, definitions }: Pick<InstanceDeps, "lender" | "definitions">,
  opened: Opened,
  signal: AbortSignal,
): Promise<boolean> {
  if (lender !== undefined || signal.aborted || !definitions.mayHold(life.server)) return false;
  const limited = AbortSignal.any([signal, AbortSignal.timeout(compareMs)]);
  return await refresher.refresh(opened, limited).then(
    () => true,
    () => false,
  );
}

const nothingKnown = Object.freeze({ eras: undefined });
const onlyLegacy = Object.freeze({ eras: Object.freeze(["legacy"] as const) });

/**
 * What a failed start says of the next one: the server may have been replaced by one of another era, so it is asked
 * again; but not with the probe, where that may have ended its process.
 */
function knownAfter(failed: readonly FailedStep[]): Pick<Known, "eras"> {
  return failed.some(({ hasEnded }) => hasEnded) ? onlyLegacy : nothingKnown;
}

function tellUp({ wakes, startedMs, by }: Attempt, { pid }: Opened, life: Life, { clock, events }: InstanceDeps): void {
  const durationMs = Math.round(clock.monotonic() - startedMs);
  events.emit(
    wakes
      ? { type: "mcp.server.respawned", ...life.about(), durationMs, by }
      : { type: "mcp.server.started", ...life.about(), pid, durationMs, by },
  );
}

function refuseFullQueue(server: string, { starts, settings }: InstanceDeps): void {
  if (starts.waiting < settings().startQueue) return;
  throw new GatewayError("START_QUEUE_FULL", `${server} is not started: ${starts.waiting} starts are waiting already`, {
    hint: `Call again in a few seconds, or raise ${settingNow("instances.startQueue", settings().startQueue)}.`,
  });
}
