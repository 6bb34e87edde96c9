import { executionAsyncResource } from "node:async_hooks";
import { PerformanceObserver, performance } from "node:perf_hooks";
import { getHeapSpaceStatistics, setFlagsFromString, getHeapStatistics } from "node:v8";
import { runInNewContext } from "node:vm";

/**
 * Tunes V8's garbage collector for a process that makes a few hundred objects per call and keeps none of them. To be
 * called first. By default, V8 decides after a burst of calls that objects of some kinds live long, and from then on
 * puts them straight into the old generation. Each of these holds its whole request, so that entire requests have to
 * be collected there, which costs a quarter of the CPU time of an HTTP call (bench/overhead). The last option is set
 * because, for a young generation of a few megabytes, waking other threads takes longer than collecting it with one.
 */
export function tuneGarbageCollector(): void {
  setFlagsFromString("--no-allocation-site-pretenuring");
  setFlagsFromString("--no-parallel-scavenge");
  process.nextTick(keepTickAlive);
  boundYoungHeap();
}

/** Two halves of two megabytes: room for the garbage of some hundred calls. */
const youngHeapBytes = 4 * 1_048_576;
/** So many collections of such a heap within so many ms are made by two or three thousand calls a second. */
const burst = { collections: 64, withinMs: 4_000 } as const;

/**
 * Keeps the young heap from growing to the 32 MB that V8 allows it, until there are thousands of calls a second. With
 * two hundred clients that call once a second it would be a quarter of all memory, and buy no time (bench/memory); at
 * the speed of a burst it saves a tenth of the CPU time of each call (bench/overhead). V8 reads its limit once, before
 * any of our code runs, but how fast it grows at each growth; so growth ends where it is large enough, and is allowed
 * again after a rest has shrunk it. After the first burst the rate is not measured any more, because measuring costs
 * too.
 */
function boundYoungHeap(): void {
  let mayGrow = false;
  /** When the last collections of a bounded heap began. */
  const begins: number[] = [];
  // Each time, and not only where it changes: V8 takes the factor back to two for all heaps when it makes another.
  const apply = (): void => setFlagsFromString(`--semi-space-growth-factor=${mayGrow ? 2 : 1}`);
  const observer = new PerformanceObserver((list) => {
    const isSmall = youngBytes() < youngHeapBytes;
    const isBurst = !isSmall && list.getEntries().some(({ startTime }) => endsBurst(begins, startTime));
    mayGrow = isSmall || isBurst;
    apply();
    if (isBurst) observer.disconnect();
  });
  // A start makes garbage faster than anybody could look, so nothing grows before the first look.
  apply();
  // Nothing grows but at a collection; who is idle has none.
  observer.observe({ entryTypes: ["gc"] });
  process.on("worker", (worker) => worker.once("online", apply));
}

function endsBurst(begins: number[], beganAt: number): boolean {
  begins.push(beganAt);
  if (begins.length > burst.collections) begins.shift();
  return begins.length === burst.collections && beganAt - (begins[0] ?? 0) < burst.withinMs;
}

function youngBytes(): number {
  return getHeapSpaceStatistics().find(({ space_name: name }) => name === "new_space")?.space_size ?? 0;
}

/**
 * Keeps one object of the kind that process.nextTick makes for as long as the process lives. When a collection finds
 * none, V8 forgets their shape, and from then on makes every one the slow way
 * (Runtime_DefineKeyedOwnPropertyInLiteral): 3 microseconds in every call.
 */
function keepTickAlive(): void {
  const kept = [executionAsyncResource()];
  // A reference that nothing uses would be left out of the build.
  process.once("exit", () => kept.pop());
}

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
