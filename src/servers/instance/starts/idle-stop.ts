import { traitsOf } from "../../../config/entry/transports.ts";
import { toDurationText } from "../../../kernel/text/number-text.ts";
import type { HeldConnection } from "../held-connection.ts";
import type { Idleness } from "./idleness.ts";
import type { InstanceDeps } from "../instance-deps.ts";
import type { Life } from "../instance-state.ts";
import type { ListRefresh } from "../lists/list-refresh.ts";
import type { Users } from "../users.ts";

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
