import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair, SignJWT, type CryptoKey, type JWK } from "jose";

/** A provider that says whatever a test wants it to say, signed or not. */
export interface BadProvider extends AsyncDisposable {
  readonly issuer: string;
  /** What its metadata say otherwise below a path: below each there is another provider. */
  readonly metadata: Record<string, Record<string, unknown>>;
  /** Makes the ID token of the next answers, from the claims that would be right. */
  idToken: (claims: Record<string, unknown>) => Promise<string> | string;
  /** The same of the whole answer of the token endpoint. */
  answer: (tokens: object) => { readonly status: number; readonly body: string };
  /** Whoever redeems a code waits for this. */
  hold: Promise<unknown>;
  /** How many wait for it, or have waited. */
  held: number;
  /** The nonce that it was asked for, so that it can be in the ID token. */
  nonce: string;
  readonly key: CryptoKey;
  sign(
    claims: Record<string, unknown>,
    header?: Record<string, unknown>,
    key?: CryptoKey | Uint8Array,
  ): Promise<string>;
}

export const badClient = "toolyard-bad";

export async function startBadProvider(): Promise<BadProvider> {
  const { publicKey, privateKey } = await generateKeyPair("ES256", { extractable: true });
  const jwk: JWK = { ...(await exportJWK(publicKey)), kid: "first", use: "sig", alg: "ES256" };
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const sign: BadProvider["sign"] = async (claims, header = {}, key = privateKey) =>
    await new SignJWT(claims).setProtectedHeader({ alg: "ES256", kid: "first", ...header }).sign(key);
  const bad: BadProvider = {
    issuer,
    metadata: {},
    hold: Promise.resolve(),
    held: 0,
    nonce: "",
    key: privateKey,
    sign,
    idToken: async (claims) => await sign(claims),
    answer: (tokens) => ({ status: 200, body: JSON.stringify(tokens) }),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };

  async function respond(path: string): Promise<{ readonly status: number; readonly body: string }> {
    if (path === "/jwks") return { status: 200, body: JSON.stringify({ keys: [jwk] }) };
    if (path === "/token") {
      bad.held += 1;
      await bad.hold;
      const id_token = await bad.idToken(rightClaims(bad));
      return bad.answer({ access_token: randomUUID(), token_type: "Bearer", expires_in: 60, id_token });
    }
    const [, below] = /^(.*)\/\.well-known\/openid-configuration$/.exec(path) ?? [];
    if (below === undefined) return { status: 404, body: "{}" };
    const metadata = {
      issuer: `${issuer}${below}`,
      authorization_endpoint: `${issuer}/authorize`,
      token_endpoint: `${issuer}/token`,
      jwks_uri: `${issuer}/jwks`,
      id_token_signing_alg_values_supported: ["ES256", "HS256", "none"],
      authorization_response_iss_parameter_supported: true,
      ...bad.metadata[below],
    };
    return { status: 200, body: JSON.stringify(metadata) };
  }

  server.on("request", (request, response) => {
    request.resume();
    void respond((request.url ?? "").split("?", 1)[0] ?? "").then(({ status, body }) =>
      response.writeHead(status, { "content-type": "application/json" }).end(body),
    );
  });
  return bad;
}

export function rightClaims({ issuer, nonce }: BadProvider): Record<string, unknown> {
  const now = Math.floor(Date.now() / 1_000);
  const who = { iss: issuer, aud: badClient, sub: "b-1", preferred_username: "bea", groups: ["staff"] };
  return { ...who, sid: "s-1", nonce, iat: now, exp: now + 300, email: "bea@example.com" };
}

/** A logout token for whoever `rightClaims` is. */
export function logoutClaims({ issuer }: BadProvider): Record<string, unknown> {
  const now = Math.floor(Date.now() / 1_000);
  const events = { "http://schemas.openid.net/event/backchannel-logout": {} };
  return { iss: issuer, aud: badClient, sub: "b-1", sid: "s-1", jti: randomUUID(), iat: now, exp: now + 120, events };
}
