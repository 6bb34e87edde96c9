import type { PrincipalId } from "../../kernel/ids.ts";
import type { Connection } from "../upstream/connection.ts";
import type { Attempts } from "./starts/attempts.ts";
import type { HeldConnection } from "./held-connection.ts";
import type { Idleness } from "./starts/idle-stop.ts";
import type { InstanceDeps } from "./instance-deps.ts";
import type { Life } from "./instance-state.ts";
import type { Recovery } from "./starts/recovery.ts";
import { decideAcquire } from "./state.ts";
import { toRefusal } from "./state-status.ts";
import type { Waiters } from "./waiters.ts";

/** The parts of an instance that acquiring needs. */
export interface AcquisitionParts {
  readonly life: Life;
  readonly held: Pick<HeldConnection, "current">;
  readonly idleness: Idleness;
  readonly waiters: Waiters<Connection>;
  readonly attempts: Attempts;
  readonly recovery: Pick<Recovery, "startAfterLogin">;
}

/**
 * Returns the connection at once when there is one, otherwise a promise for it after a start that all callers share.
 */
export type Acquire = (signal: AbortSignal, by?: PrincipalId) => Connection | Promise<Connection>;

/** Makes the `acquire` of an instance. Its result throws or rejects as described at `Instance.acquire`. */
export function createAcquire(parts: AcquisitionParts, deps: Pick<InstanceDeps, "clock" | "settings">): Acquire {
  const { life, held, waiters, attempts } = parts;

  function acquire(signal: AbortSignal, by?: PrincipalId): Connection | Promise<Connection> {
    const nowMs = deps.clock.monotonic();
    parts.idleness.noteUse(nowMs);
    const { state } = life;
    const connection = held.current;
    // A short cut for nearly every call; the table in `decideAcquire` decides the same.
    if (state.kind === "online" && connection !== undefined) return connection;
    const { callRetryMs, failedRetryMs } = deps.settings();
    const hasConnection = connection !== undefined;
    switch (decideAcquire(state, { nowMs, lastTryMs: attempts.lastTryMs, hasConnection, callRetryMs, failedRetryMs })) {
      case "call":
        return connection as Connection;
      case "start":
        attempts.start("demand", by);
        return waiters.wait(signal);
      case "wait":
        return waiters.wait(signal);
      case "refuse":
        if (state.kind === "needs-login") return acquireAfterLogin(signal, by);
        throw toRefusal(life.server.slug, state);
    }
  }

  async function acquireAfterLogin(signal: AbortSignal, by: PrincipalId | undefined): Promise<Connection> {
    const refusal = toRefusal(life.server.slug, life.state);
    await parts.recovery.startAfterLogin();
    if (life.state.kind === "needs-login") throw refusal;
    return await acquire(signal, by);
  }

  return acquire;
}
