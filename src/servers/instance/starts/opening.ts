import { traitsOf } from "../../../config/entry/transports.ts";
import type { Era } from "../../../kernel/call/call-context.ts";
import type { Handshake } from "../../upstream/connection.ts";
import { createRenewalBudget } from "../../upstream/messages/renewal-budget.ts";
import type { HeldConnection } from "../held-connection.ts";
import type { InstanceDeps, Opened, OpenOptions } from "../instance-deps.ts";
import type { Life } from "../instance-state.ts";
import type { LoginNotice } from "./login-notice.ts";
import type { ServerEvents } from "../lists/server-events.ts";
import type { InstanceSettings, ServerConfig } from "../../../config/config.ts";
import type { Clock } from "../../../kernel/runtime/clock.ts";
import { GatewayError } from "../../../kernel/failures/gateway-error.ts";
import { settingNow } from "../../../kernel/text/number-text.ts";
import { packageRunnerOf } from "../../upstream/runner/package-runner.ts";

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
  readonly onReopened: OpenOptions["onReopened"];
}

type Deps = Pick<InstanceDeps, "clock" | "starts" | "settings" | "open">;

/** Waits for its turn among all starts, and until the earlier process has ended. */
export function createOpening({ life, held, login, serverEvents, onReopened }: OpeningParts, deps: Deps): OpenInTurn {
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
          { knownEras: eras, knownHandshake: handshake, renewals, events: serverEvents.events, onWork, onReopened },
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

const startTimeoutMs = 30_000;
/** Of a server's entry; the others are of the whole gateway. */
const ownSetting = "startTimeoutMs";

/**
 * How long a start may take: without any sign of work, and in total. Both are the same where work cannot be observed.
 */
export interface StartLimits {
  readonly quietMs: number;
  readonly totalMs: number;
  /** What has to be raised where one of them is too short. */
  readonly quietSetting: string;
  readonly totalSetting: string;
}

/**
 * The limits for a start. A package runner may install packages before the server begins, at the first start and
 * whenever there is a newer version, and it is not disturbed as long as it works. A deadline in the configuration is
 * used as it is.
 */
export function startLimits(
  server: ServerConfig,
  everOnline: boolean,
  settings: Pick<InstanceSettings, "runnerQuietMs" | "runnerStartMs">,
): StartLimits {
  const given = server.startTimeoutMs;
  if (given !== undefined) return oneLimit(given);
  if (packageRunnerOf(server.transport) === undefined) return oneLimit(startTimeoutMs);
  const { runnerQuietMs, runnerStartMs } = settings;
  const isQuick = everOnline && startTimeoutMs < runnerQuietMs;
  const quietMs = isQuick ? startTimeoutMs : runnerQuietMs;
  return {
    quietMs,
    totalMs: Math.max(quietMs, runnerStartMs),
    quietSetting: isQuick ? ownSetting : "instances.runnerQuietMs",
    totalSetting: "instances.runnerStartMs",
  };
}

function oneLimit(ms: number): StartLimits {
  return { quietMs: ms, totalMs: ms, quietSetting: ownSetting, totalSetting: ownSetting };
}

/** The limits of a start, and what its failure says. */
export interface DeadlineOptions {
  readonly server: string;
  readonly limits: StartLimits;
  readonly clock: Clock;
  /** The last lines of stderr; when a server hangs, nothing else tells why. */
  readonly stderr: () => readonly string[];
}

/**
 * Runs `open` with a signal that aborts with START_TIMEOUT at a deadline, or together with `signal`. `open` must call
 * `noteWork` at every sign of work.
 */
export async function withStartDeadline<T>(
  options: DeadlineOptions,
  signal: AbortSignal,
  open: (signal: AbortSignal, noteWork: () => void) => Promise<T>,
): Promise<T> {
  const { server, clock, limits } = options;
  const deadline = new AbortController();
  let workedMs = clock.monotonic();
  const giveUp = (why: string, setting: string, limitMs: number) =>
    deadline.abort(
      new GatewayError("START_TIMEOUT", `${server} ${why}`, {
        data: { stderr: options.stderr() },
        hint:
          "Look at its last output, or raise " +
          `${settingNow(setting, limitMs)}${setting === ownSetting ? ", for this server" : ""}.`,
      }),
    );
  const look = (): void => {
    const leftMs = workedMs + limits.quietMs - clock.monotonic();
    if (leftMs > 0) cancelQuiet = clock.after(leftMs, look);
    else
      giveUp(
        `did not come up, and showed no sign of work for ${limits.quietMs / 1_000} s`,
        limits.quietSetting,
        limits.quietMs,
      );
  };
  const cancelTotal = clock.after(limits.totalMs, () =>
    giveUp(`did not come up within ${limits.totalMs / 1_000} s`, limits.totalSetting, limits.totalMs),
  );
  let cancelQuiet = limits.quietMs < limits.totalMs ? clock.after(limits.quietMs, look) : () => undefined;
  const forward = () => deadline.abort(signal.reason);
  signal.addEventListener("abort", forward, { once: true });
  try {
    return await open(deadline.signal, () => (workedMs = clock.monotonic()));
  } finally {
    cancelTotal();
    cancelQuiet();
    signal.removeEventListener("abort", forward);
  }
}
