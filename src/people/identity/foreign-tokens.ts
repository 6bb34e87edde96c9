import type { Clock } from "../../kernel/runtime/clock.ts";
import type { ForeignToken } from "../directory/books/external-token-cache.ts";
import type { Member } from "../directory/books/member.ts";
import {
  checkSignedToken,
  createTrustedIssuers,
  isSignedToken,
  skewMs,
  type TrustedIssuers,
} from "./trusted-issuers.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";

/** Whose token it is, and what it permits; undefined for one that is not good. */
export type CheckForeignToken = (token: string, signal: AbortSignal) => Promise<ForeignToken | undefined>;

export interface ExternalRules {
  readonly issuers: readonly string[];
  readonly audiences: readonly string[];
  readonly algorithms: readonly string[];
  readonly scopes: readonly string[];
  readonly teamClaim: string | undefined;
  readonly introspection: IntrospectionClient | undefined;
}

/** The name and secret of the gateway at an authorization server that is asked what tokens are. */
interface IntrospectionClient {
  readonly clientId: string;
  readonly clientSecret: string;
}

export interface ForeignTokensDeps {
  readonly rules: ExternalRules;
  /** The gateway's own address, in which every audience begins. */
  readonly base: () => string;
  readonly isScope: (text: string) => boolean;
  /** The user with this account. */
  readonly userOf: (account: { readonly issuer: string; readonly subject: string }) => Promise<string | undefined>;
  readonly membersOf: (userId: string) => readonly Member[];
  /** Told of people who come with a good token and are not let in. */
  readonly onStranger: (about: { readonly issuer: string; readonly subject: string; readonly why: string }) => void;
  readonly clock: Pick<Clock, "now" | "monotonic">;
}

/** Access tokens (RFC 9068), and what servers sign that do not say what it is. An id token is for somebody else. */
const kinds: ReadonlySet<string> = new Set(["at+jwt", "jwt", ""]);
/** A token that is signed is good until it expires; a person may lose the account meanwhile. */
const signedMs = 300_000;
/** We are not told of tokens that are revoked elsewhere: the provider is asked again after this. */
const introspectedMs = 1_000;
/** Where the server does not say how long an opaque token lives. */
const unsaidMs = 300_000;
/** Of a token that names none of ours, which permits nothing: an empty list would stand for all that roles permit. */
const noScopes: readonly string[] = Object.freeze(["none"]);

/** Checks tokens of the authorization servers of `rules`. Rejects with LOGIN_FAILED while one cannot be asked. */
export function createForeignTokens(deps: ForeignTokensDeps): CheckForeignToken {
  const { rules, clock } = deps;
  const issuers = createTrustedIssuers({ issuers: rules.issuers, clock });
  const [first = ""] = rules.issuers;
  const { introspection: client } = rules;
  const introspect: Introspect | undefined =
    client === undefined ? undefined : createIntrospection(first, issuers, client);

  async function claimsOf(token: string, signal: AbortSignal): Promise<Claims | undefined> {
    const { algorithms } = rules;
    if (isSignedToken(token)) return await checkSignedToken(token, issuers, { kinds, algorithms });
    return await introspect?.(token, signal);
  }

  async function memberOf(claims: Claims): Promise<Member | undefined> {
    const [issuer, subject] = [String(claims["iss"]), claims["sub"]];
    if (typeof subject !== "string" || subject === "") return undefined;
    const userId = await deps.userOf({ issuer, subject });
    const members = userId === undefined ? [] : deps.membersOf(userId);
    const member = chooseMember(members, claims, rules.teamClaim);
    if (member === undefined) deps.onStranger({ issuer, subject, why: whyNot(members, rules.teamClaim) });
    return member;
  }

  return async (token, signal) => {
    const claims = await claimsOf(token, signal);
    const audience = claims && resourceOf(textsOf(claims["aud"]), deps.base(), rules.audiences);
    if (claims === undefined || audience === undefined) return undefined;
    const member = await memberOf(claims);
    if (member === undefined) return undefined;
    const now = clock.now();
    const { exp } = claims;
    const expiresAtMs = typeof exp === "number" ? exp * 1_000 + skewMs : now + unsaidMs;
    if (expiresAtMs <= now) return undefined;
    const scopes = scopesOf(claims, rules.scopes, deps.isScope);
    const app = claims["client_id"] ?? claims["azp"] ?? "";
    return {
      membershipId: member.row.id,
      key: JSON.stringify([claims["iss"], claims["sub"], app, audience, scopes]),
      scopes,
      audience,
      goodUntilMs: Math.min(expiresAtMs, now + (isSignedToken(token) ? signedMs : introspectedMs)),
      expiresAtMs,
    };
  };
}

/** The widest of the gateway's own addresses that a token is for. */
function resourceOf(audiences: readonly string[], base: string, others: readonly string[]): string | undefined {
  const plain = audiences.map((one) => one.replace(/\/$/, ""));
  const own = plain.filter((one) => one === base || one.startsWith(`${base}/`));
  const [widest] = own.toSorted((one, two) => one.length - two.length);
  return widest ?? (audiences.some((one) => others.includes(one)) ? base : undefined);
}

/** `scope` is a text with spaces (RFC 8693); some servers call it `scp`, as a text or a list. */
function scopesOf(claims: Claims, usual: readonly string[], isScope: (text: string) => boolean): readonly string[] {
  const said = textsOf(claims["scope"] ?? claims["scp"]).flatMap((text) => text.split(" "));
  const ours = [...new Set(said.filter(isScope))].sort();
  return ours.length > 0 ? ours : usual.length > 0 ? usual : noScopes;
}

/** What the authorization server says of a token; undefined for one that is not good (RFC 7662, section 2.2). */
type Introspect = (token: string, signal: AbortSignal) => Promise<Readonly<Record<string, unknown>> | undefined>;

/** Asks with the gateway's own name and secret. Rejects with LOGIN_FAILED when there is no answer to that. */
function createIntrospection(issuer: string, issuers: TrustedIssuers, client: IntrospectionClient): Introspect {
  return async (token, signal) => {
    const { url, outgoing } = await issuers.introspectionOf(issuer);
    const { clientId, clientSecret } = client;
    const basic = Buffer.from(`${encodeURIComponent(clientId)}:${encodeURIComponent(clientSecret)}`).toString("base64");
    const headers = { authorization: `Basic ${basic}`, "content-type": "application/x-www-form-urlencoded" };
    const body = new URLSearchParams({ token, token_type_hint: "access_token" }).toString();
    const answer = await outgoing(url, { method: "POST", headers, body }, signal);
    if (answer.status !== 200)
      throw new GatewayError("LOGIN_FAILED", `${new URL(url).origin} answers the introspection with ${answer.status}`);
    const claims = JSON.parse(answer.body.toString("utf8")) as Readonly<Record<string, unknown>>;
    const isOurs = claims["active"] === true && (claims["iss"] === undefined || claims["iss"] === issuer);
    return isOurs ? { ...claims, iss: issuer } : undefined;
  };
}

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
