import * as z from "zod";
import { problem } from "./schemas.ts";

/** Possible answers by status, each with a description and, where there is a body, its schema by media type. */
export type Responses<Answer = unknown> = Readonly<
  Record<string, { readonly description: string; readonly content?: Readonly<Record<string, z.ZodType>> }>
> & {
  /** The type of an answer that is no failure. There is no such member: it is for the types of clients alone. */
  readonly [answer]?: Answer;
};

declare const answer: unique symbol;

/** A route's possible answers: its own, and the failures that it can have. */
export function answers<S extends z.ZodType>(
  schema: S,
  description: string,
  failures: readonly (keyof typeof descriptions)[] = [],
): Responses<z.output<S>> {
  const own = { description, content: { "application/json": schema } };
  const others = [...new Set([...always, ...failures])].map((status) => [
    status,
    status === 304
      ? { description: descriptions[304] }
      : { description: descriptions[status], content: { "application/problem+json": problem } },
  ]);
  return { 200: own, ...Object.fromEntries(others) } as Responses<z.output<S>>;
}

/** The same for a route that makes something, and says where it is from then on. */
export function creations<S extends z.ZodType>(...about: Parameters<typeof answers<S>>): Responses<z.output<S>> {
  const { 200: made, ...others } = answers(...about);
  return made === undefined ? others : { 201: made, ...others };
}

/** The same for a list that can be had as lines of JSON and as CSV, too. */
export function withExports<Answer>(responses: Responses<Answer>): Responses<Answer> {
  const { 200: page, ...others } = responses;
  const exports = { "application/x-ndjson": z.string(), "text/csv": z.string() };
  return { 200: { description: page?.description ?? "", content: { ...page?.content, ...exports } }, ...others };
}

const descriptions = {
  304: "Not changed.",
  400: "The request is wrong.",
  401: "A credential is missing or not valid.",
  403: "Not allowed.",
  404: "There is no such thing, or not for the caller.",
  409: "It does not fit what is there: several things have the name, or a rule forbids it.",
  412: "It was changed since it was read.",
  413: "The body is too large.",
  415: "Send application/json.",
  429: "Too many requests.",
  500: "A fault of the gateway.",
  502: "The server behind failed.",
  503: "Not available now.",
  504: "It took too long.",
} as const;

/** Failures that every route can have. */
const always = [400, 401, 403, 500] as const;

export const executing = [404, 409, 413, 415, 429, 502, 503, 504] as const;
