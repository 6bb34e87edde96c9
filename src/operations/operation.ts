import type * as z from "zod";
import type { Right } from "../engine/policy/rights.ts";
import type { JsonObject } from "../kernel/text/json-bytes.ts";
import type { Principal } from "../kernel/principal.ts";
import type { Responses } from "./responses.ts";
import type { Services } from "./services.ts";
import { GatewayError } from "../kernel/failures/gateway-error.ts";

/** Facts about a request, whichever way it came. */
export interface RequestFacts {
  /** The way it came, as the audit names it. */
  readonly via: string;
  /** The address of the sender; null where it is the same machine. */
  readonly ip: string | null;
  /** The gateway's address as the sender knows it, without a slash at its end. */
  readonly base: string;
  /** `Accept`, as it was sent. */
  readonly accept: string | undefined;
  /** `If-Match`, as it was sent. */
  readonly ifMatch: string | undefined;
  /** Whether it was sent by a page of the dashboard in which somebody is logged in. */
  readonly isFromDashboard: boolean;
  /** The id of the browser session that it was sent from; undefined where there is none. */
  readonly session: string | undefined;
  /** How long ago the sender logged in with a browser; undefined for any other credential. */
  readonly loginAgeMs: () => number | undefined;
  /** Aborts when the sender leaves before the answer. */
  readonly signal: AbortSignal;
}

/** A request whose parts have been checked with the operation's schemas. */
export interface OpenRequest<P = unknown, Q = unknown, B = unknown> extends RequestFacts {
  readonly params: P;
  readonly query: Q;
  readonly body: B;
  /** The body as it was sent; empty where none was. */
  readonly bytes: Buffer;
  /** Undefined where no credential was sent. */
  readonly principal: Principal | undefined;
}

/** The same of a sender with a credential. */
export interface OperationRequest<P = unknown, Q = unknown, B = unknown> extends OpenRequest<P, Q, B> {
  readonly principal: Principal;
}

type RouteLine = `${"GET" | "POST" | "PUT" | "PATCH" | "DELETE"} /${string}`;

interface Facts<P extends z.ZodObject, Q extends z.ZodObject, B extends z.ZodType, R extends RouteLine, A> {
  /** Unique and never changed: generated clients name their functions after it. */
  readonly id: string;
  /** Method and path. Segments in braces are parameters: `GET /api/tools/{path}`. */
  readonly route: R;
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  readonly params?: P;
  readonly query?: Q;
  /** Described in OpenAPI; not checked. */
  readonly headers?: z.ZodObject;
  /** Checked before the operation runs; without one, the body is any JSON object. */
  readonly body?: B;
  /** Whether the schema of the body only describes it: the operation itself reports faults in it. */
  readonly isBodyOpen?: true;
  readonly responses: Responses<A>;
}

interface PrivateOperation<
  P extends z.ZodObject,
  Q extends z.ZodObject,
  B extends z.ZodType,
  R extends RouteLine = RouteLine,
  A = unknown,
> extends Facts<P, Q, B, R, A> {
  readonly isPublic?: false;
  /** Checked before a body is read and before anything is looked up. */
  readonly right: Right;
  // Written as a method, so that a list can contain operations with different parts.
  /** Resolves to a value, which is the answer as JSON, or to a reply of reply.ts. */
  run(services: Services, asking: OperationRequest<z.output<P>, z.output<Q>, BodyOf<B>>): Outcome | Promise<Outcome>;
}

interface PublicOperation<
  P extends z.ZodObject,
  Q extends z.ZodObject,
  B extends z.ZodType,
  R extends RouteLine = RouteLine,
  A = unknown,
> extends Facts<P, Q, B, R, A> {
  /** It needs no credential: its body has a secret, or it reveals nothing about anybody. */
  readonly isPublic: true;
  run(services: Services, asking: OpenRequest<z.output<P>, z.output<Q>, BodyOf<B>>): Outcome | Promise<Outcome>;
}

/** A value, and not the schema of one, which often has the same name. */
type Outcome = object & { readonly _zod?: never };

type BodyOf<B extends z.ZodType> = z.ZodType extends B ? JsonObject : z.output<B>;

/**
 * One management operation. Its route, its description in OpenAPI, and the functions of the clients are made from it.
 */
export type Operation<
  P extends z.ZodObject = z.ZodObject,
  Q extends z.ZodObject = z.ZodObject,
  B extends z.ZodType = z.ZodType,
> = PrivateOperation<P, Q, B> | PublicOperation<P, Q, B>;

/** What a client has to know of an operation: its route, what it takes, and what it answers. */
export interface OperationTypes {
  readonly route: RouteLine;
  readonly params: unknown;
  readonly query: unknown;
  readonly body: unknown;
  readonly answer: unknown;
}

/** An operation that tells clients its types. There is no such member. */
export type TypedOperation<T extends OperationTypes> = Operation & { readonly [types]?: T };

declare const types: unique symbol;

/** The types of an operation: `TypesOf<typeof addInvite>["answer"]`. */
export type TypesOf<O> = O extends { readonly [types]?: infer T extends OperationTypes } ? T : never;

interface Told<P extends z.ZodObject, Q extends z.ZodObject, B extends z.ZodType, R extends RouteLine, A> {
  readonly route: R;
  readonly params: z.input<P>;
  readonly query: z.input<Q>;
  readonly body: z.input<B>;
  readonly answer: A;
}

/** Derives the types of `run`, and those that clients see, from the schemas. */
export function operation<
  P extends z.ZodObject = z.ZodObject,
  Q extends z.ZodObject = z.ZodObject,
  B extends z.ZodType = z.ZodType,
  R extends RouteLine = RouteLine,
  A = unknown,
>(definition: PrivateOperation<P, Q, B, R, A>): TypedOperation<Told<P, Q, B, R, A>> {
  return definition as unknown as Operation;
}

/** The same for an operation that needs no credential. */
export function publicOperation<
  P extends z.ZodObject = z.ZodObject,
  Q extends z.ZodObject = z.ZodObject,
  B extends z.ZodType = z.ZodType,
  R extends RouteLine = RouteLine,
  A = unknown,
>(definition: Omit<PublicOperation<P, Q, B, R, A>, "isPublic">): TypedOperation<Told<P, Q, B, R, A>> {
  return { ...definition, isPublic: true } as unknown as Operation;
}

/** Checks one part of a request. Throws PARAMS_INVALID with the first field that does not fit. */
export function checkPart<S extends z.ZodObject>(
  schema: S,
  part: "params" | "querystring" | "body",
  given: object,
): z.output<S> {
  if (hasProto(given))
    throw new GatewayError("PARAMS_INVALID", `${part}: nothing can be called __proto__`, { data: { field: part } });
  const { success, data, error } = schema.safeParse(given);
  if (success) return data;
  const [first] = error.issues;
  const field = [part, ...(first?.path ?? [])].join(".");
  throw new GatewayError("PARAMS_INVALID", `${field}: ${first?.message ?? "is not valid"}`, {
    data: { field },
    hint: "Compare the request with GET /openapi.json.",
  });
}

/** Such a member would be left out without a word, and its sender would be told that it was taken. */
function hasProto(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  return Object.hasOwn(value, "__proto__") || Object.values(value).some(hasProto);
}
