import { traitsOf } from "../../../config/entry/transports.ts";
import { toDurationText } from "../../../kernel/text/number-text.ts";
import type { HeldConnection } from "../held-connection.ts";
import type { InstanceDeps } from "../instance-deps.ts";
import type { Life } from "../instance-state.ts";
import type { ListRefresh } from "../lists/list-refresh.ts";
import type { Users } from "../users.ts";
import type { Clock } from "../../../kernel/runtime/clock.ts";

/** The parts of an instance that decide whether it is idle. */
export interface IdleStopParts {
  readonly life: Life;
  readonly held: HeldConnection;
  readonly idleness: Idleness;
  readonly listRefresh: Pick<ListRefresh, "isRunning">;
  readonly users: Users;
}

/** Stops an instance that has been idle for long enough. The next call starts it again. */
export function stopIdle(
  { life, held, idleness, listRefresh, users }: IdleStopParts,
  deps: Pick<InstanceDeps, "settings" | "events">,
  nowMs: number,
): void {
  const { server, state } = life;
  if (state.kind !== "online" || !traitsOf(server.transport).mayIdle || held.current === undefined) return;
  if (server.idleTimeoutMs === 0) return;
  const idleMs = idleness.lastedMs(nowMs, held.isBusy);
  if (listRefresh.isRunning || idleMs < server.idleTimeoutMs) return;
  if (nowMs - state.sinceMs < deps.settings().idleGraceMs) return;
  if (server.staysForClients && users.areConnected) return;
  users.processEnded(`it was stopped after ${toDurationText(idleMs)} without use`);
  life.apply({ kind: "idle" });
  held.drop();
  deps.events.emit({ type: "mcp.server.dormant", ...life.about(), idleMs: Math.round(idleMs) });
}

/** Measures for how long an instance has not been needed. */
export interface Idleness {
  /** Notes that the instance is used now. */
  noteUse(nowMs: number): void;
  /** Marks the instance as in use until the returned function is called. */
  hold(): () => void;
  /** For how many ms it has been idle: 0 while it is busy or held. */
  lastedMs(nowMs: number, isBusy: boolean): number;
}

/** Idle since now. */
export function createIdleness(clock: Clock): Idleness {
  let holds = 0;
  let lastUseMs = clock.monotonic();
  return {
    noteUse(nowMs) {
      lastUseMs = nowMs;
    },
    hold() {
      holds += 1;
      let held = true;
      return () => {
        if (held) holds -= 1;
        held = false;
      };
    },
    lastedMs(nowMs, isBusy) {
      if (isBusy || holds > 0) lastUseMs = nowMs;
      return nowMs - lastUseMs;
    },
  };
}
