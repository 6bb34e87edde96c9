import { performance } from "node:perf_hooks";
import { getHeapStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** How often it is looked whether there is a rest, which costs a microsecond. */
const defaultLookMs = 15_000;
/** The most that the thread works between two looks while it rests: what looks after idle servers takes a tenth. */
const restMs = 150;
/** Less work than this leaves too little behind. A start is more, and so are some hundred calls. */
const worthMs = 300;
/** Collecting takes a millisecond per megabyte: a longer pause would delay a request at that moment noticeably. */
const largestHeapBytes = 64 * 1_048_576;

/**
 * Collects the garbage of a start or of a burst of calls once the process rests. V8 does so by itself only when some
 * more is allocated, and an idle gateway allocates nearly nothing: it kept 10 MB of its start for minutes, and 30 MB
 * of a burst (bench/records). Once for each rest, so that a process that stays idle is left alone.
 */
export function collectAtRest({ lookMs = defaultLookMs }: { readonly lookMs?: number } = {}): void {
  let last = performance.eventLoopUtilization();
  let workedMs = 0;
  const look = (): void => {
    const now = performance.eventLoopUtilization();
    const { active } = performance.eventLoopUtilization(now, last);
    last = now;
    workedMs += active;
    if (active > restMs || workedMs < worthMs) return;
    workedMs = 0;
    if (getHeapStatistics().used_heap_size < largestHeapBytes) collectGarbage();
  };
  // Nothing else of the process waits for it.
  setInterval(look, lookMs).unref();
}

/** Only contexts that are made while the flag is set have the function. */
function collectGarbage(): void {
  setFlagsFromString("--expose-gc");
  runInNewContext("gc()");
  setFlagsFromString("--no-expose-gc");
}
