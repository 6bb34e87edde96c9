import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import type { TrustedIssuers } from "./trusted-issuers.ts";

/** What the authorization server says of a token; undefined for one that is not good (RFC 7662, section 2.2). */
export type Introspect = (token: string, signal: AbortSignal) => Promise<Readonly<Record<string, unknown>> | undefined>;

export interface IntrospectionOptions {
  readonly issuer: string;
  readonly issuers: TrustedIssuers;
  readonly client: () => { readonly clientId: string; readonly clientSecret: string };
}

/** Asks with the gateway's own name and secret. Rejects with LOGIN_FAILED when there is no answer to that. */
export function createIntrospection({ issuer, issuers, client }: IntrospectionOptions): Introspect {
  return async (token, signal) => {
    const { url, outgoing } = await issuers.introspectionOf(issuer);
    const { clientId, clientSecret } = client();
    const basic = Buffer.from(`${encodeURIComponent(clientId)}:${encodeURIComponent(clientSecret)}`).toString("base64");
    const headers = { authorization: `Basic ${basic}`, "content-type": "application/x-www-form-urlencoded" };
    const body = new URLSearchParams({ token, token_type_hint: "access_token" }).toString();
    const answer = await outgoing(url, { method: "POST", headers, body }, signal);
    if (answer.status !== 200)
      throw new GatewayError("LOGIN_FAILED", `${new URL(url).origin} answers the introspection with ${answer.status}`);
    const claims = JSON.parse(answer.body.toString("utf8")) as Readonly<Record<string, unknown>>;
    const isOurs = claims["active"] === true && (claims["iss"] === undefined || claims["iss"] === issuer);
    return isOurs ? { ...claims, iss: issuer } : undefined;
  };
}
