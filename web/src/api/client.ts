import createClient, { type Middleware } from "openapi-fetch";
import { problemOf } from "./failure.ts";
import type { components, paths } from "./schema.d.ts";
import { loseSession, proofHeaders } from "./session.ts";

export type Schemas = components["schemas"];

/** Every request proves the session, and has the type without which the gateway refuses changes. */
const proof: Middleware = {
  onRequest({ request }) {
    for (const [name, value] of Object.entries(proofHeaders())) request.headers.set(name, value);
    if (request.method !== "GET" && !request.headers.has("Content-Type"))
      request.headers.set("Content-Type", "application/json");
    return request;
  },
  onResponse({ response }) {
    if (response.status === 401) loseSession();
  },
};

/** The REST API, with the types of its own description. */
export const api = createClient<paths>({ baseUrl: location.origin, cache: "no-cache" });
api.use(proof);

/** The answer's value; lists that can be had as text, too, are asked for as JSON. Throws ApiFailure. */
export async function valueOf<T>(
  asking: Promise<{ readonly data?: T | undefined; readonly error?: unknown; readonly response: Response }>,
): Promise<Exclude<T, string>> {
  const { data, error, response } = await asking;
  if (data !== undefined && response.ok) return data as Exclude<T, string>;
  throw problemOf(response.status, error);
}

type RawInit = Omit<RequestInit, "headers"> & { readonly headers?: Readonly<Record<string, string>> };

/** For what the client cannot do: streams, and texts whose numbers must stay as they are. */
export async function rawFetch(path: string, init: RawInit = {}): Promise<Response> {
  const response = await fetch(path, {
    ...init,
    headers: {
      ...(init.method === undefined ? {} : { "Content-Type": "application/json" }),
      ...init.headers,
      ...proofHeaders(),
    },
  });
  if (response.status === 401) loseSession();
  return response;
}
