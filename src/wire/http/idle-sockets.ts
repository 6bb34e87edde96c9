import type { HttpSocket } from "./http-socket.ts";

/** How long a connection is kept that the server says nothing about. Most keep them for 5 s. */
const defaultIdleS = 4;
/** A server closes when its time is over; a request must not meet that on its way. */
const safetyS = 1;
const mostIdleS = 300;
const sweepMs = 1_000;
/**
 * Some servers close right behind each answer, without announcing it: a request sent at that moment is lost. After so
 * many that closed so soon, only connections that outlived their answer for much longer are used again: a busy machine
 * may report an end late.
 */
const soonMs = 100;
const mostSoonGone = 2;
const outlivedMs = 1_000;

/** The connections of one pool that are open and have no request, and what they tell of their server. */
export interface IdleSockets {
  /** Whether the server was seen to close right behind its answers: then a fresh connection is the safe one. */
  readonly isClosedBehindAnswers: boolean;
  /** A connection has been answered and is still open. Comes before `keep`. */
  noteAnswered(socket: HttpSocket): void;
  /** Keeps it for as long as the server says, or destroys it. */
  keep(socket: HttpSocket): void;
  /** One that is open and that the server is not about to close. */
  take(): HttpSocket | undefined;
  /** A connection has ended, idle or not. */
  remove(socket: HttpSocket): void;
  /** Stops watching them. The holder of the sockets destroys them. */
  stop(): void;
}

export function createIdleSockets(): IdleSockets {
  /** In the order in which they became idle. */
  const idle: HttpSocket[] = [];
  let soonGone = 0;
  let sweep: NodeJS.Timeout | undefined;

  /** Idle ones that the server is about to close. */
  function closeExpired(): void {
    sweep = undefined;
    const nowMs = performance.now();
    for (const socket of idle.filter((candidate) => candidate.idleUntilMs <= nowMs)) socket.destroy();
    if (idle.some((socket) => socket.isOpen)) sweep = setTimeout(closeExpired, sweepMs).unref();
  }

  /**
   * The one used last, so that the others become old and are closed. Where the server closes behind its answers, the
   * one that has outlived its answer longest is the safest.
   */
  function takeOne(): HttpSocket | undefined {
    return soonGone < mostSoonGone ? idle.pop() : idle.shift();
  }

  return {
    get isClosedBehindAnswers() {
      return soonGone >= mostSoonGone;
    },
    noteAnswered(socket) {
      // A second answer on the same connection: this server does keep connections open.
      if (socket.freedAtMs > 0) soonGone = 0;
    },
    keep(socket) {
      const nowMs = performance.now();
      socket.freedAtMs = nowMs;
      const idleS = Math.min(socket.idleS === undefined ? defaultIdleS : socket.idleS - safetyS, mostIdleS);
      if (idleS <= 0) {
        socket.destroy();
        return;
      }
      socket.idleUntilMs = nowMs + idleS * 1_000;
      idle.push(socket);
      sweep ??= setTimeout(closeExpired, sweepMs).unref();
    },
    take() {
      const nowMs = performance.now();
      if (soonGone >= mostSoonGone && nowMs - (idle[0]?.freedAtMs ?? nowMs) < outlivedMs) return undefined;
      for (let socket = takeOne(); socket !== undefined; socket = takeOne()) {
        if (socket.isOpen && socket.idleUntilMs > nowMs) return socket;
        socket.destroy();
      }
      return undefined;
    },
    remove(socket) {
      const place = idle.indexOf(socket);
      if (place !== -1) idle.splice(place, 1);
      if (performance.now() - socket.freedAtMs < soonMs) soonGone += 1;
    },
    stop: () => clearTimeout(sweep),
  };
}
