import type { View } from "../../catalog/view.ts";
import { abortAfter } from "../../shared/abort.ts";
import type { InstanceId } from "../../shared/ids.ts";
import type { Principal } from "../../shared/principal.ts";
import type { Endpoint } from "./endpoint.ts";

export interface FirstSightDeps {
  readonly viewOf: (principal: Principal) => View;
  /** Waits until the instance has come up, or has failed to, or the signal aborts. */
  readonly settledOne: (instance: InstanceId, signal: AbortSignal) => Promise<void>;
}

/** A wait that a request needs before anything can be said of the one server behind its endpoint; undefined when there is none. */
export type FirstSight = (endpoint: Endpoint, principal: Principal) => Promise<void> | undefined;

/** As long as a first search waits (DESIGN.md section 7). */
const waitMs = 2_000;

/**
 * A transparent endpoint declares its server's capabilities, and legacy clients are told of them once: a server never seen before is
 * waited for. What is known, also from disk, is never waited for.
 */
export function createFirstSight({ viewOf, settledOne }: FirstSightDeps): FirstSight {
  return ({ exposure }, principal) => {
    if (!exposure.isTransparent) return undefined;
    const instance = unseen(() => exposure.transparent(viewOf(principal)));
    return instance === undefined ? undefined : settledOne(instance, abortAfter(waitMs));
  };
}

function unseen(serverOf: () => ReturnType<Endpoint["exposure"]["transparent"]>): InstanceId | undefined {
  try {
    const server = serverOf();
    return server?.part === undefined ? server?.instance : undefined;
  } catch {
    // No such server: the request itself will say so.
    return undefined;
  }
}
