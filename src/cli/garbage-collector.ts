import { executionAsyncResource } from "node:async_hooks";
import { setFlagsFromString } from "node:v8";

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
}

/**
 * Keeps one object of the kind that process.nextTick makes for as long as the process lives. When a collection finds
 * none, V8 forgets their shape, and from then on makes every one the slow way
 * (Runtime_DefineKeyedOwnPropertyInLiteral): 3 microseconds in every call.
 */
function keepTickAlive(): void {
  const tick = executionAsyncResource();
  process.once("exit", () => void tick);
}
