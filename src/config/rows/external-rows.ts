import * as v from "valibot";
import { issuerText } from "./provider-rows.ts";
import { list, needed, optionalGroup, text } from "./setting-row.ts";

/** What a token may be signed with: never a secret that both sides know, and never nothing. */
const algorithms = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"] as const;

const issuers = (about: string) =>
  needed(
    list({
      fallback: undefined,
      item: issuerText,
      pattern: /^https?:\/\//i,
      type: "list of https:// URLs, or http:// on this machine",
      most: { items: 10, message: "expected ten at most" },
      about,
      reason: "what they sign has to name exactly one of these",
      example: ["https://sso.example.com/realms/staff"],
      isReadAtStart: true,
    }),
  );

const teamClaim = text({
  fallback: undefined,
  fallbackText: "none: people in several teams are refused",
  about: "the claim that names the team, by its name here; a dot leads into an object",
  example: "toolyard_team",
  isReadAtStart: true,
});

const externalMembers = {
  issuers: issuers("the authorization servers whose access tokens count, by their own names for themselves"),
  audiences: list({
    fallback: [],
    about: "further audiences that stand for the whole gateway, beside the addresses that it gives out itself",
    reason: "some authorization servers cannot put a URL into a token",
    example: ["api://toolyard"],
    isReadAtStart: true,
  }),
  algorithms: list({
    fallback: ["RS256", "PS256", "ES256", "EdDSA"],
    item: v.picklist(algorithms, `expected one of ${algorithms.join(", ")}`),
    type: `list of ${algorithms.join(", ")}`,
    about: "what a token may be signed with",
    example: ["ES256"],
    isReadAtStart: true,
  }),
  scopes: list({
    fallback: [],
    item: v.picklist(["mcp:read", "mcp:tools:execute", "mcp:admin"], "expected one of the gateway's scopes"),
    type: "list of scopes",
    about: "what a token permits that names none of the gateway's scopes",
    reason: "nothing, unless it is said",
    example: ["mcp:read", "mcp:tools:execute"],
    isReadAtStart: true,
  }),
  teamClaim,
  introspection: optionalGroup(
    "how tokens that are no JWT are asked about, at the first of the issuers (RFC 7662); not at all unless written",
    {
      clientId: needed(
        text({
          fallback: undefined,
          about: "the name that this gateway has there",
          example: "toolyard",
          isReadAtStart: true,
        }),
      ),
      clientSecret: needed(
        text({
          fallback: undefined,
          about: "the secret for it",
          example: "${INTROSPECTION_SECRET}",
          isReadAtStart: true,
        }),
      ),
    },
  ),
};

/** `auth.external`. */
export const externalRows = optionalGroup(
  "with `--team`, authorization servers of your own in place of the gateway's; see [teams](teams.md)",
  externalMembers,
);

const assertionMembers = {
  issuers: issuers("identity providers whose assertions (ID-JAG) an app may exchange for a token of this gateway"),
  teamClaim,
};

/** `auth.assertions`. */
export const assertionRows = optionalGroup(
  "with `--team`, enterprise-managed authorization; see [teams](teams.md)",
  assertionMembers,
);
