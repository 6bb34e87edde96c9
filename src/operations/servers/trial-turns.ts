import type { Clock } from "../../kernel/runtime/clock.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import { createAttempts } from "../../people/authorization-server/login-attempts.ts";

/** For starts of processes that somebody only wants to try: as many as a person looks at, and none for a script. */
export interface TrialTurns {
  /** Of a team; of the gateway itself for "". Ends with the trial. Throws RATE_LIMITED with `retry_after_s`. */
  take(teamId: string): Disposable;
}

/** At once, for one team or for the gateway: a start takes a processor for seconds. */
const mostAtOnce = 3;
const mostPerMinute = 30;
const minuteMs = 60_000;

export function createTrialTurns(clock: Pick<Clock, "monotonic">): TrialTurns {
  const tries = createAttempts(clock, mostPerMinute, minuteMs);
  /** Teams without a running trial are not in it. */
  const running = new Map<string, number>();
  return {
    take(teamId) {
      const others = running.get(teamId) ?? 0;
      if (others >= mostAtOnce)
        throw new GatewayError("RATE_LIMITED", `${mostAtOnce} servers are tried at this moment`, {
          data: { retry_after_s: 1 },
        });
      tries.check([teamId]);
      tries.count([teamId]);
      running.set(teamId, others + 1);
      return {
        [Symbol.dispose]() {
          const left = (running.get(teamId) ?? 1) - 1;
          if (left === 0) running.delete(teamId);
          else running.set(teamId, left);
        },
      };
    },
  };
}
