import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import { dashboardPrincipal, type Principal } from "../../kernel/principal.ts";
import type { Directory } from "../directory/directory.ts";
import type { InstanceTokens } from "./instance-tokens.ts";

/**
 * Whether the sender of a request is still who they were when it began. A body may take as long to arrive as
 * `limits.bodyTimeoutMs` says. When somebody loses a right meanwhile, what they have opened is ended, but not work that
 * is only about to begin.
 */
export interface Presence {
  /** Grows whenever somebody may have lost a right. While it is the same, no one has to be looked up. */
  readonly losses: number;
  /**
   * Throws UNAUTHORIZED, or why no one can be let in, for somebody who has lost a right.
   *
   * @param since `losses` when they were let in
   */
  require(principal: Principal, since: number): void;
}

/** The same for those who end what was opened. */
export interface PresenceKeeper extends Presence {
  /** To be told before what was opened is ended. */
  noteLoss(): void;
  isGone(principal: Principal): boolean;
  refusal(): GatewayError;
}

export function createPresence(
  directory: Pick<Directory, "isCurrent" | "refusal">,
  instanceTokens: Pick<InstanceTokens, "ownerOf">,
): PresenceKeeper {
  let losses = 0;
  const isGone = (given: Principal): boolean => {
    const principal = given.narrowedFrom ?? given;
    // These are in no list of people, and lose nothing with any of them.
    if (principal.via === "owner" || principal === dashboardPrincipal) return false;
    const person = instanceTokens.ownerOf(principal);
    return person === undefined || !directory.isCurrent(person);
  };
  const refusal = (): GatewayError =>
    directory.refusal?.() ?? new GatewayError("UNAUTHORIZED", "the credential is no longer valid");
  return {
    get losses() {
      return losses;
    },
    require(principal, since) {
      if (losses !== since && isGone(principal)) throw refusal();
    },
    noteLoss: () => void (losses += 1),
    isGone,
    refusal,
  };
}
