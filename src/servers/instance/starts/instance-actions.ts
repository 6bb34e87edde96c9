import { unseen } from "../../../catalog/definitions/definition-book.ts";
import { traitsOf } from "../../../config/entry/transports.ts";
import type { Handshake } from "../../upstream/connection.ts";
import { parseHandshake } from "../../upstream/ladder.ts";
import type { Era } from "../../../kernel/call/call-context.ts";
import { GatewayError } from "../../../kernel/failures/gateway-error.ts";
import type { Connection } from "../../upstream/connection.ts";
import type { Acquire } from "../acquisition.ts";
import type { Attempts } from "./attempts.ts";
import type { HeldConnection } from "../held-connection.ts";
import type { Instance } from "../instance.ts";
import type { InstanceDeps } from "../instance-deps.ts";
import type { Life } from "../instance-state.ts";
import type { Recovery } from "./recovery.ts";
import type { Refresher } from "../lists/refresh.ts";
import { toRefusal, toRemovalError } from "../state-status.ts";
import type { Users } from "../users.ts";
import type { Waiters } from "../waiters.ts";

/** The parts of an instance that its operations need. */
export interface OrdersParts {
  readonly held: HeldConnection;
  readonly users: Users;
  readonly waiters: Waiters<Connection>;
  readonly attempts: Attempts;
  readonly recovery: Recovery;
  readonly acquire: Acquire;
  /** Aborted when the instance is removed, so that a late answer brings nothing of it back. */
  readonly lifetime: AbortController;
}

/** An instance, whether or not somebody uses it. */
export interface InstanceCore<Parts extends OrdersParts = OrdersParts> {
  readonly life: Life;
  readonly refresher: Refresher;
  readonly users: () => Users;
  /** Undefined until the first use. */
  readonly made: Parts | undefined;
  /** Makes them if there are none. */
  readonly parts: () => Parts;
  /** The server was up before this gateway started, and spoke these eras then. */
  noteEarlierLife(eras: readonly Era[], handshake: Handshake | undefined): void;
  /** Settles when everything that was opened for it, and for the one before it, has ended. */
  gone(): Promise<void>;
}

/** The operations that others request of an instance: its beginning, its end, and what people do by hand. */
export type Orders = Pick<Instance, "adopt" | "recall" | "restart" | "stop" | "reconfigure" | "remove">;

/** Makes these operations for one instance. */
export function createOrders(core: InstanceCore, deps: InstanceDeps): Orders {
  const { life, refresher } = core;

  return {
    adopt(kept) {
      const { server, state } = life;
      if (state.kind === "disabled" || state.kind === "unconfigured" || state.kind === "removed") return;
      if (kept !== undefined && kept.hash === server.hash && deps.catalog.get(life.id) === undefined) {
        refresher.adopt(kept.lists);
        core.noteEarlierLife(kept.lists.eras, parseHandshake(kept.lists.handshake));
        deps.starts.noteInstalled(server.transport);
        // The kept list has a definition that was never judged: the server is asked.
        const isDoubtful = deps.catalog.get(life.id)?.tools.some(({ held }) => held === unseen) === true;
        if (traitsOf(server.transport).mayIdle && !isDoubtful) life.apply({ kind: "idle" });
      }
      if (life.state.kind === "new") core.parts().attempts.start("first");
    },
    recall: refresher.recall,
    async restart(signal, by) {
      const parts = core.parts();
      parts.users.processEnded("it was restarted by hand");
      abandon(parts, new GatewayError("SERVER_STARTING", `${life.server.slug} is being restarted`));
      parts.recovery.forget();
      parts.attempts.start("restart", by);
      if (life.state.kind === "starting")
        deps.events.emit({ type: "mcp.server.restarted", ...life.about(), reason: "asked for" });
      await parts.acquire(signal);
    },
    async stop() {
      const parts = core.parts();
      parts.users.processEnded("it was stopped by hand");
      abandon(parts, new GatewayError("SERVER_STOPPED", `${life.server.slug} was stopped by hand`));
      life.apply({ kind: "stop" });
      parts.waiters.rejectAll(() => toRefusal(life.server.slug, life.state));
      await core.gone();
    },
    async reconfigure(next) {
      life.reconfigure(next);
      core.made?.held.current?.replicas?.adjust(next);
      // Without lists there is nothing to read again, and a change of one team's server must not read many files.
      if (deps.catalog.get(life.id) === undefined) return;
      const [kept] = await Promise.all([deps.keeper.load(life.id), deps.definitions.open(next)]);
      if (deps.catalog.get(life.id) === undefined) return;
      if (kept?.hash === life.server.hash) refresher.adopt(kept.lists);
      else refresher.recall();
    },
    async remove(why) {
      const { made } = core;
      made?.lifetime.abort(toRemovalError(life.server.slug, why));
      if (made !== undefined) abandon(made, toRemovalError(life.server.slug, why));
      life.apply({ kind: "remove", why });
      made?.waiters.rejectAll(() => toRefusal(life.server.slug, life.state));
      deps.catalog.remove(life.id);
      await core.gone();
    },
  };
}

function abandon({ recovery, attempts }: OrdersParts, reason: GatewayError): void {
  recovery.cancel();
  attempts.abandon(reason);
}
