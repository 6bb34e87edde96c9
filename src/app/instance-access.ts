import type { IncomingMessage } from "node:http";
import type { Authenticator } from "../people/identity/authenticator.ts";
import { createInstanceTokens, type InstanceTokens } from "../people/identity/instance-tokens.ts";
import type { Clock } from "../kernel/clock.ts";
import { GatewayError } from "../kernel/gateway-error.ts";
import type { InstanceId, PrincipalId } from "../kernel/ids.ts";
import { localPrincipal, type Principal } from "../kernel/principal.ts";
import type { InstanceTokenStore } from "../store/store.ts";

/** Instance tokens, and whom each stands for. */
export interface GatewayInstanceTokens extends InstanceTokens {
  /** The principal whose token the request carries. Throws UNAUTHORIZED, also when that principal is no longer there. */
  authenticate(request: IncomingMessage, instance: InstanceId): Principal;
}

export function createGatewayInstanceTokens(deps: {
  readonly store: InstanceTokenStore;
  readonly inUrl: () => boolean;
  /** As it is now: another one after each change of the configuration. */
  readonly authenticator: () => Authenticator;
  readonly clock: Pick<Clock, "now">;
}): GatewayInstanceTokens {
  const tokens = createInstanceTokens({
    store: deps.store,
    now: deps.clock.now,
    inUrl: deps.inUrl,
    hashesOf: (principal) => deps.authenticator().holders.get(principal)?.hashes ?? [],
  });
  return {
    ...tokens,
    issue: async (instance, principal) =>
      await tokens.issue(instance, principal).catch((error: unknown) => {
        throw new GatewayError("DATA_DIR_UNWRITABLE", "the token cannot be kept, and so is not given out", {
          cause: error,
        });
      }),
    authenticate(request, instance) {
      const principal = findPrincipal(deps.authenticator(), tokens.verify(request, instance));
      if (principal === undefined)
        throw new GatewayError("UNAUTHORIZED", "this endpoint needs a token of its instance");
      return principal;
    },
  };
}

/** The principal of that id as it may call now: always the object that the authenticator itself gives out. */
export function findPrincipal(authenticator: Authenticator, id: string): Principal | undefined {
  if (authenticator.open) return id === localPrincipal.id ? localPrincipal : undefined;
  return authenticator.holders.get(id as PrincipalId)?.principal;
}
