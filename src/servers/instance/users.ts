import type { ClientPresence } from "../../kernel/client-presence.ts";
import type { Clock } from "../../kernel/clock.ts";

/**
 * Who used which process of a server that holds state, so that those, and nobody else, are told when what they left
 * there is gone. It outlives the instance: a changed configuration makes a new one.
 */
export interface Users {
  /** A new process has taken the place of the one before. */
  processStarted(): void;
  /** The process is gone, and why, as the end of a sentence. Only the first reason counts. */
  processEnded(reason: string): void;
  /** The client's request reached the process. */
  note(client: ClientPresence): void;
  /**
   * Why the process that the client used is gone; undefined when it is not, when it was told, or when it never used
   * one.
   */
  takeLoss(client: ClientPresence): string | undefined;
  /** Whether a client that used the present process is connected. */
  readonly areConnected: boolean;
}

/**
 * Of one server: more than a shared server has, and 100 KB. Beyond it whoever was away for longest is forgotten, and
 * not told.
 */
export const mostUsers = 1_000;

/** One process, from its start to its end. */
interface Life {
  endedBecause: string | undefined;
}

interface Use {
  life: Life;
  lastUseMs: number;
  /** What the client has not been told yet. */
  loss: string | undefined;
}

export function createUsers(clock: Clock): Users {
  const uses = new Map<ClientPresence, Use>();
  let life: Life = { endedBecause: undefined };

  function enter(client: ClientPresence): Use {
    const earlier = comesBackFrom(client);
    const use = uses.get(earlier ?? client) ?? { life, lastUseMs: 0, loss: undefined };
    if (earlier !== undefined) uses.delete(earlier);
    else if (uses.size >= mostUsers) forgetOne();
    uses.set(client, use);
    return use;
  }

  /** A client whose session lapsed over a long pause initializes again: it is the same one, and has lost the same. */
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
      life.endedBecause ??= "its process was replaced";
      life = { endedBecause: undefined };
    },
    processEnded(reason) {
      life.endedBecause ??= reason;
    },
    note(client) {
      const use = uses.get(client) ?? enter(client);
      use.lastUseMs = clock.monotonic();
      if (use.life === life) return;
      use.loss ??= use.life.endedBecause;
      use.life = life;
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
        else if (client.state === "open" && use.life === life) return true;
      }
      return false;
    },
  };
}
