import type { PersonalValues } from "../../config/personal.ts";
import type { PrincipalId } from "../../kernel/ids.ts";
import type { Principal } from "../../kernel/principal.ts";

/**
 * The people that there are: what they show to be let in, their team, roles and scopes, and the values that are
 * theirs for single servers. A principal is one object for as long as nothing was taken from that person: whoever
 * loses a token, or gets another team or other roles, is another object, so that what the old one opened can be told
 * apart and closed.
 */
export interface Directory {
  /** Whether everybody who reaches the gateway is the one local principal. */
  readonly open: boolean;
  /**
   * Whose token it is, of those that are at hand. `hash` is its SHA-256 in 64 lower-case hexadecimal digits. Asked
   * for every request.
   */
  byToken(hash: string): Principal | undefined;
  /** The person of that name, of those that are at hand: always the object that `byToken` gives out. */
  byId(id: PrincipalId): Principal | undefined;
  /** Where the others are; absent when everybody is at hand. Whoever was found there is at hand from then on. */
  readonly elsewhere?: RemotePeople | undefined;
  /** Whether a principal that was given out is still good. */
  isCurrent(principal: Principal): boolean;
  /** Hashes of the tokens that a person has now, in the form that `byToken` takes. */
  credentialsOf(id: PrincipalId): readonly string[];
  /**
   * What a person at hand, and that person's team, have set for a server. Asked for `local` too: the gateway's owner,
   * who comes without a token.
   */
  valuesFor(id: PrincipalId, slug: string): PersonalValues;
  /**
   * Values of people that no log may show, beside those that stand in the configuration. Asked for every line of a
   * log.
   */
  secrets(): ReadonlySet<string>;
  /**
   * Calls back after people have changed by themselves, not after a configuration that the gateway itself has
   * applied. Returns what ends it.
   */
  onChange(listener: () => void): () => void;
}

/**
 * People who have to be asked for. Undefined when there is no such person; a rejection is a failure of the directory.
 */
export interface RemotePeople {
  byToken(hash: string, signal: AbortSignal): Promise<Principal | undefined>;
  byId(id: PrincipalId, signal: AbortSignal): Promise<Principal | undefined>;
}
