import * as v from "valibot";
import { filledText } from "../file/check.ts";
import { resolveRows } from "./row-reading.ts";
import {
  boolean,
  choice,
  group,
  keyed,
  list,
  needed,
  other,
  text,
  type Facts,
  type Resolved,
  type Written,
} from "./setting-row.ts";

/** An issuer's own name for itself: https, or http on this machine, without query, fragment, user name and password. */
export const issuerText = v.pipe(
  filledText,
  v.check(isIssuer, "expected an https:// URL without query, user name and password; http:// is for this machine only"),
);

function isIssuer(written: string): boolean {
  if (!URL.canParse(written) || /[?#]/.test(written)) return false;
  const { protocol, hostname, username, password } = new URL(written);
  if (username !== "" || password !== "") return false;
  const isHere = hostname === "localhost" || hostname === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(hostname);
  return protocol === "https:" || (protocol === "http:" && isHere);
}

const roles = ["member", "admin", "owner"] as const;
/** What somebody is in a team because an identity provider says so. */
export type MappedRole = (typeof roles)[number];
/** Roles, by the name of a team. */
export type MappedTeams = Readonly<Record<string, MappedRole>>;

const teamName = v.pipe(
  v.string(),
  v.regex(/^[a-z0-9][a-z0-9._-]{0,62}$/, "expected the name of a team: lower-case letters, digits, dots and dashes"),
);
const teamRoles = v.record(teamName, v.picklist(roles));
const teamsJson = { type: "object", additionalProperties: { enum: roles } };
const emptyTeams: MappedTeams = {};

/** One identity provider, below its name. */
const rows = {
  issuer: needed(
    text({
      fallback: undefined,
      schema: issuerText,
      pattern: /^https?:\/\//i,
      type: "https:// URL, or http:// on this machine",
      about: "the provider's own name for itself, at which its metadata are found",
      reason: "what it signs has to name exactly this issuer",
      example: "https://sso.example.com/realms/staff",
    }),
  ),
  clientId: needed(
    text({ fallback: undefined, about: "the name that this gateway has at the provider", example: "toolyard" }),
  ),
  clientSecret: text({
    fallback: undefined,
    fallbackText: "none: PKCE alone proves who redeems a code",
    about: "the secret for it: a variable, or `file:` and an absolute path, which is read again every hour",
    example: "${OIDC_SECRET}",
  }),
  title: text({
    fallback: undefined,
    fallbackText: "the name of the entry",
    about: "what the button on the login page says after `Log in with`",
    example: "Example Staff",
  }),
  scopes: list({
    fallback: ["openid", "profile", "email"],
    about: "the scopes that are asked for; `openid` is always among them",
    example: ["openid", "profile", "email", "groups"],
  }),
  claims: group("the claims that say who somebody is; a dot leads into an object", {
    name: text({
      fallback: "preferred_username",
      about: "what a new account's name is made from; without it, the address or `name`",
      example: "nickname",
    }),
    email: text({
      fallback: "email",
      about: "the address; it counts only where `email_verified` is true and the claim `email` has the same address",
      example: "mail",
    }),
    groups: text({
      fallback: "groups",
      about: "the groups or roles that `groups` and `adminGroups` name",
      example: "realm_access.roles",
    }),
  }),
  provision: choice({
    choices: ["off", "domains", "groups"],
    fallback: "off",
    about:
      "who gets an account with the first login: no one, people with a verified address in `domains`, or members " +
      "of one of `groups` or `adminGroups`",
    reason: "an account at a provider is not yet one here: everybody may have one at a public provider",
  }),
  domains: list({
    fallback: [],
    about: "domains of addresses, for `provision: domains`; those below them do not count",
    example: ["example.com"],
  }),
  teams: other<MappedTeams, MappedTeams>({
    fallback: emptyTeams,
    schema: teamRoles,
    json: teamsJson,
    type: "object: a role (`member`, `admin`, `owner`) by the name of a team",
    about: "teams that everybody is in who logs in at this provider; one that does not exist is made",
    example: { everybody: "member" },
  }),
  groups: other<Readonly<Record<string, MappedTeams>>, Readonly<Record<string, MappedTeams>>>({
    fallback: {},
    schema: v.record(v.pipe(v.string(), v.nonEmpty("expected the name of a group")), teamRoles),
    json: { type: "object", additionalProperties: teamsJson },
    type: "object: for each group of the provider, an object of roles by the name of a team",
    about:
      "teams that a group is in. With each login it is looked at again: what a group gave goes with it, what " +
      "somebody here gave stays",
    example: { engineering: { red: "member" }, leads: { red: "admin", blue: "member" } },
  }),
  adminGroups: list({
    fallback: [],
    about: "groups whose members are admins of the gateway",
    reason: "no one, unless it is set",
    example: ["it-admins"],
  }),
  linkByEmail: boolean({
    fallback: false,
    about: "whether a verified address that is that of exactly one user here is taken for that user",
    reason: "an administrator of addresses at the provider would decide about identities here",
  }),
};

/** `auth.providers`. */
export const providerRows = keyed(
  {
    about:
      "with `--team`, identity providers (OpenID Connect) at which people log in; see " +
      "[single sign-on](single-sign-on.md)",
    key: "PROVIDER",
    keySchema: v.pipe(
      v.string(),
      v.regex(/^[a-z0-9][a-z0-9-]{0,39}$/, "expected a name of lower-case letters, digits and dashes"),
    ),
  },
  rows,
);

export type ProviderSettings = Resolved<typeof rows>;

/** With the defaults, by name. */
export function resolveProviders(
  written: Readonly<Record<string, Written<typeof rows>>>,
  facts: Facts,
): Readonly<Record<string, ProviderSettings>> {
  const pairs = Object.entries(written).map(([name, one]) => [name, resolveRows(rows, [one], facts)] as const);
  return Object.fromEntries(pairs);
}

/** What contradicts itself in a provider's settings: the member, and why. */
export function providerProblem(given: ProviderSettings): readonly [member: string, why: string] | undefined {
  const { provision, domains, groups, adminGroups, clientSecret } = given;
  if (provision === "domains" && domains.length === 0)
    return ["domains", 'expected the domains whose people get an account, because `provision` is "domains"'];
  if (provision === "groups" && Object.keys(groups).length + adminGroups.length === 0)
    return ["groups", 'expected the groups whose people get an account, because `provision` is "groups"'];
  if (clientSecret?.startsWith("file:") === true && !/^file:(?:\/|[A-Za-z]:[\\/])/.test(clientSecret))
    return ["clientSecret", "expected an absolute path after `file:`"];
  return undefined;
}
