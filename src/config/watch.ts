import { toGatewayError, type GatewayError } from "../kernel/gateway-error.ts";
import type { Config } from "./config.ts";
import { isSameConfig } from "./equality.ts";
import { watchPlaces } from "./watch-places.ts";

export interface WatchOptions {
  /** Absolute path, as `Config.file` has it: links in it are followed anew each time. */
  readonly file: string;
  /** The configuration in force, so that only a real change is reported. */
  readonly current: Config;
  /** Reads the file again, usually by `loadConfig` with the same options. */
  readonly load: () => Promise<Config>;
  /** Called with each new configuration, one after the other: the next waits until this has settled. */
  readonly onApplied: (config: Config) => void | Promise<void>;
  /** Called once per distinct reason while the file cannot be used; the old configuration stays in force. */
  readonly onRefused: (error: GatewayError) => void;
  readonly signal: AbortSignal;
}

/** Editors write in several steps: wait until the file has been quiet this long. */
const quietMs = 100;
/** A file that is never quiet is looked at this often all the same. */
const longestWaitMs = 1_000;
/**
 * While the file cannot be used, or the system cannot watch: rights that come back and other machines' writes make no
 * event.
 */
const recheckMs = 2_000;

/**
 * Applies changes of the configuration file until `signal` aborts; resolves once it watches. Changes are noticed
 * however they are made: written in place, renamed over, deleted and created, a link swapped anywhere on the way
 * (fault 90). Bursts end in one reading after the last change (fault 89); a file that cannot be used is refused and
 * the old configuration stays (fault 87). The files that `envFile` names are watched with it.
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
  // Something may have changed between the first reading and now.
  timing.trigger();
}

interface Inspection {
  /** One look at the file: true when it can be used, whether it changed or not. */
  look(): Promise<boolean>;
  inForce(): Config;
}

function createInspection({ current, load, onApplied, onRefused }: WatchOptions): Inspection {
  let inForce = current;
  let lastRefusal: string | undefined;
  return {
    inForce: () => inForce,
    async look() {
      try {
        const next = await load();
        lastRefusal = undefined;
        const isSame = isSameConfig(inForce, next);
        inForce = next;
        if (!isSame) await onApplied(next);
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

/** Runs `look` after each burst of triggers, never twice at once, and never again after the abort. */
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
      // A caller's function threw: the next look may do better, and the gateway must not end of it.
      recheck(true);
    } finally {
      state = "idle";
    }
  }

  /** Apart, because the compiler does not see that the state changes while `look` is awaited. */
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
