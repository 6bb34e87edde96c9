import type { Replica } from "./replica.ts";

/** How much a replica that fails every call is avoided: as if it had so many times the calls in flight. */
const failureWeight = 9;

/**
 * The better of two that are drawn at random, by calls in flight and recent failures ("power of two choices": nearly as
 * even as looking at all of them, and no herd runs to the one that just became free). One whose breaker lets a call
 * through to try it gets the next call. Undefined where none may take a call.
 */
export function chooseReplica(
  replicas: readonly Replica[],
  tried: ReadonlySet<Replica>,
  random: () => number = Math.random,
): Replica | undefined {
  const ready = replicas.filter((replica) => replica.calls.breaker.admits() && !tried.has(replica));
  if (ready.length < 2) return ready[0];
  const trial = ready.find(({ calls }) => calls.breaker.state === "half-open");
  if (trial !== undefined) return trial;
  const at = Math.floor(random() * ready.length);
  const other = (at + 1 + Math.floor(random() * (ready.length - 1))) % ready.length;
  const [one, two] = [ready[at] as Replica, ready[other] as Replica];
  return burdenOf(two) < burdenOf(one) ? two : one;
}

function burdenOf({ calls: { running, breaker } }: Replica): number {
  return (running + 1) * (1 + failureWeight * breaker.failureRate);
}
