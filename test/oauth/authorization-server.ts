import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
// @ts-expect-error the package has no types
import { Provider } from "oidc-provider";

export interface AuthorizationServer extends AsyncDisposable {
  readonly issuer: string;
  readonly port: number;
  /** Audience of the token, when it is one of this server's and still good. */
  audienceOf(token: string): Promise<string | undefined>;
  /** Ends one access token, and with `refreshToken` the right to get another. */
  revoke(token: string, refreshToken?: string): Promise<void>;
  /** Requests to the token endpoint, oldest first. */
  readonly grants: readonly string[];
  readonly registrations: number;
}

export interface AuthorizationServerOptions {
  /** The one resource that tokens are given for. */
  readonly resource: () => string;
  readonly accessTokenSeconds?: number;
  /** While it holds, the token endpoint answers 503. */
  readonly isDown?: () => boolean;
  /** Registered beforehand. */
  readonly clients?: readonly object[];
  /** Answers for a client ID metadata document: its URL is https, and nobody is asked. */
  readonly clientDocument?: (url: string) => object;
  /** Where clients reach it through something in front; otherwise it is plain HTTP on this machine. */
  readonly publicOrigin?: string;
  /** Changes the metadata before it is sent. */
  readonly authorizationMetadata?: (metadata: Record<string, unknown>) => Record<string, unknown>;
}

/**
 * A real authorization server: dynamic registration, PKCE, resource indicators, refresh tokens that are used once.
 * Anybody may log in.
 */
export async function startAuthorizationServer(options: AuthorizationServerOptions): Promise<AuthorizationServer> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const { publicOrigin } = options;
  const issuer = publicOrigin ?? `http://127.0.0.1:${port}`;
  const provider = createProvider(issuer, options);
  const grants: string[] = [];
  let registrations = 0;
  // oxlint-disable-next-line typescript/no-explicit-any -- the package has no types
  const noteGrant = (context: any) => grants.push(context.oidc.params.grant_type);
  provider.on("grant.success", noteGrant);
  provider.on("grant.error", noteGrant);
  provider.on("registration_create.success", () => (registrations += 1));
  const change = options.authorizationMetadata;
  if (change !== undefined) {
    // oxlint-disable-next-line typescript/no-explicit-any -- the package has no types
    provider.use(async (context: any, next: () => Promise<void>) => {
      await next();
      if (context.path.startsWith("/.well-known/") && context.status === 200) context.body = change(context.body);
    });
  }
  const handle = provider.callback();
  server.on("request", (request, response) => {
    if (request.url === "/token" && options.isDown?.() === true) response.writeHead(503).end("down");
    else {
      if (publicOrigin !== undefined) {
        provider.proxy = true;
        request.headers["x-forwarded-proto"] = new URL(publicOrigin).protocol.slice(0, -1);
        request.headers["x-forwarded-host"] = new URL(publicOrigin).host;
      }
      handle(request, response);
    }
  });
  return {
    issuer,
    port,
    grants,
    get registrations() {
      return registrations;
    },
    async audienceOf(token) {
      return (await provider.AccessToken.find(token))?.aud;
    },
    async revoke(token, refreshToken) {
      await (await provider.AccessToken.find(token))?.destroy();
      if (refreshToken !== undefined) await (await provider.RefreshToken.find(refreshToken))?.destroy();
    },
    [Symbol.asyncDispose]: async () => await closeServer(server),
  };
}

export async function closeServer(server: Server): Promise<void> {
  await new Promise<void>((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

// oxlint-disable-next-line typescript/no-explicit-any -- the package has no types
function createProvider(issuer: string, options: AuthorizationServerOptions): any {
  const { clientDocument } = options;
  return new Provider(issuer, {
    clients: options.clients ?? [],
    ...(clientDocument === undefined ? {} : { fetch: async (url: string) => Response.json(clientDocument(url)) }),
    scopes: ["openid", "offline_access", "mcp:use", "mcp:admin"],
    cookies: { keys: ["test"] },
    pkce: { required: () => true },
    rotateRefreshToken: true,
    issueRefreshToken: () => true,
    expiresWithSession: () => false,
    ttl: {
      AccessToken: () => options.accessTokenSeconds ?? 600,
      RefreshToken: () => 3_600,
      Grant: () => 3_600,
      Session: () => 3_600,
      Interaction: () => 600,
    },
    features: {
      devInteractions: { enabled: true },
      registration: { enabled: true },
      revocation: { enabled: true },
      ...(clientDocument === undefined ? {} : { clientIdMetadataDocument: { enabled: true, ack: "draft-02" } }),
      resourceIndicators: {
        enabled: true,
        useGrantedResource: () => true,
        getResourceServerInfo(_context: unknown, indicator: string) {
          if (indicator !== options.resource()) throw new Error("invalid target");
          return {
            scope: "mcp:use mcp:admin",
            audience: indicator,
            accessTokenFormat: "opaque",
            accessTokenTTL: options.accessTokenSeconds ?? 600,
          };
        },
      },
    },
  });
}
