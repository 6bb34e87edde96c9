import { traitsOf } from "../../../config/entry/transports.ts";
import type { Era } from "../../../kernel/call/call-context.ts";
import type { Handshake } from "../../upstream/connection.ts";
import { createRenewalBudget } from "../../upstream/messages/renewal-budget.ts";
import type { HeldConnection } from "../held-connection.ts";
import type { InstanceDeps, Opened } from "../instance-deps.ts";
import type { Life } from "../instance-state.ts";
import type { LoginNotice } from "./login-notice.ts";
import type { ServerEvents } from "../lists/server-events.ts";
import { startLimits, withStartDeadline } from "./start-deadline.ts";

/** Facts about a server from before it is reached. */
export interface Known {
  readonly eras: readonly Era[] | undefined;
  /** How it was last initialized, where the usual way was refused. */
  readonly handshake?: Handshake | undefined;
  /** Whether it was ever up; if so, starting it installs little or nothing. */
  readonly everOnline: boolean;
}

/** Opens a connection when it is this server's turn. An abort of the signal ends it at any stage. */
export type OpenInTurn = (known: Known, signal: AbortSignal) => Promise<Opened>;

/** The parts of an instance that opening a connection needs. */
export interface OpeningParts {
  readonly life: Life;
  readonly held: Pick<HeldConnection, "gone">;
  readonly login: Pick<LoginNotice, "noteUsed">;
  readonly serverEvents: ServerEvents;
}

type Deps = Pick<InstanceDeps, "clock" | "starts" | "settings" | "open">;

/** Waits for its turn among all starts, and until the earlier process has ended. */
export function createOpening({ life, held, login, serverEvents }: OpeningParts, deps: Deps): OpenInTurn {
  const renewals = createRenewalBudget(() => deps.clock.monotonic());

  async function open({ eras, handshake, everOnline }: Known, signal: AbortSignal): Promise<Opened> {
    await held.gone;
    life.apply({ kind: "phase", phase: "connecting" });
    const { server } = life;
    if (traitsOf(server.transport).canLogIn) await login.noteUsed();
    serverEvents.begin();
    const deadline = {
      server: server.slug,
      limits: startLimits(server, everOnline, deps.settings()),
      clock: deps.clock,
      stderr: () => serverEvents.sinceStart,
    };
    const opened = await withStartDeadline(
      deadline,
      signal,
      async (limited, onWork) =>
        await deps.open(
          server,
          life.id,
          { knownEras: eras, knownHandshake: handshake, renewals, events: serverEvents.events, onWork },
          limited,
        ),
    );
    deps.starts.noteInstalled(server.transport);
    return opened;
  }

  return async (known, signal) => {
    const starter = { owner: life.owner, clock: deps.clock, signal };
    return await deps.starts.run(life.server.transport, starter, async () => await open(known, signal));
  };
}
