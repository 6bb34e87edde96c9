import { createInstanceTokens, type InstanceTokens } from "../../people/identity/instance-tokens.ts";
import type { LookUp } from "../../people/identity/look-ups.ts";
import type { Directory } from "../../people/directory/directory.ts";
import type { Clock } from "../../kernel/runtime/clock.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import type { InstanceTokenStore } from "../../store/store.ts";

/** Tokens for single instances, stored in the gateway's own folder. */
export function createGatewayInstanceTokens(deps: {
  readonly store: InstanceTokenStore;
  readonly inUrl: () => boolean;
  readonly directory: Directory;
  readonly lookUp: LookUp;
  readonly clock: Pick<Clock, "now">;
}): InstanceTokens {
  const tokens = createInstanceTokens({
    store: deps.store,
    now: deps.clock.now,
    inUrl: deps.inUrl,
    directory: deps.directory,
    lookUp: deps.lookUp,
  });
  return {
    ...tokens,
    issue: async (instance, principal) =>
      await tokens.issue(instance, principal).catch((error: unknown) => {
        throw new GatewayError("DATA_DIR_UNWRITABLE", "the token cannot be stored, and is therefore not issued", {
          cause: error,
        });
      }),
  };
}
