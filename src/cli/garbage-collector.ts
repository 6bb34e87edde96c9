import { executionAsyncResource } from "node:async_hooks";
import { setFlagsFromString } from "node:v8";

/**
 * Fits V8's collector to a process that makes a few hundred objects per call and keeps none; to be called first. By
 * itself V8 decides, after a burst, that objects of some kinds live long, and makes them old from then on; each holds
 * its whole request, so everything dies old: a quarter of the CPU of an HTTP call (bench/overhead). And a young heap
 * of a few megabytes is swept faster by one thread than others are woken up.
 */
export function tuneGarbageCollector(): void {
  setFlagsFromString("--no-allocation-site-pretenuring");
  setFlagsFromString("--no-parallel-scavenge");
  process.nextTick(keepTickAlive);
}

/**
 * Holds one object of the kind that process.nextTick makes for as long as the process lives. When a collection finds
 * none, V8 forgets what they look like, and makes every later one the slow way
 * (Runtime_DefineKeyedOwnPropertyInLiteral): 3 microseconds of every call.
 */
function keepTickAlive(): void {
  const tick = executionAsyncResource();
  process.once("exit", () => void tick);
}
