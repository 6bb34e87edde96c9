import type { Member } from "../directory/books/member.ts";

/** What a token or an assertion of somebody else says. */
export type Claims = Readonly<Record<string, unknown>>;

/** The one that the claim names; without a claim, the only one that there is. */
export function chooseMember(
  members: readonly Member[],
  claims: Claims,
  teamClaim: string | undefined,
): Member | undefined {
  const named = teamClaim === undefined ? undefined : claimAt(claims, teamClaim);
  if (named !== undefined) return members.find(({ team }) => team.slug === named);
  return members.length === 1 ? members[0] : undefined;
}

export function whyNot(members: readonly Member[], teamClaim: string | undefined): string {
  if (members.length === 0) return "this account is nobody's here, or its user is in no team";
  return `the user is in several teams, or not in the one of the token (teamClaim: ${teamClaim ?? "not set"})`;
}

/** A claim by its name, or by the path to it: `realm.team`. */
export function claimAt(claims: Claims, path: string): unknown {
  if (Object.hasOwn(claims, path)) return claims[path];
  let value: unknown = claims;
  for (const name of path.split(".")) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as Readonly<Record<string, unknown>>)[name];
  }
  return value;
}

/** A claim that is one text or a list of them. */
export function textsOf(claim: unknown): readonly string[] {
  return [claim].flat().filter((one) => typeof one === "string");
}
