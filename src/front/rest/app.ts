import type { IncomingMessage, ServerResponse } from "node:http";
import { parse as parseQuery } from "node:querystring";
import { GatewayError, toGatewayError } from "../../kernel/failures/gateway-error.ts";
import { requireRight, type Rights } from "../../engine/policy/rights.ts";
import { localPrincipal, type Principal } from "../../kernel/principal.ts";
import { readBody } from "../http/body.ts";
import { challengeOf } from "../http/challenge.ts";
import { corsHeaders } from "../http/guards/origin.ts";
import type { RestHandler } from "../http/http-server.ts";
import { refuseWithProblem } from "../http/problem.ts";
import { writeAnswer } from "./answer.ts";
import type { RestDeps, PublicRequest, Route } from "./route.ts";
import { readJsonBody } from "../../operations/json-body.ts";
import { checkPart } from "../../operations/operation.ts";
import { loginAgeMs } from "./operation-route.ts";
import { createRouter, splitTarget, type Place, type Router } from "./router.ts";

/** One request, with the headers that every answer to it gets. */
interface Incoming {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly headers: Record<string, string>;
  /** Known once the credential was checked. */
  principal?: Principal;
}

/**
 * Passes requests to their routes once the principal is known and type, body and parameters are valid. Every failure
 * is answered with problem details.
 */
export function createRestApp(deps: RestDeps, routes: readonly Route[]): RestHandler {
  const router = createRouter(routes);
  return (request, response) => {
    const headers = { ...corsHeaders(request), "X-Content-Type-Options": "nosniff" };
    const incoming: Incoming = { request, response, headers };
    serve(deps, router, incoming).catch((error: unknown) => refuse(deps, incoming, toGatewayError(error)));
  };
}

async function serve(deps: RestDeps, router: Router, incoming: Incoming): Promise<void> {
  const { request, response, headers } = incoming;
  const since = deps.presence.losses;
  const { path, query } = splitTarget(request.url ?? "/");
  const place = router.find(path);
  requireJson(request);
  const route = place?.methods.get(request.method === "HEAD" ? "GET" : (request.method ?? "GET"));
  // A preflight of a browser from an allowed origin. Other origins were refused before.
  if (request.method === "OPTIONS" && place !== undefined) {
    response.writeHead(204, { ...headers, Allow: allowed(place) }).end();
    return;
  }
  if (route?.isPublic === true) {
    const principal = await identify(deps, incoming, route);
    const body = isReading(request) ? noBody : await readJson(deps, incoming, openBodyBytes);
    if (principal !== undefined) deps.presence.require(principal, since);
    const asked = { ...toRequest(incoming, route, place, query), principal, ...body };
    writeAnswer(request, response, headers, await route.handle(asked));
    return;
  }
  if (request.method === "OPTIONS") throw unknownRoute();
  const found = deps.authenticate(request);
  const principal = found instanceof Promise ? await found : found;
  incoming.principal = principal;
  // The client left during the look-up. Whatever is counted until the response closes would be counted for ever,
  // because it has already closed.
  if (response.destroyed) return;
  response.once("close", isStream(route, query) ? deps.openStream(principal) : deps.admit(principal));
  // Where there are people, the operator has no servers until a tool is called: to look after others starts none.
  const adopting = principal.id === localPrincipal.id && !deps.isOpen() ? undefined : deps.fleet.adopting(principal);
  if (adopting !== undefined) await adopting;
  if (route !== undefined) requireRight(principal, route.right, toRights(deps, request, place));
  const body = isReading(request) ? noBody : await readJson(deps, incoming, deps.bodyLimits.requestBodyBytes);
  deps.presence.require(principal, since);
  if (place === undefined) throw unknownRoute();
  if (route === undefined) throw wrongMethod(place, headers);
  const answer = await route.handle({ ...toRequest(incoming, route, place, query), principal, headers, ...body });
  if (answer !== undefined) writeAnswer(request, response, headers, answer);
}

function isStream(route: Route | undefined, query: string): boolean {
  if (route === undefined || route.isPublic === true) return false;
  if (route.isStream === "when followed") return new URLSearchParams(query).get("follow") === "true";
  return route.isStream === true;
}

const jsonType = /^application\/(?:[a-z0-9.+-]+\+)?json\s*(?:;|$)/i;

/**
 * A request that changes something needs a type that no page can send to another site without a preflight (faults 33,
 * 34), even when it has no body.
 */
function requireJson(request: IncomingMessage): void {
  if (isReading(request) || request.method === "OPTIONS") return;
  const type = request.headers["content-type"];
  if (type === undefined || !jsonType.test(type))
    throw new GatewayError(
      "MEDIA_TYPE_UNSUPPORTED",
      `a request of type ${type?.slice(0, 80) ?? "unknown"} is not accepted`,
    );
}

type RequestBody = Pick<PublicRequest, "body" | "bytes">;

const noBody: RequestBody = Object.freeze({ body: {}, bytes: Buffer.alloc(0) });

/** Of a body that anybody may send. */
const openBodyBytes = 16_384;

/** The sender of a request that needs none, if it says one. Reading never does: everybody gets the same answer. */
async function identify(deps: RestDeps, incoming: Incoming, { method }: Route): Promise<Principal | undefined> {
  const { request, response } = incoming;
  if (method === "GET" || request.headers.authorization === undefined) return undefined;
  const principal = await deps.authenticate(request);
  incoming.principal = principal;
  if (!response.destroyed) response.once("close", deps.admit(principal));
  return principal;
}

function toRights(deps: RestDeps, request: IncomingMessage, place: Place | undefined): Rights {
  const team = place?.params["team"];
  return {
    isOpen: deps.isOpen(),
    team,
    isTeam: (slug) => deps.people()?.book.teamOf(slug) !== undefined,
    loginAgeMs: () => loginAgeMs(deps, request),
  };
}

function isReading({ method }: IncomingMessage): boolean {
  return method === "GET" || method === "HEAD";
}

/** A body is read to its end, and refused when it is not a JSON object, even by routes that do not use it. */
async function readJson(deps: RestDeps, { request, principal }: Incoming, mostBytes: number): Promise<RequestBody> {
  const { jsonDepth } = deps.bodyLimits;
  const limits = { bytes: mostBytes, room: deps.bodyRoom };
  const who = principal?.user ?? principal?.id ?? "nobody";
  const bytes = await new Promise<Buffer>((resolve, reject) => {
    readBody(request, limits, who, (error, read) => (error === undefined ? resolve(read) : reject(error)));
  });
  if (bytes.length === 0) return { bytes, body: {} };
  return { bytes, body: await readJsonBody(bytes, jsonDepth) };
}

function toRequest({ request, response }: Incoming, route: Route, place: Place | undefined, query: string) {
  const checked: Omit<
    PublicRequest<Record<string, unknown>, Record<string, unknown>>,
    "principal" | keyof RequestBody
  > = {
    raw: request,
    response,
    params: route.params === undefined ? {} : checkPart(route.params, "params", place?.params ?? {}),
    query: route.query === undefined ? {} : checkPart(route.query, "querystring", parseQuery(query)),
  };
  return checked;
}

function allowed({ methods }: Place): string {
  return [...methods.keys(), ...(methods.has("GET") ? ["HEAD"] : [])].sort().join(", ");
}

function unknownRoute(): GatewayError {
  return new GatewayError("ROUTE_UNKNOWN", "there is nothing at this path");
}

function wrongMethod(place: Place, headers: Incoming["headers"]): GatewayError {
  headers["Allow"] = allowed(place);
  return new GatewayError("HTTP_METHOD_UNSUPPORTED", `only ${headers["Allow"]} is served here`);
}

function refuse(deps: RestDeps, { request, response, headers, principal }: Incoming, failure: GatewayError): void {
  if (["FORBIDDEN", "SCOPE_INSUFFICIENT", "LOGIN_NOT_RECENT"].includes(failure.code))
    deps.onDenied(request, failure, principal);
  if (failure.code === "INTERNAL")
    deps.reportFailure(failure, `${request.method ?? ""} ${splitTarget(request.url ?? "/").path.slice(0, 200)}`);
  const challenge = challengeOf(failure, () => deps.publicUrl(request), "");
  if (challenge !== undefined) headers["WWW-Authenticate"] = challenge;
  refuseWithProblem(response, failure, headers);
  // The unread rest of a body must not be taken for the next request.
  if (!request.readableEnded) request.resume();
}
