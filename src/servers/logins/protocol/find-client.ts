import { GatewayError } from "../../../kernel/failures/gateway-error.ts";
import type { JsonObject } from "../../../kernel/text/json-bytes.ts";
import { isLoopbackHost } from "./addresses.ts";
import { describeError, errorCodeOf, flawOf, isSuccess, parseAnswer, textOf } from "./answer-members.ts";
import { withoutMetadata } from "./authorization-server.ts";
import { isClientAuth, type ClientAuth, type Credential } from "../credential.ts";
import type { AuthorizationServer, Flow } from "../login-flow.ts";
import type { OutgoingAnswer } from "../outgoing.ts";

interface WantedClient {
  readonly scope: string | undefined;
  readonly redirectUrl: string;
  readonly grantTypes?: readonly string[];
}

/**
 * In the order of the specification: the user's own, the metadata document, dynamic registration. A new one for each
 * login: the port changes. Rejects with LOGIN_FAILED.
 */
export async function findClient(
  flow: Flow,
  server: AuthorizationServer,
  wanted: WantedClient,
): Promise<Credential["client"]> {
  const { options } = flow;
  const { authMethods, takesClientDocuments, registrationEndpoint } = server.metadata;
  const made = (id: string, secret: string | undefined, auth?: string): Credential["client"] => ({
    id,
    secret,
    auth: chooseAuth(secret !== undefined, auth, authMethods),
  });
  if (options.client !== undefined) return made(options.client.id, options.client.secret);
  if (options.clientMetadataUrl !== undefined && takesClientDocuments)
    return made(options.clientMetadataUrl, undefined);
  if (registrationEndpoint === undefined) {
    throw new GatewayError("LOGIN_FAILED", `${server.origin} lets no client register itself`, {
      hint: "Register one there for a native application, and give its id with --client-id.",
    });
  }
  const answer = await register(flow, registrationEndpoint, toRegistration(wanted, authMethods));
  const value = parseAnswer(answer);
  const id = textOf(value, "client_id");
  if (isSuccess(answer) && id !== undefined)
    return made(id, textOf(value, "client_secret"), textOf(value, "token_endpoint_auth_method"));
  // Nothing is where it was looked for: a server that wants a key, and knows no logins, is the usual reason. Whatever
  // else fails is said as it is.
  if (server.isAssumed && isNothingThere(answer, value)) throw withoutMetadata(server.origin);
  throw new GatewayError("LOGIN_FAILED", `the login failed: ${describeRefusal(answer, value)}`);
}

async function register(flow: Flow, endpoint: string, metadata: JsonObject): Promise<OutgoingAnswer> {
  const headers = { "content-type": "application/json" };
  return await flow.outgoing(endpoint, { method: "POST", headers, body: JSON.stringify(metadata) }, flow.signal);
}

/** RFC 7591, section 2. */
function toRegistration({ scope, redirectUrl, grantTypes }: WantedClient, methods: readonly string[]): JsonObject {
  return {
    client_name: "Toolyard",
    redirect_uris: [redirectUrl],
    application_type: isLoopbackHost(new URL(redirectUrl).hostname) ? "native" : "web",
    grant_types: grantTypes ?? ["authorization_code", "refresh_token"],
    response_types: ["code"],
    token_endpoint_auth_method:
      methods.length === 0 ? "none" : (preferredAuth.find((auth) => methods.includes(auth)) ?? "client_secret_basic"),
    scope,
  };
}

const preferredAuth: readonly ClientAuth[] = ["none", "client_secret_basic", "client_secret_post"];

/**
 * What the client was registered with, where the server takes that; otherwise the first that it takes and the client
 * can do. With a secret, every server takes it in the header (RFC 6749, section 2.3.1).
 */
function chooseAuth(hasSecret: boolean, registered: string | undefined, methods: readonly string[]): ClientAuth {
  if (!hasSecret) return "none";
  const takes = (auth: ClientAuth): boolean => methods.includes(auth);
  if (isClientAuth(registered) && (methods.length === 0 || takes(registered))) return registered;
  if (methods.length === 0 || takes("client_secret_basic")) return "client_secret_basic";
  return takes("none") && !takes("client_secret_post") ? "none" : "client_secret_post";
}

/**
 * Whether a registration failed as it does where no authorization server is: with 404 or 405, or refused or answered
 * without JSON, which RFC 7591 has in every answer.
 */
function isNothingThere({ status }: OutgoingAnswer, value: JsonObject | undefined): boolean {
  if (status === 404 || status === 405) return true;
  // Too many requests, or a failure of its own: somebody is there.
  return status !== 429 && status < 500 && value === undefined;
}

function describeRefusal(answer: OutgoingAnswer, value: JsonObject | undefined): string {
  if (isSuccess(answer) && errorCodeOf(value) === undefined)
    return `the authorization server's registration answer ${flawOf(value, "client_id")}`;
  return `the authorization server does not register clients: ${describeError(value)}`;
}
