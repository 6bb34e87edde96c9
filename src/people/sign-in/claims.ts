import type { ProviderSettings } from "../../config/rows/provider-rows.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import type { ComingPerson } from "../directory/plans/identity-plans.ts";
import { isMailAddress } from "../directory/people-lookup.ts";
import type { ProviderClaims } from "./provider-connection.ts";

/** People who log in at a company are in fewer groups than that. */
const mostGroups = 1_000;
const longestText = 200;

/** What a provider's claims say of a person. Throws PROVIDER_ANSWER_INVALID. */
export function toPerson(provider: string, claims: ProviderClaims, settings: ProviderSettings): ComingPerson {
  const { all, issuer, subject } = claims;
  const { claims: names } = settings;
  const address = textAt(all, names.email)?.toLowerCase();
  // `email_verified` speaks of the claim `email` and of no other (OpenID Connect Core 1.0, section 5.1).
  const isVouched = address === textAt(all, "email")?.toLowerCase();
  const isVerified = isVouched && (all["email_verified"] === true || all["email_verified"] === "true");
  const email = address !== undefined && isVerified && isMailAddress(address) ? address : undefined;
  const name = textAt(all, names.name) ?? address ?? textAt(all, "name") ?? "user";
  return {
    ...{ provider, issuer, subject, name, email },
    label: (address ?? name).slice(0, longestText),
    groups: groupsAt(all, names.groups),
  };
}

/** By so much may a provider's clock be ahead. */
const skewMs = 60_000;
/** Of a login of which a provider does not say when it was: too old for whatever takes a new one. */
const unsaidMs = 3_600_000;

/**
 * When somebody proved at the provider who they are, in ms (`auth_time`, OpenID Connect Core 1.0, section 2). That may
 * be long ago: a person who is logged in there gets here without being asked anything.
 */
export function provenAt({ signed }: Pick<ProviderClaims, "signed">, nowMs: number): number {
  const seconds = signed["auth_time"];
  const atMs = typeof seconds === "number" ? seconds * 1_000 : Number.NaN;
  return atMs >= 0 && atMs <= nowMs + skewMs ? Math.min(Math.floor(atMs), nowMs) : nowMs - unsaidMs;
}

/** A claim by its name, which may have dots itself, or by a path into an object. */
function claimAt(claims: Readonly<Record<string, unknown>>, name: string): unknown {
  if (Object.hasOwn(claims, name)) return claims[name];
  let value: unknown = claims;
  for (const part of name.split(".")) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, part)) return undefined;
    value = (value as Readonly<Record<string, unknown>>)[part];
  }
  return value;
}

function textAt(claims: Readonly<Record<string, unknown>>, name: string): string | undefined {
  const value = claimAt(claims, name);
  return typeof value === "string" && value.trim() !== "" ? value.trim().slice(0, longestText) : undefined;
}

/** One text or a list of them. Without the claim there are no groups. */
function groupsAt(claims: Readonly<Record<string, unknown>>, name: string): readonly string[] {
  const value = claimAt(claims, name);
  const elsewhere = claims["_claim_names"];
  // Microsoft leaves the list out when it is long, and says where else it is.
  const isElsewhere = typeof elsewhere === "object" && elsewhere !== null && Object.hasOwn(elsewhere, name);
  if (value === undefined && isElsewhere)
    throw new GatewayError(
      "PROVIDER_ANSWER_INVALID",
      "the provider leaves the groups out because there are too many: have it send those assigned to this application",
    );
  const groups = [value].flat().filter((group): group is string => typeof group === "string" && group !== "");
  if (groups.length > mostGroups)
    throw new GatewayError("PROVIDER_ANSWER_INVALID", `the provider names more than ${mostGroups} groups`);
  return groups;
}
