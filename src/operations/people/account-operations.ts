import * as z from "zod";
import { gatewayAdmin, gatewayUpkeep } from "../../engine/policy/rights.ts";
import { changesBy, madeJson, requirePeople, senderOf, toIso } from "../request/people-request.ts";
import * as shapes from "./people-schemas.ts";
import { answers, creations } from "../responses.ts";
import { requireMayGive, toToken } from "./me-operations.ts";
import { findUser } from "./user-operations.ts";
import * as schemas from "../schemas.ts";
import type { Services } from "../services.ts";
import { operation, type Operation } from "../operation.ts";
import { created, done } from "../reply.ts";

const tag = "People";
const params = z.object({ id: schemas.name });
const usualDays = 90;
/** Each of these is as good as being that user. */
const recentOnly = "It takes a login with a browser of the last 15 minutes; a token does not do.";

const setupLink = z
  .object({ link: z.string().describe("Good once, within the hour. Shown only now."), expires: z.iso.datetime() })
  .meta({ id: "SetupLink" });

const userToken = shapes.token.extend({ user: z.string(), team: z.string() }).meta({ id: "TokenOfUser" });
const userTokenList = z.object({ tokens: z.array(userToken) }).meta({ id: "TokenOfUserList" });

export const makeSetupLink = operation({
  route: "POST /api/setup-links",
  right: gatewayUpkeep,
  id: "makeSetupLink",
  tag,
  summary: "A link with which a user sets a password",
  description: `Without a user it makes the first admin. ${recentOnly}`,
  body: z.object({ user: shapes.shortName.optional() }),
  responses: answers(setupLink, "The link.", [404, 409, 415]),
  async run(services, request) {
    const { accounts } = requirePeople(services);
    const { code, expiresAtMs } = await accounts.createLink(request.body.user, senderOf(request).id);
    return { link: `${request.base}/setup#${code}`, expires: toIso(expiresAtMs) };
  },
});

export const linkAccount = operation({
  route: "PUT /api/users/{id}/account",
  params,
  right: gatewayUpkeep,
  id: "linkUserAccount",
  tag,
  summary: "Say whose an account elsewhere is",
  description: `Its tokens and assertions are the user's from then on. ${recentOnly}`,
  body: z.object({ issuer: z.string().min(1).max(2_000), subject: z.string().min(1).max(1_000) }),
  responses: answers(shapes.done, "The account is the user's.", [404, 409, 415]),
  async run(services, request) {
    const { access, book } = requirePeople(services);
    await access.linkAccount(senderOf(request), findUser(book, request.params.id).id, request.body);
    return done;
  },
});

export const listTokens = operation({
  route: "GET /api/tokens",
  query: z.object({ user: schemas.name.optional().describe("Only those of this user: a name or an id.") }),
  right: gatewayAdmin,
  id: "listTokens",
  tag,
  summary: "The tokens of all people, without themselves",
  responses: answers(userTokenList, "Which there are.", [404]),
  run(services, { query }) {
    const { book } = requirePeople(services);
    const only = query.user === undefined ? undefined : findUser(book, query.user).id;
    const members = only === undefined ? [...book.members.values()] : book.membersOf(only);
    return {
      tokens: members.flatMap(({ row, user, team }) =>
        book.patsOf(row.id).map((pat) => ({ ...toToken(pat), user: user.name, team: team.slug })),
      ),
    };
  },
});

export const addToken = operation({
  route: "POST /api/users/{id}/tokens",
  params,
  right: gatewayUpkeep,
  id: "addUserToken",
  tag,
  summary: "A token for a user",
  description: recentOnly,
  body: shapes.tokenBody.extend({ team: shapes.shortName.optional().describe("Where the user is in several.") }),
  responses: creations(shapes.madeToken, "The token, which is shown only now.", [404, 409, 415]),
  async run(services, request) {
    const { name = "", days = usualDays, team, ...limits } = request.body;
    const user = request.params.id;
    requireMayGive(services, request, findUser(requirePeople(services).book, user).id);
    const made = await changesBy(services, request).addToken({ user, team, name, days, ...limits });
    return created(`/api/tokens/${made.id}`, madeJson(made));
  },
});

export const revokeToken = operation({
  route: "DELETE /api/tokens/{id}",
  params,
  right: gatewayAdmin,
  id: "revokeToken",
  tag,
  summary: "Revoke anybody's token",
  description: "Ends what was opened with it.",
  responses: answers(shapes.done, "It is not valid any more.", [404]),
  async run(services, request) {
    await changesBy(services, request).revokeToken(request.params.id);
    return done;
  },
});

const peopleHealth = z
  .object({
    publicUrl: schemas.nullableText.describe("As it is configured."),
    trustedProxies: z.int().describe("How many addresses and ranges."),
    users: z.int(),
    admins: z.int().describe("Of the gateway, who may log in and are in a team."),
    providers: z.array(z.object({ name: z.string(), issuer: z.string() })),
    refusal: schemas.nullableText.describe("Why people are refused; null where they are let in."),
  })
  .meta({ id: "PeopleHealth" });

export const showPeopleHealth = operation({
  route: "GET /api/system/people",
  right: gatewayAdmin,
  id: "showPeopleHealth",
  tag,
  summary: "Whether people can get in, and how",
  responses: answers(peopleHealth, "What `toolyard doctor` looks at."),
  run: (services) => peopleStanding(services),
});

/** Whether people can get in. Throws CONFIG_INVALID in a gateway without people of its own. */
export function peopleStanding(services: Services): z.output<typeof peopleHealth> {
  const { book } = requirePeople(services);
  const { publicUrl, trustedProxies = [], auth } = services.settings();
  const users = [...book.users.values()];
  const isAdmin = ({ id, role, status }: (typeof users)[number]): boolean =>
    role === "admin" && status === "active" && book.membersOf(id).length > 0;
  return {
    ...{ publicUrl: publicUrl ?? null, trustedProxies: trustedProxies.length },
    ...{ users: users.length, admins: users.filter(isAdmin).length },
    providers: Object.entries(auth.providers).map(([name, { issuer }]) => ({ name, issuer })),
    refusal: services.unready() ?? null,
  };
}

/** How others get in: what admins of the gateway make and take away. */
export const accountOperations: readonly Operation[] = [
  makeSetupLink,
  linkAccount,
  listTokens,
  addToken,
  revokeToken,
  showPeopleHealth,
];
