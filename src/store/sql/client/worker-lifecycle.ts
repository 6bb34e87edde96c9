import { createSignal } from "../../../kernel/runtime/abort.ts";
import type { Clock } from "../../../kernel/runtime/clock.ts";
import type { RecordKind, StoreProblem } from "../../record-store.ts";
import { createIdleWatch } from "../thread/idle-watch.ts";
import type { SqlReply, SqlRequest } from "../sql-messages.ts";
import { type SqlThread, type SqlThreadOptions, createWorkerSlot } from "../thread/sql-thread.ts";
import { createStartPlan } from "../thread/start-plan.ts";

/**
 * The lives of the worker thread. One that dies is started again, later each time. One that is not needed is put to
 * sleep: it closes its databases and ends, which gives back its memory and its files, and is started again for the next
 * batch or question. Sleeping is no problem of the store.
 */
export interface WorkerLifecycle {
  stage(): Stage;
  /** Starts, also those after a sleep. */
  starts(): number;
  /** Why there is none: only while it is dead. */
  problem(): StoreProblem | undefined;
  /** Starts it where it sleeps; one that is leaving is started again when it has ended. */
  wake(): void;
  /** Hands it over; where it sleeps, as soon as it is awake. */
  post(request: SqlRequest): void;
  /** Whether the process stays for it. */
  hold(isHeld: boolean): void;
  /** Resolves when the worker has done what was posted before and has ended. */
  close(): Promise<void>;
}

/** `leaving`: told to close, which it has not done yet. `dead`: it ended by itself, and waits for its next start. */
export type Stage = "awake" | "leaving" | "asleep" | "dead";

export interface SleepTimes {
  /** Without a batch or a question for so long it goes to sleep. */
  readonly idleMs: number;
  /** How soon it is looked again whether it may, where something was still open. */
  readonly againMs: number;
  /** It sleeps no longer than this: rows that are too old have to be deleted also where nothing happens. */
  readonly sleepMs: number;
}

export interface WorkerLifecycleOptions {
  readonly clock: Clock;
  readonly sleep: SleepTimes;
  readonly startThread: (on: Pick<SqlThreadOptions, "onReply" | "onEnded">) => SqlThread;
  /** Nothing has happened for so long that it would sleep: what others still have for it should come now. */
  readonly onRest: () => void;
  /** Whether nothing is open, and both databases are in order: while one is not, the worker looks after it. */
  readonly maySleep: () => boolean;
  readonly onReply: (reply: Exclude<SqlReply, { kind: "closed" | "driverless" }>) => void;
  /** It has ended, and everything that was handed to it is lost. */
  readonly onLost: (problem: StoreProblem) => void;
  readonly onClosed: () => void;
}

/** Starts the worker at once. */
export function createWorkerLifecycle(options: WorkerLifecycleOptions): WorkerLifecycle {
  const { clock, sleep, startThread, onRest, maySleep, onReply, onLost, onClosed } = options;
  const plan = createStartPlan(clock, start);
  const idle = createIdleWatch({ clock, ...sleep, onRest, onIdle: fallAsleep });
  const seat = createWorkerSlot();
  const closing = createSignal();
  let stage: Stage = "asleep";
  let isWanted = false;
  let isClosing = false;
  let starts = 0;

  function start(): void {
    plan.started();
    starts += 1;
    stage = "awake";
    isWanted = false;
    seat.take(startThread({ onReply: take, onEnded }));
    if (isClosing) seat.dismiss();
    else idle.touch();
  }

  function fallAsleep(): boolean {
    if (stage !== "awake") return true;
    if (!maySleep()) return false;
    stage = "leaving";
    isWanted = false;
    seat.dismiss();
    return true;
  }

  function take(reply: SqlReply): void {
    if (reply.kind === "driverless" && reply.isFull) plan.awaitRoom(reply.message);
    else if (reply.kind === "driverless") plan.giveUp(reply.message);
    else if (reply.kind !== "closed") onReply(reply);
    else if (stage === "leaving") stage = "asleep";
  }

  function onEnded(reason: string): void {
    seat.clear();
    if (stage !== "asleep") stage = "dead";
    if (isClosing && (stage === "dead" || seat.waiting === 0)) endClosing();
    else if (stage === "dead") revive(reason);
    else if (isWanted || seat.waiting > 0) start();
    else plan.startIn(sleep.sleepMs);
  }

  function revive(reason: string): void {
    idle.stop();
    seat.forget();
    onLost(plan.startAgain(reason));
  }

  function endClosing(): void {
    onClosed();
    closing.done();
  }

  function wake(): void {
    if (seat.isTaken) isWanted = true;
    else if (stage === "asleep" && !isClosing) start();
  }

  function close(): Promise<void> {
    if (isClosing) return closing.promise;
    isClosing = true;
    plan.cancel();
    idle.stop();
    seat.dismiss();
    if (!seat.isTaken) endClosing();
    return closing.promise;
  }

  start();
  return {
    stage: () => stage,
    starts: () => starts,
    problem: () => plan.problem,
    wake,
    post(request) {
      // Writing usage totals does not count as activity.
      if (request.kind !== "append" || !isSum(request.rows)) idle.touch();
      seat.post(request);
      wake();
    },
    hold: (isHeld) => seat.hold(isHeld),
    close,
  };
}

function isSum(kind: RecordKind): boolean {
  return kind === "usage" || kind === "session" || kind === "spent";
}
