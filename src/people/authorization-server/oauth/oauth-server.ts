import type { IncomingMessage, ServerResponse } from "node:http";
import type { Clock } from "../../../kernel/runtime/clock.ts";
import { GatewayError } from "../../../kernel/failures/gateway-error.ts";
import type { BrowserSessionRow } from "../../../store/access-rows.ts";
import type { AccessStore } from "../../../store/access-store.ts";
import type { Member } from "../../directory/books/member.ts";
import { randomId } from "../../../kernel/text/random-id.ts";
import type { TeamDirectory } from "../../directory/team-directory.ts";
import type { ChangeAccess } from "../access-changes.ts";
import type { LimitsDeps } from "../login-attempts.ts";
import { assertionGrantType, createAssertionGrant, type AssertionRules } from "./assertion-grant.ts";
import { createNormalizer, asReachedAt } from "./client-requests.ts";
import type { FetchDocument } from "./client-documents.ts";
import type { Interaction, Library, LibraryAdapter, LibraryClient, LibraryProvider } from "./library.ts";
import { createOAuthAdapter, type ConsentFacts, type OAuthAdapterDeps } from "./oauth-adapter.ts";
import { createProvider, interactionPath, type DevicePages } from "./provider.ts";
import type { Sealing } from "./sealed-rows.ts";

/** OAuth towards the apps that people connect. `base` is the gateway's address as the request reached it. */
export interface AuthorizationServer {
  /** Answers a request to a path of the authorization server. */
  handle(request: IncomingMessage, response: ServerResponse, at: Reached): Promise<void>;
  /** What an app asks a person for. Rejects with REQUEST_INVALID when it is too late, or another browser's. */
  asked(request: IncomingMessage, response: ServerResponse, at: Reached): Promise<Asked>;
  /** The person agrees. Resolves to where the browser goes on. */
  agree(request: IncomingMessage, response: ServerResponse, at: Reached, answer: Agreement): Promise<string>;
  decline(request: IncomingMessage, response: ServerResponse, at: Reached): Promise<string>;
}

export interface Reached {
  readonly base: string;
  /** The address of the sender, where that is known. */
  readonly ip: string | null;
}

/** An app that asks for access. */
export interface Asked {
  readonly client: LibraryClient;
  /** Where the browser is sent afterwards; undefined where the app is on a device without one. */
  readonly redirectUri: string | undefined;
  readonly scopes: readonly string[];
  readonly resources: readonly string[];
}

export interface Agreement {
  readonly actor: string;
  readonly member: Member;
  /** The session in which the person agrees. */
  readonly session: Pick<BrowserSessionRow, "via" | "sid">;
}

export interface AuthorizationServerDeps {
  readonly library: Library;
  readonly store: OAuthAdapterDeps["store"] & Pick<AccessStore, "identity" | keyof LimitsDeps["store"]>;
  readonly change: ChangeAccess;
  readonly directory: OAuthAdapterDeps["directory"];
  readonly sealing: Sealing;
  readonly fetchDocument: FetchDocument | undefined;
  readonly pages: DevicePages;
  readonly clock: Pick<Clock, "now" | "monotonic">;
  /** Everything that a credential can permit, the least first. */
  readonly scopes: readonly string[];
  /** Given to apps that do not say what they want. */
  readonly usualScopes: readonly string[];
  /** Whether a path of the gateway is something that can be asked for. */
  readonly isResourcePath: (path: string) => boolean;
  /** Identity assertions that are taken; undefined for none. */
  readonly assertions: AssertionRules | undefined;
  readonly settings: () => OAuthSettings;
  /** Told of failures that are the server's own. */
  readonly onError: (error: unknown) => void;
}

export interface OAuthSettings {
  readonly accessTokenSeconds: number;
  /** How long a refresh token that was used may be used again; 0 is strict. */
  readonly refreshOverlapMs: number;
}

/** Addresses under which one gateway is reached: `localhost`, its number, its name. */
const mostProviders = 8;
/** A membership has an app on every machine. */
const mostGrants = 100;

export function createAuthorizationServer(deps: AuthorizationServerDeps): AuthorizationServer {
  const { library, directory, change } = deps;
  const consents = new Map<string, ConsentFacts>();
  const adapter = createOAuthAdapter({
    ...deps,
    consents,
    overlapMs: () => deps.settings().refreshOverlapMs,
    refusal: (message) => new library.errors.InvalidGrant(message),
    tokenClient() {
      const oidc = library.Provider.ctx?.oidc;
      return oidc?.route === "token" ? oidc.client : undefined;
    },
  });
  const normalize = createNormalizer(deps);
  const providerAt = createProviders(deps, adapter, createAssertionGrant({ ...deps, consents }));

  async function interactionOf(request: IncomingMessage, response: ServerResponse, base: string): Promise<Interaction> {
    try {
      return await providerAt(base).interactionDetails(request, response);
    } catch (error) {
      throw new GatewayError("REQUEST_INVALID", "this page is too old, or was opened in another browser", {
        hint: "Start the login again in the app.",
        cause: error,
      });
    }
  }

  return {
    async handle(request, response, { base, ip }) {
      const path = (request.url ?? "/").split("?", 1)[0] ?? "/";
      const provider = providerAt(base);
      const taken = await normalize(request, path, ip);
      const known = metadataPaths.find((one) => path.startsWith(one));
      asReachedAt(taken, base, known ?? taken.url ?? "/");
      provider.callback()(taken, response);
    },
    async asked(request, response, { base }) {
      const { params } = await interactionOf(request, response, base);
      const client = await providerAt(base).Client.find(String(params["client_id"]));
      if (client === undefined) throw new GatewayError("REQUEST_INVALID", "this app is not known any more");
      const { redirect_uri: uri, scope, resource } = params;
      return {
        client,
        redirectUri: typeof uri === "string" ? uri : undefined,
        scopes: toText(scope)
          .split(" ")
          .filter((one) => deps.scopes.includes(one)),
        resources: [resource ?? `${base}/mcp`].flat().map(String),
      };
    },
    async agree(request, response, at, { actor, member, session }) {
      const provider = providerAt(at.base);
      const { client, scopes, resources } = await this.asked(request, response, at);
      const gone = leastUsed(directory, member);
      if (gone.length > 0)
        await change(
          { goneGrants: gone },
          { actor, via: "browser", action: "app.revoke", object: "the app used least lately", ip: at.ip },
        );
      const id = randomId("g_");
      const grant = new provider.Grant({ jti: id, accountId: member.row.id, clientId: client.clientId });
      for (const resource of resources) grant.addResourceScope(resource, scopes.join(" "));
      const clientName = client.clientName ?? client.clientId;
      consents.set(id, { actor, team: member.team.slug, clientName, ip: at.ip, session });
      try {
        await grant.save();
      } finally {
        consents.delete(id);
      }
      const result = { login: { accountId: member.row.id, remember: false }, consent: { grantId: id } };
      return await provider.interactionResult(request, response, result);
    },
    async decline(request, response, { base }) {
      await interactionOf(request, response, base);
      const result = { error: "access_denied", error_description: "the person declined" };
      return await providerAt(base).interactionResult(request, response, result);
    },
  };
}

/** One for each address under which the gateway is reached. */
function createProviders(
  deps: AuthorizationServerDeps,
  adapter: (kind: string) => LibraryAdapter,
  assertionGrant: ReturnType<typeof createAssertionGrant>,
) {
  const providers = new Map<string, LibraryProvider>();

  return (base: string): LibraryProvider => {
    const known = providers.get(base);
    if (known !== undefined) return known;
    const place = {
      issuer: base,
      isResource: (url: string) =>
        url === base || (url.startsWith(`${base}/`) && deps.isResourcePath(url.slice(base.length))),
      accessTokenSeconds: deps.settings().accessTokenSeconds,
    };
    const provider = createProvider(deps.library, {
      ...deps,
      ...place,
      adapter,
      describe: (id) => describe(deps.directory.book.members.get(id)),
      hasAssertions: deps.assertions !== undefined,
    });
    const parameters = ["assertion", "scope", "resource"];
    provider.registerGrantType(assertionGrantType, assertionGrant({ ...place, provider }), parameters);
    provider.on("error", () => undefined);
    provider.on("server_error", (_context, error) => deps.onError(error));
    if (providers.size >= mostProviders) providers.clear();
    providers.set(base, provider);
    return provider;
  };
}

/** Apps of a membership that make room for another. */
function leastUsed({ access }: Pick<TeamDirectory, "access">, member: Member): readonly string[] {
  const oldestLast = access.grantsOf(member.row.id).toSorted((one, two) => two.usedAtMs - one.usedAtMs);
  return oldestLast.slice(mostGrants - 1).map(({ id }) => id);
}

function toText(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** Whether the authorization server answers there; `prefix` is the path of the gateway's own address. */
export function isOAuthPath(path: string, prefix: string): boolean {
  if (path.startsWith("/oauth/")) return !path.startsWith(interactionPath);
  return metadataPaths.some((known) => path === known || path === `${known}${prefix}`);
}

const metadataPaths = ["/.well-known/oauth-authorization-server", "/.well-known/openid-configuration"];

function describe(member: Member | undefined): Readonly<Record<string, unknown>> | undefined {
  if (member?.principal === undefined) return undefined;
  const { user, team, row } = member;
  return { user_id: user.id, team_id: team.id, team_name: team.slug, team_role: row.role };
}
