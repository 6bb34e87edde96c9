import { isDeepStrictEqual } from "node:util";
import type { PrincipalId } from "../../../kernel/ids.ts";
import type { Principal } from "../../../kernel/principal.ts";
import type { MembershipRow, PatRow, TeamRow, UserRow } from "../../../store/people-rows.ts";

/** A membership with what belongs to it. */
export interface Member {
  readonly row: MembershipRow;
  readonly user: UserRow;
  readonly team: TeamRow;
  /**
   * Who comes with a token for one instance. Undefined while the user is disabled. Another object as soon as something
   * is taken from the person, and with each personal token that is removed.
   */
  readonly principal: Principal | undefined;
  /** Who comes with the other credentials, by the credential's key. Made when one is first used. */
  readonly credentials: ReadonlyMap<string, Principal>;
  /** How often the last of its tokens and credentials was taken away: what ran for them ends then. */
  readonly emptied: number;
}

/** One credential of a membership, and what it is limited to. */
export interface CredentialFacts {
  /**
   * The same for as long as the streams and calls that it opened may go on: the id of a token, a grant or a session.
   */
  readonly key: string;
  readonly via: Principal["via"];
  readonly scopes: readonly string[];
  readonly only?: readonly string[] | undefined;
  readonly profile?: string | undefined;
  readonly audience?: string | undefined;
}

/** Members as the book changes them. */
export type OpenMember = { -readonly [Key in keyof Member]: Member[Key] } & {
  readonly credentials: Map<string, Principal>;
};

/** With what people come who are in the book. */
export interface Credentials {
  /**
   * Who comes with a credential of a membership: the same object until the credential is withdrawn or something is
   * taken from the person. Undefined where there is no such membership, or its user is disabled.
   */
  under(membershipId: string, credential: CredentialFacts): Principal | undefined;
  /** Returns whether somebody had come with it: whatever was opened with it has to end. */
  withdraw(membershipId: string, key: string): boolean;
  isCurrent(principal: Principal): boolean;
}

type PatsOf = (membershipId: string) => readonly PatRow[];

export function createCredentials(members: ReadonlyMap<string, OpenMember>, patsOf: PatsOf): Credentials {
  return {
    under(membershipId, { key, ...about }) {
      const member = members.get(membershipId);
      if (member?.principal === undefined) return undefined;
      const known = member.credentials.get(key);
      if (known !== undefined) return known;
      const principal = Object.freeze({ ...member.principal, ...about, credential: key });
      member.credentials.set(key, principal);
      return principal;
    },
    withdraw(membershipId, key) {
      const member = members.get(membershipId);
      if (member?.credentials.delete(key) !== true) return false;
      noteEmptied(member, patsOf);
      return true;
    },
    isCurrent(principal) {
      const member = members.get(principal.id);
      if (member === undefined) return false;
      return member.principal === principal || [...member.credentials.values()].includes(principal);
    },
  };
}

/** To be called when a token or credential was taken away. */
export function noteEmptied(member: OpenMember, patsOf: PatsOf): void {
  if (patsOf(member.row.id).length + member.credentials.size === 0) member.emptied += 1;
}

/** Whether the person lost something by it. */
export function renewMember(member: OpenMember): boolean {
  const wanted = toPrincipal(member);
  const before = member.principal;
  if (isDeepStrictEqual(before === undefined ? undefined : { ...before }, wanted)) return false;
  member.principal = wanted === undefined ? undefined : Object.freeze(wanted);
  member.credentials.clear();
  return before !== undefined;
}

/**
 * `admin` is the word of the whole gateway for somebody who sees the figures of all: only an admin of the gateway gets
 * it, never one of a team.
 */
function toPrincipal({ row, user, team }: Member): Principal | undefined {
  if (user.status !== "active") return undefined;
  const inTeam = row.role === "member" ? [] : [`team-${row.role}`];
  return {
    id: row.id as PrincipalId,
    user: user.id,
    via: "instance",
    team: team.slug,
    roles: [...(user.role === "admin" ? ["admin"] : []), "member", ...inTeam],
    scopes: [],
  };
}
