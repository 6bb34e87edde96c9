import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { api, rawFetch, valueOf, type Schemas } from "./client.ts";
import type { StreamEvent } from "./event-text.ts";
import { problemOf } from "./failure.ts";

export interface Resource {
  readonly uri: string;
  readonly server_name: string;
  readonly name?: string;
  readonly title?: string;
  readonly description?: string;
  readonly mimeType?: string;
  readonly size?: number;
}

export interface ResourceTemplate extends Omit<Resource, "uri" | "size"> {
  readonly uriTemplate: string;
  readonly native_uri_template: string;
}

export interface PromptArgument {
  readonly name: string;
  readonly description?: string;
  readonly required?: boolean;
}

/** One part of a resource, or of what was cut off a long result. */
export interface Content {
  readonly uri?: string;
  readonly mimeType?: string;
  readonly text?: string;
  readonly blob?: string;
}

export const resourceQueries = {
  /** Resources first, then templates, as far as somebody has asked for them. */
  list: (server: string, match: string) =>
    infiniteQueryOptions({
      queryKey: ["resources", server, match],
      initialPageParam: "",
      queryFn: async ({ pageParam }) => {
        const query = {
          ...(server === "" ? {} : { server }),
          ...(match === "" ? {} : { query: match }),
          ...(pageParam === "" ? {} : { cursor: pageParam }),
        };
        return await valueOf(api.GET("/api/resources", { params: { query } }));
      },
      getNextPageParam: (page) => page.nextCursor ?? null,
    }),
  prompts: queryOptions({
    queryKey: ["prompts"],
    queryFn: async () => await valueOf(api.GET("/api/prompts")),
  }),
  read: (uri: string) =>
    queryOptions({
      queryKey: ["resource", uri],
      queryFn: async () => {
        const response = await rawFetch(`/api/resources/read?${new URLSearchParams({ uri }).toString()}`);
        const text = await response.text();
        if (!response.ok) throw problemOf(response.status, JSON.parse(text));
        return JSON.parse(text) as { readonly contents?: readonly Content[] };
      },
      retry: false,
      staleTime: 5_000,
      gcTime: 60_000,
    }),
};

/** Has the gateway tell of changes of a resource, by its events; to be asked for again before it ends. */
export async function watchResource(uri: string): Promise<Watched> {
  return await valueOf(api.POST("/api/resources/watch", { body: { uri } }));
}

export type Watched = Schemas["WatchedResource"];

/** Whether an event says that this resource has changed, or may have: of several at once the stream has the newest. */
export function tellsOf({ instance, uri }: Watched, event: StreamEvent): boolean {
  if (event.type !== "resource.updated") return false;
  const told = JSON.parse(event.data) as ResourceUpdate;
  if (told.instance !== instance) return false;
  return told.data.uri === undefined || told.data.uri === uri || told.coalesced !== undefined;
}

interface ResourceUpdate {
  readonly instance: string | null;
  readonly coalesced?: number;
  /** Without an address for people who may not know what others read. */
  readonly data: { readonly uri?: string };
}

interface Asked {
  readonly ref:
    | { readonly type: "ref/prompt"; readonly name: string }
    | { readonly type: "ref/resource"; readonly uri: string };
  readonly name: string;
  readonly value: string;
  /** What the other arguments are by now. */
  readonly others: Readonly<Record<string, string>>;
}

/** What a server proposes for an argument. None where it proposes nothing. */
export async function propose({ ref, name, value, others }: Asked): Promise<readonly string[]> {
  const body = { ref, argument: { name, value }, context: { arguments: { ...others } } };
  const { completion } = await valueOf(api.POST("/api/complete", { body }));
  return completion.values;
}
