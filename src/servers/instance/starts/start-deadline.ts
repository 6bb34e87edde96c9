import type { InstanceSettings, ServerConfig } from "../../../config/config.ts";
import type { Clock } from "../../../kernel/runtime/clock.ts";
import { GatewayError } from "../../../kernel/failures/gateway-error.ts";
import { settingNow } from "../../../kernel/text/number-text.ts";
import { packageRunnerOf } from "../../upstream/runner/package-runner.ts";

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
