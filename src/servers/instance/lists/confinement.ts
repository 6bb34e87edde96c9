import type { ConnectionEvents, DeniedReach } from "../../upstream/connection.ts";
import type { InstanceDeps } from "../instance-deps.ts";
import type { Life } from "../instance-state.ts";

/** What became of a server's sandbox. */
export interface Confinement {
  /** Why the process runs without one; undefined where it does not. */
  readonly unconfinedWhy: string | undefined;
  /** Hosts that it was kept from, the newest last, each once. */
  readonly denied: readonly (DeniedReach & { readonly atMs: number })[];
}

const keptDenied = 20;
/** More is no news to anybody, and a server could ask for a thousand names a second. */
const deniedPerMinute = 10;

/** Notes what a confined process was kept from, and tells of it. */
export function createConfinement(
  { about, server: { slug: server } }: Pick<Life, "server" | "about">,
  { events, log, clock }: Pick<InstanceDeps, "events" | "log" | "clock">,
) {
  let unconfinedWhy: string | undefined;
  let denied: Confinement["denied"] = [];

  const on: Required<Pick<ConnectionEvents, "onDenied" | "onUnconfined">> = {
    onDenied({ host, port, why, allowedBy }) {
      const atMs = clock.now();
      const recent = denied.filter((one) => atMs - one.atMs < 60_000);
      const isSame = (one: DeniedReach): boolean => one.host === host && one.port === port;
      if (recent.some(isSame) || recent.length >= deniedPerMinute) return;
      denied = [...denied.filter((one) => !isSame(one)).slice(1 - keptDenied), { host, port, why, allowedBy, atMs }];
      const place = port === undefined ? host : `${host}:${port}`;
      const where = { component: "sandbox", server, operation: "denied", host, port };
      log.info(where, `${server} may not reach ${place}: ${why}; sandbox.network of its entry could allow it`);
      events.emit({ type: "sandbox.denied", ...about(), host, port, why });
    },
    onUnconfined(why) {
      unconfinedWhy = why;
      log.warn({ component: "sandbox", server, operation: "start" }, `${server} runs without a sandbox: ${why}`);
    },
  };
  return {
    on,
    get facts(): Confinement {
      return { unconfinedWhy, denied };
    },
    /** Call when a process is being started. */
    begin: () => (unconfinedWhy = undefined),
  };
}
