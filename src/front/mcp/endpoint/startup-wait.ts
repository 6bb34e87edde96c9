import { firstWaitMs } from "../../../kernel/limits.ts";
import type { View, ViewServer } from "../../../catalog/model/view.ts";
import type { Exposure } from "../../../catalog/exposure/exposure.ts";
import { abortAfter } from "../../../kernel/runtime/abort.ts";
import type { InstanceId } from "../../../kernel/ids.ts";
import type { Principal } from "../../../kernel/principal.ts";
import type { Endpoint } from "./endpoint.ts";

export interface StartupWaitDeps {
  readonly viewOf: (principal: Principal) => View;
  /** Reads the stored state of the principal's own servers at the first request; undefined once it is read. */
  readonly adopting: (principal: Principal) => Promise<void> | undefined;
  /** Waits until the instance has come up, or has failed to, or the signal aborts. */
  readonly settledOne: (instance: InstanceId, signal: AbortSignal) => Promise<void>;
}

/**
 * A wait that a request needs before anything can be said of the servers behind its endpoint; undefined when there is
 * none.
 */
export type StartupWait = (endpoint: Endpoint, principal: Principal) => Promise<void> | undefined;

/**
 * A transparent endpoint declares its server's capabilities, and legacy clients are told of them once: a server never
 * seen before is waited for. A known one, also from disk, is never waited for.
 */
export function createStartupWait({ viewOf, adopting, settledOne }: StartupWaitDeps): StartupWait {
  return (endpoint, principal) => {
    const adopted = adopting(principal);
    return adopted === undefined
      ? settledAt(endpoint, principal)
      : adopted.then(async () => await settledAt(endpoint, principal));
  };

  function settledAt({ exposure }: Endpoint, principal: Principal): Promise<void> | undefined {
    if (!exposure.isTransparent) return undefined;
    const server = serverAt(exposure, viewOf(principal));
    return server === undefined || server.catalog !== undefined
      ? undefined
      : settledOne(server.instance, abortAfter(firstWaitMs));
  }
}

function serverAt(exposure: Exposure, view: View): ViewServer | undefined {
  try {
    return exposure.transparent(view);
  } catch {
    // No such server: the request itself will say so.
    return undefined;
  }
}
