import { traitsOf } from "../../config/transports.ts";
import { GatewayError } from "../../kernel/gateway-error.ts";
import type { Connection } from "../upstream/connection.ts";
import type { Acquire } from "./acquisition.ts";
import type { Attempts } from "./attempts.ts";
import type { HeldConnection } from "./held-connection.ts";
import type { Instance } from "./instance.ts";
import type { InstanceDeps } from "./instance-deps.ts";
import type { Life } from "./life.ts";
import type { Recovery } from "./recovery.ts";
import type { Refresher } from "./refresh.ts";
import { toRefusal, toRemovalError } from "./state-status.ts";
import type { Users } from "./users.ts";
import type { Waiters } from "./waiters.ts";

/** The parts of an instance that its operations need. */
export interface OrdersParts {
  readonly life: Life;
  readonly held: HeldConnection;
  readonly users: Users;
  readonly waiters: Waiters<Connection>;
  readonly refresher: Refresher;
  readonly attempts: Attempts;
  readonly recovery: Recovery;
  readonly acquire: Acquire;
  /** Aborted when the instance is removed, so that a late answer brings nothing of it back. */
  readonly lifetime: AbortController;
}

/** The operations that others request of an instance: its beginning, its end, and what people do by hand. */
export type Orders = Pick<Instance, "adopt" | "restart" | "stop" | "reconfigure" | "remove">;

/** Makes these operations for one instance. */
export function createOrders(parts: OrdersParts, deps: InstanceDeps): Orders {
  const { life, held, users, waiters, refresher, attempts, recovery } = parts;

  function abandon(reason: GatewayError): void {
    recovery.cancel();
    attempts.abandon(reason);
  }

  return {
    adopt(kept) {
      const { server, state } = life;
      if (state.kind === "disabled" || state.kind === "unconfigured" || state.kind === "removed") return;
      if (kept !== undefined && kept.hash === server.hash && deps.catalog.get(life.id) === undefined) {
        refresher.adopt(kept.lists);
        attempts.noteEarlierLife(kept.lists.eras);
        deps.starts.noteInstalled(server.transport);
        if (traitsOf(server.transport).mayIdle) life.apply({ kind: "idle" });
      }
      if (life.state.kind === "new") attempts.start("first");
    },
    async restart(signal, by) {
      users.processEnded("it was restarted by hand");
      abandon(new GatewayError("SERVER_STARTING", `${life.server.slug} is being restarted`));
      recovery.forget();
      attempts.start("restart", by);
      if (life.state.kind === "starting")
        deps.events.emit({ type: "mcp.server.restarted", ...life.about(), reason: "asked for" });
      await parts.acquire(signal);
    },
    async stop() {
      users.processEnded("it was stopped by hand");
      abandon(new GatewayError("SERVER_STOPPED", `${life.server.slug} was stopped by hand`));
      life.apply({ kind: "stop" });
      waiters.rejectAll(() => toRefusal(life.server.slug, life.state));
      await held.gone;
    },
    async reconfigure(next) {
      life.reconfigure(next);
      // Without lists there is nothing to take anew, and a change of a team's server is no reading of many files.
      if (deps.catalog.get(life.id) === undefined) return;
      const kept = await deps.keeper.load(life.id);
      if (kept?.hash === life.server.hash && deps.catalog.get(life.id) !== undefined) refresher.adopt(kept.lists);
    },
    async remove(why) {
      parts.lifetime.abort(toRemovalError(life.server.slug, why));
      abandon(toRemovalError(life.server.slug, why));
      life.apply({ kind: "remove", why });
      waiters.rejectAll(() => toRefusal(life.server.slug, life.state));
      deps.catalog.remove(life.id);
      await held.gone;
    },
  };
}
