import type { Clock } from "../../../kernel/runtime/clock.ts";
import { randomId } from "../../../kernel/text/random-id.ts";
import type { AccessStore } from "../../../store/access-store.ts";
import type { GrantRow } from "../../../store/access-rows.ts";
import type { Member } from "../../directory/books/member.ts";
import type { TeamDirectory } from "../../directory/team-directory.ts";
import { chooseMember, textsOf, whyNot, type Claims } from "../../identity/foreign-tokens.ts";
import { sha256, type Change, type ChangeAccess } from "../access-changes.ts";
import type { Library, LibraryClient, LibraryContext, LibraryProvider } from "./library.ts";
import type { ConsentFacts } from "./oauth-adapter.ts";

/** How an identity assertion is presented (RFC 7523). */
export const assertionGrantType = "urn:ietf:params:oauth:grant-type:jwt-bearer";
/** What the metadata call it (draft-ietf-oauth-identity-assertion-authz-grant, section 7.2). */
export const assertionProfile = "urn:ietf:params:oauth:grant-profile:id-jag";

export interface AssertionGrantDeps {
  readonly library: Library;
  readonly store: Pick<AccessStore, "identity" | "grant">;
  readonly change: ChangeAccess;
  readonly directory: Pick<TeamDirectory, "access" | "book">;
  readonly clock: Pick<Clock, "now">;
  /** Consents that are being written, by the grant's id. */
  readonly consents: Map<string, ConsentFacts>;
  readonly scopes: readonly string[];
  /** Given for an assertion that names no scope. */
  readonly usualScopes: readonly string[];
  /** Undefined where no identity provider is trusted with that. */
  readonly assertions: AssertionRules | undefined;
}

export interface AssertionRules {
  /** Undefined for an assertion that is not good; rejects when its issuer cannot be asked. */
  readonly check: (assertion: string) => Promise<AssertedClaims | undefined>;
  readonly teamClaim: string | undefined;
}

export type AssertedClaims = Claims & { readonly iss: string; readonly sub: string; readonly exp: number };

/** The address at which an assertion came in. */
export interface AssertionPlace {
  readonly provider: LibraryProvider;
  readonly issuer: string;
  readonly isResource: (url: string) => boolean;
  readonly accessTokenSeconds: number;
}

/** One that is good for longer is no answer to a request of now, and would have to be remembered for as long. */
const longestLifeMs = 3_600_000;
const skewMs = 60_000;

const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

/**
 * The grant of enterprise-managed authorization: an app presents what the company's identity provider says of a person,
 * and gets an access token, without a browser and without a token to renew it with. An assertion is good once.
 */
export function createAssertionGrant(deps: AssertionGrantDeps) {
  const { library, store, change, directory, clock, consents, assertions } = deps;
  const { InvalidGrant, InvalidTarget, UnsupportedGrantType } = library.errors;

  async function memberOf(claims: AssertedClaims, about: Change): Promise<Member> {
    const identity = await store.identity({ issuer: claims.iss, subject: claims.sub });
    const members = identity?.userId == null ? [] : directory.book.membersOf(identity.userId);
    const member = chooseMember(members, claims, assertions?.teamClaim);
    if (member?.principal !== undefined) return member;
    const why = member === undefined ? whyNot(members, assertions?.teamClaim) : "the user is disabled";
    await change({}, { ...about, outcome: "denied", detail: { ...about.detail, why } });
    throw new InvalidGrant(why);
  }

  /** What the app is given: the same consent for the same, so that what it has opened outlives its token. */
  async function grantOf(given: Given, { provider }: AssertionPlace): Promise<string> {
    const { member, client, resource, scope, claims } = given;
    const known = directory.access.grantsOf(member.row.id).find((row) => isFor(row, given));
    if (known !== undefined && (await store.grant(known.id)) !== undefined) return known.id;
    // It was not used for so long that it was tidied away, and no one was told.
    if (known !== undefined) await change({ goneGrants: [known.id] });
    const id = randomId("g_");
    const grant = new provider.Grant({ jti: id, accountId: member.row.id, clientId: client.clientId });
    grant.addResourceScope(resource, scope);
    const session = { via: claims.iss, sid: textsOf(claims["sid"])[0] ?? "" };
    const clientName = client.clientName ?? client.clientId;
    consents.set(id, { actor: member.user.name, team: member.team.slug, clientName, ip: null, session, via: "jwt" });
    try {
      await grant.save();
    } finally {
      consents.delete(id);
    }
    return id;
  }

  function checkClaims(claims: AssertedClaims, client: LibraryClient, { issuer }: AssertionPlace): void {
    const audiences = textsOf(claims["aud"]);
    if (audiences.length !== 1 || audiences[0] !== issuer) throw new InvalidGrant("it is for another server");
    if (claims["client_id"] !== client.clientId) throw new InvalidGrant("it is for another app");
    if (claims.exp * 1_000 > clock.now() + longestLifeMs + skewMs) throw new InvalidGrant("it is good for too long");
    // A subject is somebody only together with its tenant, and accounts here have none.
    if (claims["tenant"] !== undefined) throw new InvalidGrant("tenants of an issuer are not known here");
    if (typeof claims["jti"] !== "string" || claims["jti"] === "") throw new InvalidGrant("it has no id");
  }

  function resourceOf(claims: AssertedClaims, asked: unknown, { issuer, isResource }: AssertionPlace): string {
    const named = textsOf(claims["resource"]);
    const [resource = textsOf(asked)[0] ?? `${issuer}/mcp`, ...more] = named;
    const isAsked = textsOf(asked).every((one) => one === resource);
    if (more.length > 0 || !isAsked || !isResource(resource)) throw new InvalidTarget();
    return resource;
  }

  return (place: AssertionPlace) =>
    async (context: LibraryContext): Promise<void> => {
      const { client, params = {} } = context.oidc;
      if (assertions === undefined || client === undefined) throw new UnsupportedGrantType();
      const claims = await assertions.check(textOf(params["assertion"]));
      if (claims === undefined) throw new InvalidGrant("the assertion is not good");
      checkClaims(claims, client, place);
      const resource = resourceOf(claims, params["resource"], place);
      const scope = scopeOf(deps, claims, params["scope"]);
      const about: Change = {
        ...{ actor: "unknown", via: "jwt", action: "app.assertion", object: client.clientName ?? client.clientId },
        ...{ ip: null, detail: { issuer: claims.iss, subject: claims.sub, resource, scopes: scope } },
      };
      const member = await memberOf(claims, about);
      const used = { hash: sha256(`${claims.iss} ${String(claims["jti"])}`), expiresAtMs: claims.exp * 1_000 + skewMs };
      const by = { ...about, actor: member.user.name, team: member.team.slug };
      if (!(await change({ once: [used] }, by))) throw new InvalidGrant("the assertion was used before");
      const grantId = await grantOf({ member, client, resource, scope, claims }, place);
      context.body = await issue(place, { client, accountId: member.row.id, grantId, resource, scope });
    };
}

function scopeOf({ library, scopes, usualScopes }: AssertionGrantDeps, claims: AssertedClaims, asked: unknown): string {
  const given = textsOf(claims["scope"]).flatMap((text) => text.split(" "));
  const permitted = scopes.filter((one) => (given.length > 0 ? given : usualScopes).includes(one));
  const wanted = typeof asked === "string" ? asked.split(" ") : permitted;
  const both = permitted.filter((one) => wanted.includes(one));
  if (both.length === 0)
    throw new library.errors.InvalidScope("the assertion permits nothing of that", wanted.join(" "));
  return both.join(" ");
}

function isFor(row: GrantRow, { member, client, resource, scope, claims }: Given): boolean {
  const isTheirs = row.membershipId === member.row.id && row.clientId === client.clientId && row.via === claims.iss;
  return isTheirs && row.audience === resource && row.scopes === scope;
}

interface Given {
  readonly member: Member;
  readonly client: LibraryClient;
  readonly resource: string;
  readonly scope: string;
  readonly claims: AssertedClaims;
}

interface Issued {
  readonly client: LibraryClient;
  readonly accountId: string;
  readonly grantId: string;
  readonly resource: string;
  readonly scope: string;
}

async function issue({ provider, accessTokenSeconds }: AssertionPlace, issued: Issued): Promise<object> {
  const { client, accountId, grantId, resource, scope } = issued;
  const token = new provider.AccessToken({ client, accountId, grantId, gty: "jwt_bearer" });
  token.resourceServer = new provider.ResourceServer(resource, {
    ...{ scope, audience: resource, accessTokenFormat: "opaque" },
    accessTokenTTL: accessTokenSeconds,
  });
  token.scope = scope;
  const value = await token.save();
  return { access_token: value, expires_in: token.expiration, token_type: token.tokenType, scope };
}
