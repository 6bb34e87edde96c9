import type { PersonalValues } from "../../config/people/personal.ts";
import type { GatewayError } from "../../kernel/failures/gateway-error.ts";
import type { PrincipalId } from "../../kernel/ids.ts";
import type { Principal } from "../../kernel/principal.ts";

/**
 * The people who may use the gateway: their tokens, team, roles and scopes, and their own values for single servers.
 *
 * A principal stays the same object until something is taken from the person or the credential. Losing a token, or
 * getting another team or other roles, makes a new object, so that everything opened under the old one can be found
 * and closed. Where credentials of one person may have different scopes or ends, as in the database, each has an
 * object of its own: what was opened with the others goes on when one is revoked.
 */
export interface Directory {
  /** True when no credentials are required: everybody who reaches the gateway is the local principal. */
  readonly open: boolean;
  /** Whether there are tokens that narrow what everybody may do. Absent for no. */
  readonly narrows?: boolean | undefined;
  /**
   * The owner of a token, if known locally. `hash` is the token's SHA-256 in 64 lower-case hexadecimal digits. Called
   * for every request.
   */
  byToken(hash: string): Principal | undefined;
  /**
   * The person with this id, if known locally, as one who comes with a token for one instance. Where the tokens of a
   * person do not differ, it is the object that `byToken` returns.
   */
  byId(id: PrincipalId): Principal | undefined;
  /**
   * Looks up people who are not known locally; absent when everybody is. A person found there is known locally from
   * then on.
   */
  readonly elsewhere?: RemotePeople | undefined;
  /**
   * Who is logged in with a browser: `hash` is the SHA-256 of its cookie, `team` the slug of the team that is meant;
   * without one, the first that the person is in. Absent where no one logs in.
   */
  bySession?(hash: string, team: string | undefined): Principal | undefined;
  /**
   * Who comes with a token of another authorization server, which is checked first. Absent where there is none. Found
   * by `byToken` from then on, for a while. Rejects when that server cannot be asked.
   */
  readonly foreign?: ((token: string, hash: string) => Promise<Principal | undefined>) | undefined;
  /** Whether a principal that was returned earlier is still valid. */
  isCurrent(principal: Principal): boolean;
  /**
   * Whether the credential that a principal came with has expired, and was not renewed yet. It lets no one in any more;
   * the principal is still valid, because the sender who renews it comes as the same. Absent where that does not
   * happen.
   */
  isOver?(principal: Principal): boolean;
  /** Calls `listener` when credentials expired for which `isOver` is true from then on. Returns what unsubscribes. */
  onExpiry?(listener: () => void): () => void;
  /**
   * Why people of a database cannot be let in now, although they are known: it is not known what was taken from them
   * since. Absent where that cannot be.
   */
  readonly refusal?: (() => GatewayError | undefined) | undefined;
  /** Hashes of the tokens that a person has now, in the form that `byToken` takes. */
  credentialsOf(id: PrincipalId): readonly string[];
  /**
   * The credentials that the processes of a person depend on: when one of these ends, so do the processes. Absent: each
   * token that `credentialsOf` lists.
   */
  readonly tiesOf?: ((id: PrincipalId) => readonly string[]) | undefined;
  /**
   * What a locally known person, and that person's team, have set for a server. Also called for `local`, the owner of
   * the gateway, who has no token.
   */
  valuesFor(id: PrincipalId, slug: string): PersonalValues;
  /**
   * Secret values of people that no log may contain, in addition to those of the configuration. Called for every line
   * of a log.
   */
  readonly secrets: () => ReadonlySet<string>;
  /**
   * Calls `listener` when people changed on their own, but not after the gateway itself applied a configuration.
   * Returns the function that unsubscribes.
   */
  onChange(listener: () => void): () => void;
}

/**
 * Looks up people outside this process. Resolves to undefined when there is no such person; rejects when the
 * directory fails.
 */
export interface RemotePeople {
  byToken(hash: string, signal: AbortSignal): Promise<Principal | undefined>;
  byId(id: PrincipalId, signal: AbortSignal): Promise<Principal | undefined>;
}
