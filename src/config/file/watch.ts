import { toGatewayError, type GatewayError } from "../../kernel/failures/gateway-error.ts";
import type { Config } from "../config.ts";
import { isSameConfig } from "../words/equality.ts";
import { watchPlaces } from "./watch-places.ts";

export interface WatchOptions {
  /** Absolute path, as in `Config.file`. Links in it are followed again each time. */
  readonly file: string;
  /** The configuration in force, so that only real changes are reported. */
  readonly current: Config;
  /** Reads the file again, usually by `loadConfig` with the same options. */
  readonly load: () => Promise<Config>;
  /** Called with each new configuration, one at a time: the next waits until this one has settled. */
  readonly onApplied: (config: Config) => void | Promise<void>;
  /** Called once per distinct reason while the file cannot be used. The old configuration stays in force. */
  readonly onRefused: (error: GatewayError) => void;
  /** Called when a file that was refused can be used again, also where it says what it said before. */
  readonly onMended: () => void;
  readonly signal: AbortSignal;
}

/** Editors write a file in several steps. It is read once it has been quiet this long. */
const quietMs = 100;
/** A file that never becomes quiet is read this often all the same. */
const longestWaitMs = 1_000;
/**
 * How often to check while the file cannot be used or watched: restored permissions and writes by other machines
 * cause no event.
 */
const recheckMs = 2_000;

/**
 * Applies changes of the configuration file until `signal` aborts. Resolves once it watches. Changes are noticed
 * however they are made: written in place, renamed over, deleted and created, or by changing a link anywhere on the
 * way (fault 90). Several changes in quick succession are read once, after the last (fault 89). A file that cannot be
 * used is refused and the old configuration stays (fault 87). The files that `envFile` names are watched as well.
 */
export async function watchConfig(options: WatchOptions): Promise<void> {
  const { signal, file } = options;
  const inspection = createInspection(options);
  const timing = createTiming(async () => {
    const isUsable = await inspection.look();
    await places.follow();
    timing.recheck(!isUsable || places.isBlind);
  }, signal);
  const files = () => [file, ...(inspection.inForce().envFiles ?? [])];
  const places = await watchPlaces({ files, onEvent: timing.trigger, signal });
  // The file may have changed between the first reading and now.
  timing.trigger();
}

interface Inspection {
  /** Reads the file once. Resolves to true when it can be used, whether or not it changed. */
  look(): Promise<boolean>;
  inForce(): Config;
}

function createInspection({ current, load, onApplied, onRefused, onMended }: WatchOptions): Inspection {
  let inForce = current;
  let lastRefusal: string | undefined;
  return {
    inForce: () => inForce,
    async look() {
      try {
        const next = await load();
        const isSame = isSameConfig(inForce, next);
        inForce = next;
        if (!isSame) await onApplied(next);
        const wasRefused = lastRefusal !== undefined;
        lastRefusal = undefined;
        if (wasRefused) onMended();
        return true;
      } catch (error) {
        const refusal = toGatewayError(error);
        if (refusal.message !== lastRefusal) onRefused(refusal);
        lastRefusal = refusal.message;
        return false;
      }
    },
  };
}

/** Runs `look` after each burst of triggers, never twice at once, and never after the abort. */
function createTiming(look: () => Promise<void>, signal: AbortSignal) {
  let timer: NodeJS.Timeout | undefined;
  let rechecking: NodeJS.Timeout | undefined;
  let firstMs: number | undefined;
  let state: "idle" | "looking" | "look-again" = "idle";

  signal.addEventListener("abort", () => [timer, rechecking].forEach(clearTimeout), { once: true });

  async function settle(): Promise<void> {
    firstMs = undefined;
    if (state !== "idle") {
      state = "look-again";
      return;
    }
    try {
      do {
        state = "looking";
        await look();
      } while (wasAskedAgain() && !signal.aborted);
    } catch {
      // A callback of the caller threw. The next attempt may succeed, and the gateway must not end because of it.
      recheck(true);
    } finally {
      state = "idle";
    }
  }

  /** A function of its own, because the compiler does not see that the state changes while `look` is awaited. */
  function wasAskedAgain(): boolean {
    return state === "look-again";
  }

  function trigger(): void {
    if (signal.aborted) return;
    const nowMs = performance.now();
    firstMs ??= nowMs;
    clearTimeout(timer);
    timer = setTimeout(() => void settle(), Math.min(quietMs, Math.max(0, firstMs + longestWaitMs - nowMs)));
  }

  function recheck(isNeeded: boolean): void {
    clearTimeout(rechecking);
    if (isNeeded && !signal.aborted) rechecking = setTimeout(trigger, recheckMs).unref();
  }

  return { trigger, recheck };
}
