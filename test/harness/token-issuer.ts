import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair, SignJWT, type CryptoKey, type JWTHeaderParameters } from "jose";

/** An authorization server as far as a resource server sees it: metadata, keys, signed tokens, introspection. */
export interface TokenIssuer extends AsyncDisposable {
  readonly issuer: string;
  /** Paths that were asked for, oldest first. */
  readonly asked: readonly string[];
  /** Signs claims with the newest key. What is undefined is left out. */
  sign(claims: Readonly<Record<string, unknown>>, header?: Partial<JWTHeaderParameters>): Promise<string>;
  /** Makes another key, and forgets those before. */
  rotate(): Promise<void>;
  /** The newest key's public part, as somebody would misuse it. */
  publicKey(): Promise<string>;
  /** What introspection says of opaque tokens. */
  readonly opaque: Map<string, Readonly<Record<string, unknown>>>;
  /** While it holds, everything is answered with 503. */
  isDown: boolean;
}

export const introspectionClient = { clientId: "toolyard", clientSecret: "introspection-secret-canary" };

interface Key {
  readonly kid: string;
  readonly privateKey: CryptoKey;
  readonly jwk: object;
}

export async function startTokenIssuer(): Promise<TokenIssuer> {
  const asked: string[] = [];
  const opaque = new Map<string, Readonly<Record<string, unknown>>>();
  let made = 0;
  let key = await makeKey();
  const state = { isDown: false };

  async function makeKey(): Promise<Key> {
    const { privateKey, publicKey } = await generateKeyPair("ES256", { extractable: true });
    const kid = `key-${(made += 1)}`;
    return { kid, privateKey, jwk: { ...(await exportJWK(publicKey)), kid, alg: "ES256", use: "sig" } };
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url ?? "/";
    asked.push(path);
    let body = "";
    for await (const chunk of request as AsyncIterable<Buffer>) body += chunk.toString();
    const found = state.isDown ? undefined : answerOf(path, body, request.headers.authorization ?? "");
    response.writeHead(found === undefined ? 503 : 200, { "content-type": "application/json" });
    response.end(JSON.stringify(found ?? {}));
  }

  function answerOf(path: string, body: string, authorization: string): object | undefined {
    if (path === "/.well-known/openid-configuration")
      return { issuer, jwks_uri: `${issuer}/keys`, introspection_endpoint: `${issuer}/introspect` };
    if (path === "/keys") return { keys: [key.jwk] };
    const { clientId, clientSecret } = introspectionClient;
    const isClient = authorization === `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString("base64")}`;
    if (path !== "/introspect" || !isClient) return undefined;
    return opaque.get(new URLSearchParams(body).get("token") ?? "") ?? { active: false };
  }

  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    issuer,
    asked,
    opaque,
    async sign(claims, header = {}) {
      const now = Math.floor(Date.now() / 1_000);
      const all = { iss: issuer, iat: now, exp: now + 600, ...claims };
      const given = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
      return await new SignJWT(given)
        .setProtectedHeader({ alg: "ES256", kid: key.kid, typ: "at+jwt", ...header })
        .sign(key.privateKey);
    },
    async rotate() {
      key = await makeKey();
    },
    publicKey: async () => await Promise.resolve(JSON.stringify(key.jwk)),
    get isDown() {
      return state.isDown;
    },
    set isDown(value) {
      state.isDown = value;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
