import type { ServerConfig } from "../config/config.ts";
import type { Clock } from "../shared/clock.ts";
import { GatewayError } from "../shared/gateway-error.ts";

/** Launchers that may download before they start (DESIGN.md section 7): until first online they get longer. */
const slowLaunchers = /(^|[\\/])(npx|uvx|docker|podman|pnpm|bunx)(\.cmd|\.exe)?$/i;
const startTimeoutMs = 30_000;
const slowStartTimeoutMs = 120_000;

export function startLimitMs(server: ServerConfig, everOnline: boolean): number {
  if (server.startTimeoutMs !== undefined) return server.startTimeoutMs;
  return !everOnline && server.transport.kind === "stdio" && slowLaunchers.test(server.transport.command)
    ? slowStartTimeoutMs
    : startTimeoutMs;
}

export interface DeadlineOptions {
  readonly server: string;
  readonly limitMs: number;
  readonly clock: Clock;
  /** What the server wrote last: when it hangs, nothing else tells why. */
  readonly stderr: () => readonly string[];
}

/** Runs `open` with a signal that aborts with START_TIMEOUT at the deadline, or with `signal`. */
export async function withStartDeadline<T>(
  options: DeadlineOptions,
  signal: AbortSignal,
  open: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const { server, limitMs } = options;
  const deadline = new AbortController();
  const cancel = options.clock.after(limitMs, () =>
    deadline.abort(
      new GatewayError("START_TIMEOUT", `${server} did not come up within ${limitMs / 1_000} s`, {
        data: { stderr: options.stderr() },
      }),
    ),
  );
  const forward = () => deadline.abort(signal.reason);
  signal.addEventListener("abort", forward, { once: true });
  try {
    return await open(deadline.signal);
  } finally {
    cancel();
    signal.removeEventListener("abort", forward);
  }
}
