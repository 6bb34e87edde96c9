import * as z from "zod";
import { gatewayAdmin } from "../../engine/policy/rights.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import type { ClientLine } from "../../people/authorization-server/registered-clients.ts";
import { requirePeople, senderOf, toIso } from "../request/people-request.ts";
import { done as doneShape, listParameters } from "./people-schemas.ts";
import { answers } from "../responses.ts";
import * as schemas from "../schemas.ts";
import { operation, type Operation } from "../operation.ts";
import { done } from "../reply.ts";

const tag = "People";

const client = z
  .object({
    id: z.string(),
    name: z.string(),
    redirectUris: z.array(z.string()),
    hasSecret: z.boolean(),
    apps: z.int().describe("How many people's access it has."),
    expires: z.iso.datetime().nullable().describe("Null for one that an admin registered."),
  })
  .meta({ id: "OAuthClient" });

const clientList = z
  .object({ clients: z.array(client), nextCursor: schemas.nullableText })
  .meta({ id: "OAuthClientList" });

const newClient = z.object({
  name: z.string().min(1).max(100).describe("As people see it when they are asked for consent."),
  redirectUris: z.array(z.string().max(500)).max(20).optional().describe("None: it only asks what tokens are."),
  hasSecret: z.boolean().optional().describe("For an app that can keep one. Default: false."),
});

const madeClient = z
  .object({ id: z.string(), secret: schemas.nullableText.describe("Shown only now.") })
  .meta({ id: "MadeOAuthClient" });

const providerList = z
  .object({
    passwords: z.boolean().describe("Whether people log in with passwords of this gateway."),
    providers: z.array(
      z.object({
        name: z.string(),
        title: z.string(),
        issuer: z.string(),
        clientId: z.string(),
        provision: z.enum(["off", "domains", "groups"]),
        linkByEmail: z.boolean(),
        redirectUri: z.string().describe("To be registered at the provider, as are the two others."),
        logoutUri: z.string().describe("For OpenID Connect Back-Channel Logout."),
        afterLogoutUri: z.string(),
      }),
    ),
    external: z.array(z.string()).describe("Authorization servers of others at which apps log in instead."),
    assertions: z.array(z.string()).describe("Issuers whose assertions (ID-JAG) apps exchange for tokens."),
  })
  .meta({ id: "LoginProviderList" });

export const listClients = operation({
  route: "GET /api/auth/clients",
  query: z.object(listParameters),
  right: gatewayAdmin,
  id: "listOAuthClients",
  tag,
  summary: "Apps that are registered",
  description: "Apps that publish a document of their own are not: they are with those whom they act for.",
  responses: answers(clientList, "One page: first those of admins, without their secrets, which are not kept."),
  async run(services, { query }) {
    const { clients, nextCursor } = await requirePeople(services).clients.list(query);
    return { clients: clients.map(toShown), nextCursor };
  },
});

function toShown({ expiresAtMs, redirectUris, ...line }: ClientLine) {
  return {
    ...line,
    redirectUris: [...redirectUris],
    expires: expiresAtMs === null ? null : toIso(expiresAtMs),
  };
}

const showClient = operation({
  route: "GET /api/auth/clients/{id}",
  params: z.object({ id: schemas.name }),
  right: gatewayAdmin,
  id: "getOAuthClient",
  tag,
  summary: "One app that is registered",
  responses: answers(client, "Without its secret, which is not kept.", [404]),
  async run(services, request) {
    const found = await requirePeople(services).clients.find(request.params.id);
    if (found === undefined) throw new GatewayError("PERSON_UNKNOWN", "there is no such client", { hint: "" });
    return toShown(found);
  },
});

export const addClient = operation({
  route: "POST /api/auth/clients",
  right: gatewayAdmin,
  id: "addOAuthClient",
  tag,
  summary: "Register an app that cannot do it itself",
  body: newClient,
  responses: answers(madeClient, "What the app is configured with.", [415]),
  async run(services, request) {
    const { name, redirectUris = [], hasSecret = redirectUris.length === 0 } = request.body;
    const given = { name, redirectUris, hasSecret };
    return await requirePeople(services).clients.add(senderOf(request), given);
  },
});

export const removeClient = operation({
  route: "DELETE /api/auth/clients/{id}",
  params: z.object({ id: schemas.name }),
  right: gatewayAdmin,
  id: "removeOAuthClient",
  tag,
  summary: "Remove an app, with the access that it has to anybody's servers",
  responses: answers(doneShape, "It is not known any more, and what it had opened has ended.", [404]),
  async run(services, request) {
    await requirePeople(services).clients.remove(senderOf(request), request.params.id);
    return done;
  },
});

const listProviders = operation({
  route: "GET /api/auth/providers",
  right: gatewayAdmin,
  id: "listLoginProviders",
  tag,
  summary: "Which ways to log in there are",
  description: "They stand in the configuration, where they are changed.",
  responses: answers(providerList, "Without any secret."),
  run(services, { base }) {
    requirePeople(services);
    const { providers, passwords, external, assertions } = services.settings().auth;
    const shown = Object.entries(providers).map(([name, one]) => ({
      ...{ name, title: one.title ?? name, issuer: one.issuer, clientId: one.clientId },
      ...{ provision: one.provision, linkByEmail: one.linkByEmail },
      redirectUri: `${base}/auth/oidc/${name}/callback`,
      logoutUri: `${base}/auth/oidc/${name}/logout`,
      afterLogoutUri: `${base}/auth/login`,
    }));
    // Without any other way in, passwords stay.
    const ways = { passwords: passwords || shown.length === 0, providers: shown };
    const others = { external: external?.issuers ?? [], assertions: assertions?.issuers ?? [] };
    return { ...ways, ...others };
  },
});

/** How people and apps log in: apps that are registered at our authorization server, and identity providers. */
export const clientOperations: readonly Operation[] = [listClients, showClient, addClient, removeClient, listProviders];
