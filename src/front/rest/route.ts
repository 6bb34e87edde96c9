import type { IncomingMessage, ServerResponse } from "node:http";
import type { Settings } from "../../config/config.ts";
import type { GatewayError } from "../../kernel/failures/gateway-error.ts";
import type { Principal } from "../../kernel/principal.ts";
import type { InstanceId, PrincipalId } from "../../kernel/ids.ts";
import type { Log } from "../../kernel/runtime/log.ts";
import type { MessageWatch } from "../../records/events/message-watch.ts";
import type { Services } from "../../operations/services.ts";
import type { Presence } from "../../people/identity/session-validity.ts";
import type { BodyRoom } from "../http/guards/body-room.ts";
import type { PublicUrl } from "../http/public-url.ts";
import type { Browsers } from "../web/browsers.ts";
import type * as z from "zod";
import type { Answer, Headers } from "./answer.ts";
import type { JsonObject } from "../../kernel/text/json-bytes.ts";
import type { Right } from "../../engine/policy/rights.ts";
import type { Operation } from "../../operations/operation.ts";

/** What the REST API needs beside what operations do their work with. */
export interface RestDeps extends Omit<Services, "texts" | "questions" | "trials" | "leases"> {
  /** The limits of bodies, the same over MCP and here: both are read at the start. */
  readonly bodyLimits: Pick<Settings["limits"], "requestBodyBytes" | "jsonDepth">;
  readonly bodyRoom: BodyRoom;
  /** Throws or rejects with UNAUTHORIZED. */
  readonly authenticate: (request: IncomingMessage) => Principal | Promise<Principal>;
  /** Whether a request came through the door of the data directory's owner. */
  readonly isOwner: (request: IncomingMessage) => boolean;
  /** Messages of clients and servers as they pass. */
  readonly messages: () => Promise<Pick<MessageWatch, "follow">>;
  /** Whose instance it is: null for one that people share, undefined for one that is not there. */
  readonly ownerOf: (instance: InstanceId) => PrincipalId | null | undefined;
  /** Browsers that are logged in at the dashboard. */
  readonly browsers: Browsers;
  readonly publicUrl: PublicUrl;
  /** Counts a principal's request. Returns a function to call when it ends. Throws RATE_LIMITED. */
  readonly admit: (principal: Principal) => () => void;
  /** Counts a stream that stays open; otherwise the same. */
  readonly openStream: (principal: Principal) => () => void;
  /** Whether the sender of a request is still here when its body is. */
  readonly presence: Presence;
  readonly reportFailure: (failure: GatewayError, operation: string) => void;
  readonly log: Log;
  /** Writes into the audit that a request was refused. */
  readonly onDenied: (request: IncomingMessage, failure: GatewayError, principal: Principal | undefined) => void;
}

/** A request whose parameters have been checked with the route's schemas. */
export interface PublicRequest<P = unknown, Q = unknown> {
  readonly raw: IncomingMessage;
  readonly response: ServerResponse;
  readonly params: P;
  readonly query: Q;
  /** Who asks, where a credential was sent; one that is not valid is refused. */
  readonly principal: Principal | undefined;
  /** An object, empty where none was sent. Its route checks it (`checkPart`). */
  readonly body: JsonObject;
  /** The body as it was sent; empty where none was. */
  readonly bytes: Buffer;
}

export interface RestRequest<P = unknown, Q = unknown> extends PublicRequest<P, Q> {
  readonly principal: Principal;
  /** The headers that every answer gets, for a route that answers itself. */
  readonly headers: Headers;
}

/** What the OpenAPI document says of a route besides its parameters. */
export type RouteDescription = Pick<
  Operation,
  "id" | "tag" | "summary" | "description" | "headers" | "body" | "responses"
>;

interface RouteFacts<P extends z.ZodObject, Q extends z.ZodObject> {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Segments in braces are parameters: `/api/tools/{path}`. A last segment `*` matches whatever follows. */
  readonly path: string;
  readonly params?: P;
  readonly query?: Q;
  /** Absent for routes that the OpenAPI document does not show. */
  readonly operation?: RouteDescription;
}

interface PrivateRoute<P extends z.ZodObject, Q extends z.ZodObject> extends RouteFacts<P, Q> {
  readonly isPublic?: false;
  /** Who may use it. Checked before a body is read and before anything is looked up. */
  readonly right: Right;
  /**
   * Counted as an open stream (`limits.openStreams`), so that it takes no place from requests that are answered:
   * always, or with `follow=true`.
   */
  readonly isStream?: boolean | "when followed";
  // Written as a method, so that a list can contain routes with different parameters. Undefined: it answers itself.
  handle(request: RestRequest<z.output<P>, z.output<Q>>): Answer | undefined | Promise<Answer | undefined>;
}

/**
 * A route that needs no credentials: for documents that reveal nothing about anybody, and for requests that carry a
 * secret in the body.
 */
interface PublicRoute<P extends z.ZodObject, Q extends z.ZodObject> extends RouteFacts<P, Q> {
  readonly isPublic: true;
  handle(request: PublicRequest<z.output<P>, z.output<Q>>): Answer | Promise<Answer>;
}

export type Route<P extends z.ZodObject = z.ZodObject, Q extends z.ZodObject = z.ZodObject> =
  | PrivateRoute<P, Q>
  | PublicRoute<P, Q>;

/** Derives the types of the handler's parameters from the route's schemas. */
export function route<P extends z.ZodObject = z.ZodObject, Q extends z.ZodObject = z.ZodObject>(
  definition: PrivateRoute<P, Q>,
): Route {
  return definition as unknown as Route;
}

/** The same for a route that needs no credentials. */
export function publicRoute(definition: Omit<PublicRoute<z.ZodObject, z.ZodObject>, "isPublic">): Route {
  return { ...definition, isPublic: true };
}
