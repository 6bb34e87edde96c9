import { stringifyExact } from "../../wire/json/exact-json.ts";
import type { IncomingMessage, ServerResponse } from "node:http";
import fastify, {
  type FastifyBaseLogger,
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type RawServerDefault,
} from "fastify";
import { validatorCompiler, type ZodTypeProvider } from "fastify-type-provider-zod";
import { asciiJson } from "../../wire/json/ascii-json.ts";
import { GatewayError, toGatewayError } from "../../kernel/gateway-error.ts";
import type { Principal } from "../../kernel/principal.ts";
import { readBody } from "../http/body.ts";
import { corsHeaders } from "../http/cors.ts";
import { problemHeaders, toProblem } from "../http/problem.ts";
import type { RestDeps } from "./deps.ts";
import { parseJsonBody } from "./json-body.ts";

export type RestApp = FastifyInstance<
  RawServerDefault,
  IncomingMessage,
  ServerResponse,
  FastifyBaseLogger,
  ZodTypeProvider
>;

declare module "fastify" {
  interface FastifyRequest {
    /** Set before any handler runs, except on public routes. */
    principal: Principal;
  }
  interface FastifyContextConfig {
    /** Served to everybody: documents that hold nothing of anybody. */
    isPublic?: boolean;
  }
}

/** A path segment may be a whole tool path. */
const longestParameter = 4_096;

/** Fastify as a router: node:http listens and dispatches. Every failure leaves as problem details. */
export function createRestApp(deps: RestDeps): RestApp {
  const app: RestApp = fastify({
    logger: false,
    routerOptions: { maxParamLength: longestParameter, ignoreTrailingSlash: true },
    frameworkErrors: (error: FastifyError, request: FastifyRequest, reply: FastifyReply) =>
      sendFailure(deps, error, request, reply),
  }).withTypeProvider<ZodTypeProvider>();
  app.setValidatorCompiler(validatorCompiler);
  // Answers are texts already: schemas describe them, and a test compares.
  app.setSerializerCompiler(() => (data) => stringifyExact(data));
  app.setErrorHandler((error: FastifyError, request, reply) => sendFailure(deps, error, request, reply));
  app.decorateRequest("principal");
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    "*",
    (request: FastifyRequest, _payload: unknown, done: (error: Error | null, body?: Buffer) => void) => {
      readBody(request.raw, { bytes: deps.settings().limits.requestBodyBytes }, (error, body) =>
        done(error ?? null, body),
      );
    },
  );
  app.addHook("onRequest", (request, reply, done) => {
    reply.headers(corsHeaders(request.raw));
    reply.header("X-Content-Type-Options", "nosniff");
    requireJson(request);
    if (request.routeOptions.config.isPublic === true || request.method === "OPTIONS") {
      done();
      return;
    }
    request.principal = deps.authenticate(request.raw);
    reply.raw.once("close", deps.admit(request.principal));
    const adopting = deps.adopting(request.principal);
    if (adopting === undefined) done();
    else void adopting.then(() => done());
  });
  app.addHook("preValidation", (request, _reply, done) => {
    if (Buffer.isBuffer(request.body))
      request.body =
        request.body.length === 0 ? undefined : parseJsonBody(request.body, deps.settings().limits.jsonDepth).value;
    done();
  });
  addUnknownRoutes(app, deps);
  return app;
}

const jsonType = /^application\/(?:[a-z0-9.+-]+\+)?json\s*(?:;|$)/i;

/**
 * What changes something needs a type that no page can send without being asked first (faults 33, 34), also when there
 * is no body.
 */
function requireJson(request: FastifyRequest): void {
  if (request.method === "GET" || request.method === "HEAD" || request.method === "OPTIONS") return;
  const type = request.headers["content-type"];
  if (type === undefined || !jsonType.test(type))
    throw new GatewayError(
      "MEDIA_TYPE_UNSUPPORTED",
      `a request of type ${type?.slice(0, 80) ?? "unknown"} is not taken`,
    );
}

function addUnknownRoutes(app: RestApp, deps: RestDeps): void {
  const routes: { readonly method: string; readonly pattern: RegExp }[] = [];
  app.addHook("onRoute", ({ method, url }) => {
    const pattern = new RegExp(
      `^${url
        .replace(/[.\\]/g, "\\$&")
        .replace(/\*$/, ".*")
        .replace(/:[A-Za-z]+/g, "[^/]+")}/?$`,
    );
    for (const one of [method].flat()) routes.push({ method: one, pattern });
  });
  app.setNotFoundHandler((request, reply) => {
    const path = request.url.split("?", 1)[0] ?? "/";
    const methods = [
      ...new Set(routes.filter((route) => route.pattern.test(path)).map((route) => route.method)),
    ].sort();
    if (methods.length === 0)
      return sendFailure(deps, new GatewayError("ROUTE_UNKNOWN", "there is nothing at this path"), request, reply);
    // A browser of an allowed origin asks first; every other origin was refused before.
    if (request.method === "OPTIONS") return reply.status(204).header("Allow", methods.join(", ")).send();
    reply.header("Allow", methods.join(", "));
    return sendFailure(
      deps,
      new GatewayError("HTTP_METHOD_UNSUPPORTED", `only ${methods.join(", ")} is served here`),
      request,
      reply,
    );
  });
}

function sendFailure(
  deps: RestDeps,
  error: FastifyError | GatewayError,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const failure = toFailure(error);
  if (failure.code === "INTERNAL") deps.reportFailure(failure, `${request.method} ${request.routeOptions?.url ?? ""}`);
  if (failure.code === "UNAUTHORIZED") reply.header("WWW-Authenticate", deps.challenge(request.raw));
  // What is left of a body that nobody read must not be taken for the next request.
  if (!request.raw.readableEnded) request.raw.resume();
  return reply
    .status(failure.row.http)
    .headers(problemHeaders(failure))
    .serializer(String)
    .send(asciiJson(toProblem(failure)));
}

/** Fastify's own errors as rows of our table. */
function toFailure(error: FastifyError | GatewayError): GatewayError {
  if (error instanceof GatewayError) return error;
  if (error.validation !== undefined) {
    const [first] = error.validation;
    const field = `${error.validationContext ?? "request"}${first?.instancePath?.replaceAll("/", ".") ?? ""}`;
    return new GatewayError("PARAMS_INVALID", `${field}: ${first?.message ?? "is not valid"}`, {
      data: { field },
      hint: "Compare the request with GET /openapi.json.",
    });
  }
  if (error.code === "FST_ERR_BAD_URL")
    return new GatewayError("REQUEST_INVALID", "the path is not valid percent-encoding", {
      hint: "Percent-encode every segment of the path.",
    });
  if (error.statusCode === 413) return new GatewayError("BODY_TOO_LARGE", "the body is too large");
  if (error.statusCode === 415) return new GatewayError("MEDIA_TYPE_UNSUPPORTED", "a body of this type is not taken");
  if (error.statusCode === 414) return new GatewayError("REQUEST_INVALID", "a segment of the path is too long");
  if (error.statusCode !== undefined && error.statusCode >= 400 && error.statusCode < 500)
    return new GatewayError("REQUEST_INVALID", error.message, { hint: "Compare the request with GET /openapi.json." });
  return toGatewayError(error);
}
