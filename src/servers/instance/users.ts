import type { ClientPresence } from "../../kernel/client-presence.ts";
import type { Clock } from "../../kernel/runtime/clock.ts";

/**
 * Records which client used which process of a stateful server, so that exactly those clients are told when the state
 * they left there is lost. It outlives the instance, because a changed configuration makes a new one.
 */
export interface Users {
  /** Call when a new process has replaced the one before. */
  processStarted(): void;
  /** Call when the process has ended. `reason` is a sentence that begins with "it"; only the first reason counts. */
  processEnded(reason: string): void;
  /** Call when a client's request has reached the process. */
  note(client: ClientPresence): void;
  /**
   * Why the process that the client used has ended, told once; undefined when it still runs, when the client has been
   * told already, and when the client never used one.
   */
  takeLoss(client: ClientPresence): string | undefined;
  /** Whether a client that used the current process is connected. */
  readonly areConnected: boolean;
}

/**
 * The most clients remembered per server: more than a shared server has, and 100 KB. Beyond it, the client that has
 * been away for longest is forgotten, and is not told of a loss.
 */
export const mostUsers = 1_000;

/** One process, from its start to its end. */
interface ProcessRun {
  endedBecause: string | undefined;
}

interface Use {
  run: ProcessRun;
  lastUseMs: number;
  /** A loss that the client has not been told of yet. */
  loss: string | undefined;
}

/** Remembers no client at first. */
export function createUsers(clock: Clock): Users {
  const uses = new Map<ClientPresence, Use>();
  let current: ProcessRun = { endedBecause: undefined };

  function enter(client: ClientPresence): Use {
    const earlier = comesBackFrom(client);
    const use = uses.get(earlier ?? client) ?? { run: current, lastUseMs: 0, loss: undefined };
    if (earlier !== undefined) uses.delete(earlier);
    else if (uses.size >= mostUsers) forgetOne();
    uses.set(client, use);
    return use;
  }

  /**
   * The earlier presence of a client whose session lapsed during a long pause and who has initialized again: it is
   * the same client, and has lost the same state.
   */
  function comesBackFrom(client: ClientPresence): ClientPresence | undefined {
    for (const other of uses.keys()) {
      const hasLapsed = other.state === "lapsed" && other.lapsedAtMs !== undefined;
      if (hasLapsed && other.program === client.program && (other.lapsedAtMs as number) <= client.sinceMs) return other;
    }
    return undefined;
  }

  function forgetOne(): void {
    let oldest: ClientPresence | undefined;
    let sinceMs = Number.POSITIVE_INFINITY;
    for (const [client, { lastUseMs }] of uses) {
      if (client.state === "gone") uses.delete(client);
      else if (lastUseMs < sinceMs) [oldest, sinceMs] = [client, lastUseMs];
    }
    if (uses.size >= mostUsers && oldest !== undefined) uses.delete(oldest);
  }

  return {
    processStarted() {
      current.endedBecause ??= "its process was replaced";
      current = { endedBecause: undefined };
    },
    processEnded(reason) {
      current.endedBecause ??= reason;
    },
    note(client) {
      const use = uses.get(client) ?? enter(client);
      use.lastUseMs = clock.monotonic();
      if (use.run === current) return;
      use.loss ??= use.run.endedBecause;
      use.run = current;
    },
    takeLoss(client) {
      const use = uses.get(client);
      const loss = use?.loss;
      if (use !== undefined) use.loss = undefined;
      return loss;
    },
    get areConnected() {
      for (const [client, use] of uses) {
        if (client.state === "gone") uses.delete(client);
        else if (client.state === "open" && use.run === current) return true;
      }
      return false;
    },
  };
}
