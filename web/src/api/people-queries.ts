import { queryOptions } from "@tanstack/react-query";
import { allRows } from "../../../src/kernel/all-rows.ts";
import { api, valueOf, type Schemas } from "./client.ts";
import { problemOf } from "./failure.ts";

/** Something that several people may change, with what says which of its versions this is. */
export interface Revised<Value> {
  readonly value: Value;
  readonly etag: string;
}

/** The answer about one thing, with its entity tag. Throws ApiFailure. */
export async function revisedOf<T>(
  asking: Promise<{ readonly data?: T | undefined; readonly error?: unknown; readonly response: Response }>,
): Promise<Revised<T>> {
  const { data, error, response } = await asking;
  if (data === undefined || !response.ok) throw problemOf(response.status, error);
  return { value: data, etag: response.headers.get("ETag") ?? "*" };
}

/** As many as a page may have. */
const mostRows = 1_000;

/** A field of a template, as its author described it. */
export interface TemplateField {
  readonly path: string;
  readonly tier: "template" | "team" | "user";
  readonly type: string;
  readonly required: boolean;
  readonly locked: boolean;
  readonly visible: boolean;
  readonly default?: string;
  readonly description?: string;
  readonly enum?: readonly string[];
}

export type Template = Omit<Schemas["TemplateList"]["templates"][number], "fields"> & {
  readonly fields: readonly TemplateField[];
};

/** Queries about people and teams. Their keys begin alike, because one change of people may change all of them. */
export const peopleQueries = {
  users: queryOptions({
    queryKey: ["people", "users"],
    queryFn: async () =>
      await allRows(mostRows, async (query) => {
        const { users: rows, nextCursor } = await valueOf(api.GET("/api/users", { params: { query } }));
        return { rows, nextCursor };
      }),
  }),
  user: (id: string) =>
    queryOptions({
      queryKey: ["people", "users", id],
      queryFn: async () => await revisedOf(api.GET("/api/users/{id}", { params: { path: { id } } })),
    }),
  teams: queryOptions({
    queryKey: ["people", "teams"],
    queryFn: async () =>
      await allRows(mostRows, async (query) => {
        const { teams: rows, nextCursor } = await valueOf(api.GET("/api/teams", { params: { query } }));
        return { rows, nextCursor };
      }),
  }),
  team: (team: string) =>
    queryOptions({
      queryKey: ["people", "team", team],
      queryFn: async () => await revisedOf(api.GET("/api/teams/{team}", { params: { path: { team } } })),
    }),
  members: (team: string) =>
    queryOptions({
      queryKey: ["people", "team", team, "members"],
      queryFn: async () =>
        await allRows(mostRows, async (query) => {
          const answer = await valueOf(api.GET("/api/teams/{team}/members", { params: { path: { team }, query } }));
          return { rows: answer.members, nextCursor: answer.nextCursor };
        }),
    }),
  member: (team: string, member: string) =>
    queryOptions({
      queryKey: ["people", "team", team, "members", member],
      queryFn: async () =>
        await revisedOf(api.GET("/api/teams/{team}/members/{member}", { params: { path: { team, member } } })),
    }),
  invites: (team: string) =>
    queryOptions({
      queryKey: ["people", "team", team, "invites"],
      queryFn: async () => await valueOf(api.GET("/api/teams/{team}/invites", { params: { path: { team } } })),
    }),
  secrets: (team: string) =>
    queryOptions({
      queryKey: ["people", "team", team, "secrets"],
      queryFn: async () => await valueOf(api.GET("/api/teams/{team}/secrets", { params: { path: { team } } })),
    }),
  installations: (team: string) =>
    queryOptions({
      queryKey: ["people", "team", team, "servers"],
      queryFn: async () => await valueOf(api.GET("/api/teams/{team}/installations", { params: { path: { team } } })),
    }),
  installation: (team: string, installation: string) =>
    queryOptions({
      queryKey: ["people", "team", team, "servers", installation],
      queryFn: async () => {
        const params = { path: { team, installation } };
        return await revisedOf(api.GET("/api/teams/{team}/installations/{installation}", { params }));
      },
    }),
  instances: (team: string, installation: string) =>
    queryOptions({
      queryKey: ["people", "team", team, "servers", installation, "instances"],
      queryFn: async () => {
        const params = { path: { team, installation } };
        return await valueOf(api.GET("/api/teams/{team}/installations/{installation}/instances", { params }));
      },
    }),
  values: (team: string, installation: string, whose: "team" | "me") =>
    queryOptions({
      queryKey: ["people", "team", team, "servers", installation, "values", whose],
      queryFn: async () => {
        const params = { path: { team, installation } };
        return await revisedOf(
          whose === "team"
            ? api.GET("/api/teams/{team}/installations/{installation}/config/team", { params })
            : api.GET("/api/teams/{team}/installations/{installation}/config/me", { params }),
        );
      },
    }),
  templates: queryOptions({
    queryKey: ["people", "templates"],
    queryFn: async () => (await valueOf(api.GET("/api/templates"))).templates as readonly Template[],
  }),
  me: queryOptions({ queryKey: ["people", "me"], queryFn: async () => await valueOf(api.GET("/api/me")) }),
  /** Of one user, or of the user logged in. */
  apps: (user: string | undefined) =>
    queryOptions({
      queryKey: ["people", "apps", user ?? "me"],
      queryFn: async () =>
        user === undefined
          ? (await valueOf(api.GET("/api/me/apps"))).apps
          : (await valueOf(api.GET("/api/users/{id}/apps", { params: { path: { id: user } } }))).apps,
    }),
  browsers: (user: string | undefined) =>
    queryOptions({
      queryKey: ["people", "browsers", user ?? "me"],
      queryFn: async () =>
        user === undefined
          ? (await valueOf(api.GET("/api/me/sessions"))).sessions
          : (await valueOf(api.GET("/api/users/{id}/sessions", { params: { path: { id: user } } }))).sessions,
    }),
  clients: queryOptions({
    queryKey: ["people", "clients"],
    queryFn: async () =>
      await allRows(mostRows, async (query) => {
        const { clients: rows, nextCursor } = await valueOf(api.GET("/api/auth/clients", { params: { query } }));
        return { rows, nextCursor };
      }),
  }),
  tokens: queryOptions({
    queryKey: ["people", "tokens"],
    queryFn: async () => await valueOf(api.GET("/api/me/tokens")),
  }),
};
