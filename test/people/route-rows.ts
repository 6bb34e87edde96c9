import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "vitest";
import { badServer } from "../harness/gateway.ts";
import type { Cast } from "../harness/team-gateway.ts";

/** Ids and names that earlier rows have learned. */
export type Ids = Record<string, string>;
/** A person with a token, a browser of ann who has just logged in, the owner of the data directory, or nobody. */
export type Who = keyof Cast | "browser" | "owner" | "nobody";

/** What a route does for whoever may, and what it says to somebody who may not. */
export interface Row {
  readonly route: string;
  /** By the name of a member of the path where that is not the name of an id. */
  readonly at?: Readonly<Record<string, string>>;
  readonly query?: string;
  readonly body?: (ids: Ids) => object;
  readonly who: Who;
  readonly status?: number;
  /** Where it is another with PostgreSQL. */
  readonly statusWithPostgres?: number;
  /** What the answer has. */
  readonly gives?: object;
  readonly learns?: Readonly<Record<string, (json: Learned) => unknown>>;
  /** Who may not, tried first: nothing of it happens. */
  readonly not: Who;
  readonly refusal: readonly [status: number, code: string];
}

// oxlint-disable-next-line typescript/no-explicit-any -- rows look into whatever came back
type Learned = any;

const noCredential: Row["refusal"] = [401, "UNAUTHORIZED"];
const forbidden: Row["refusal"] = [403, "FORBIDDEN"];
const noPerson: Row["refusal"] = [404, "PERSON_UNKNOWN"];
const noInstance: Row["refusal"] = [404, "SERVER_UNKNOWN"];
const notRecent: Row["refusal"] = [403, "LOGIN_NOT_RECENT"];

const backupFile = join(tmpdir(), `toolyard-rows-${process.pid}-${Date.now()}.db`);
const red = { team: "red" };
const mail = { ...red, installation: "mail" };
const remote = { url: "https://mcp.example.com/mcp" };
const fields = [
  { path: "env.CANARY", tier: "team", type: "string" },
  { path: "env.KEY", tier: "user", type: "secret" },
];
const program = { ...badServer("--behaviours=canary,env"), scope: "user", requestLogging: "full" };

/** In this order: later ones work with what earlier ones made. */
export const rows: readonly Row[] = [
  // One's own.
  {
    ...{ route: "GET /api/me", who: "bob", gives: { team: "red", roles: ["member"], via: "pat" } },
    ...{ learns: { bobMember: ({ id }) => id, bobUser: ({ user }) => user.id }, not: "nobody", refusal: noCredential },
  },
  {
    ...{ route: "POST /api/me/tokens", who: "bob", body: () => ({ name: "mine" }), status: 201 },
    ...{ learns: { id: ({ id }) => id }, not: "nobody", refusal: noCredential },
  },
  { route: "GET /api/me/tokens", who: "bob", gives: { tokens: [{}, {}] }, not: "nobody", refusal: noCredential },
  { route: "GET /api/me/tokens/{id}", who: "bob", gives: { name: "mine" }, not: "cid", refusal: noPerson },
  { route: "DELETE /api/me/tokens/{id}", who: "bob", gives: { done: true }, not: "cid", refusal: noPerson },
  {
    ...{ route: "GET /api/me/apps", who: "bob", gives: { apps: [{ name: "Test app" }] } },
    ...{ learns: { id: ({ apps }) => apps[0].id }, not: "nobody", refusal: noCredential },
  },
  { route: "DELETE /api/me/apps/{id}", who: "bob", gives: { done: true }, not: "cid", refusal: noPerson },
  {
    ...{ route: "GET /api/me/sessions", who: "bob", gives: { sessions: [{ via: "password" }] } },
    ...{ learns: { id: ({ sessions }) => sessions[0].id }, not: "nobody", refusal: noCredential },
  },
  { route: "DELETE /api/me/sessions/{id}", who: "bob", gives: { done: true }, not: "cid", refusal: noPerson },
  {
    ...{ route: "GET /api/sessions", who: "bob", gives: { browsers: [], clients: [] } },
    ...{ not: "nobody", refusal: noCredential },
  },
  {
    ...{ route: "DELETE /api/sessions/{id}", at: { id: "none" }, who: "bob", gives: { ended: false } },
    ...{ not: "nobody", refusal: noCredential },
  },
  // Users.
  {
    ...{ route: "POST /api/users", who: "ann", body: () => ({ name: "dan", team: "red" }), status: 201 },
    ...{ gives: { user: { name: "dan" } }, learns: { id: ({ user }) => user.id, dan: ({ user }) => user.id } },
    ...{ not: "olga", refusal: forbidden },
  },
  { route: "GET /api/users", who: "ann", gives: { nextCursor: null }, not: "olga", refusal: forbidden },
  { route: "GET /api/users/{id}", who: "ann", gives: { name: "dan" }, not: "bob", refusal: forbidden },
  {
    ...{ route: "PATCH /api/users/{id}", who: "ann", body: () => ({ name: "dana" }), gives: { name: "dana" } },
    ...{ not: "bob", refusal: forbidden },
  },
  { route: "POST /api/users/{id}/disable", who: "ann", gives: { status: "disabled" }, not: "tom", refusal: forbidden },
  { route: "POST /api/users/{id}/enable", who: "ann", gives: { status: "active" }, not: "tom", refusal: forbidden },
  {
    ...{ route: "PUT /api/users/{id}/role", who: "browser", body: () => ({ role: "admin" }), gives: { role: "admin" } },
    ...{ not: "ann", refusal: notRecent },
  },
  {
    ...{ route: "PUT /api/users/{id}/role", who: "ann", body: () => ({ role: "user" }), gives: { role: "user" } },
    ...{ not: "olga", refusal: forbidden },
  },
  {
    ...{ route: "GET /api/users/{id}/apps", at: { id: "eve" }, who: "ann", gives: { apps: [{ user: "eve" }] } },
    ...{ learns: { item: ({ apps }) => apps[0].id }, not: "bob", refusal: forbidden },
  },
  {
    ...{ route: "DELETE /api/users/{id}/apps/{item}", at: { id: "eve" }, who: "ann", gives: { done: true } },
    ...{ not: "tom", refusal: forbidden },
  },
  {
    ...{ route: "GET /api/users/{id}/sessions", at: { id: "eve" }, who: "ann", gives: { sessions: [{}, {}] } },
    ...{ learns: { item: ({ sessions }) => sessions[0].id }, not: "bob", refusal: forbidden },
  },
  {
    ...{ route: "DELETE /api/users/{id}/sessions/{item}", at: { id: "eve" }, who: "ann", gives: { done: true } },
    ...{ not: "tom", refusal: forbidden },
  },
  {
    ...{ route: "DELETE /api/users/{id}/sessions", at: { id: "eve" }, who: "ann", gives: { ended: 1 } },
    ...{ not: "tom", refusal: forbidden },
  },
  {
    ...{ route: "DELETE /api/users/{id}/tokens", at: { id: "dana" }, who: "ann", gives: { revoked: 1 } },
    ...{ not: "tom", refusal: forbidden },
  },
  // Teams.
  { route: "GET /api/teams", who: "bob", gives: { teams: [{ slug: "red" }] }, not: "nobody", refusal: noCredential },
  {
    ...{ route: "POST /api/teams", who: "bob", body: () => ({ slug: "green" }), status: 201 },
    ...{ gives: { team: { slug: "green" }, made: {} }, not: "nobody", refusal: noCredential },
  },
  { route: "GET /api/teams/{team}", at: red, who: "bob", gives: { slug: "red" }, not: "cid", refusal: noPerson },
  {
    ...{ route: "PATCH /api/teams/{team}", at: red, who: "tom", body: () => ({ title: "Reds" }) },
    ...{ gives: { title: "Reds" }, not: "bob", refusal: forbidden },
  },
  {
    ...{ route: "GET /api/teams/{team}/members", at: red, who: "bob", gives: { nextCursor: null } },
    ...{ not: "cid", refusal: noPerson },
  },
  {
    ...{ route: "POST /api/teams/{team}/members", at: red, who: "ann", body: () => ({ user: "cid" }), status: 201 },
    ...{ gives: { user: "cid", role: "member" }, learns: { member: ({ id }) => id }, not: "olga", refusal: forbidden },
  },
  {
    ...{ route: "GET /api/teams/{team}/members/{member}", at: red, who: "bob", gives: { user: "cid" } },
    ...{ not: "cid", refusal: noPerson },
  },
  {
    ...{ route: "PATCH /api/teams/{team}/members/{member}", at: red, who: "olga", body: () => ({ role: "admin" }) },
    ...{ gives: { role: "admin" }, not: "tom", refusal: forbidden },
  },
  {
    ...{ route: "PUT /api/teams/{team}/owner", at: red, who: "olga", body: ({ member }) => ({ member }) },
    ...{ gives: { done: true }, not: "tom", refusal: forbidden },
  },
  {
    ...{ route: "PUT /api/teams/{team}/owner", at: red, who: "ann", body: () => ({ member: "olga" }) },
    ...{ gives: { done: true }, not: "bob", refusal: forbidden },
  },
  {
    ...{ route: "DELETE /api/teams/{team}/members/{member}", at: red, who: "olga", gives: { done: true } },
    ...{ not: "bob", refusal: forbidden },
  },
  {
    ...{ route: "POST /api/teams/{team}/invites", at: red, who: "tom", body: () => ({ about: "fay" }), status: 201 },
    ...{ learns: { secret: ({ secret }) => secret, id: ({ id }) => id }, not: "bob", refusal: forbidden },
  },
  {
    ...{ route: "GET /api/teams/{team}/invites", at: red, who: "tom", gives: { invites: [{ about: "fay" }] } },
    ...{ not: "bob", refusal: forbidden },
  },
  {
    ...{ route: "POST /api/invites/accept", who: "nobody", body: ({ secret = "" }) => ({ secret, name: "fay" }) },
    ...{ gives: { user: "fay", team: "red" }, not: "bob", refusal: [409, "PEOPLE_CONFLICT"] },
  },
  {
    ...{ route: "DELETE /api/teams/{team}/invites/{id}", at: red, who: "tom", gives: { done: true } },
    ...{ not: "bob", refusal: forbidden },
  },
  // What teams install.
  {
    ...{ route: "POST /api/templates", who: "browser", body: () => ({ slug: "mail", entry: program, fields }) },
    ...{ gives: { slug: "mail" }, learns: { mailTemplate: ({ id }) => id }, not: "ann", refusal: notRecent },
  },
  {
    ...{
      route: "POST /api/templates",
      who: "tom",
      body: () => ({ slug: "far", team: "red", entry: remote, fields: [] }),
    },
    ...{ learns: { template: ({ id }) => id }, not: "bob", refusal: forbidden },
  },
  { route: "GET /api/templates", who: "bob", not: "nobody", refusal: noCredential },
  {
    ...{ route: "GET /api/templates/{template}", who: "bob", gives: { slug: "far", transport: "http" } },
    ...{ not: "cid", refusal: [404, "TEMPLATE_UNKNOWN"] },
  },
  {
    ...{ route: "PATCH /api/templates/{template}", who: "tom", gives: { revision: 2 } },
    ...{ body: () => ({ fields: [{ path: "headers.X-Region", tier: "team" }] }), not: "bob", refusal: forbidden },
  },
  { route: "DELETE /api/templates/{template}", who: "tom", gives: { done: true }, not: "bob", refusal: forbidden },
  {
    ...{ route: "POST /api/teams/{team}/installations", at: red, who: "tom", gives: { slug: "mail", enabled: true } },
    ...{ body: ({ mailTemplate }) => ({ template: mailTemplate, slug: "mail" }), not: "bob", refusal: forbidden },
  },
  {
    ...{ route: "GET /api/teams/{team}/installations", at: red, who: "bob" },
    ...{ gives: { installations: [{ source: "file" }, { slug: "mail" }] }, not: "cid", refusal: noPerson },
  },
  {
    ...{ route: "GET /api/teams/{team}/installations/{installation}", at: mail, who: "bob", gives: { slug: "mail" } },
    ...{ not: "cid", refusal: noPerson },
  },
  {
    ...{ route: "PATCH /api/teams/{team}/installations/{installation}", at: mail, who: "tom" },
    ...{ body: () => ({ name: "Mail of red" }), gives: { name: "Mail of red" }, not: "bob", refusal: forbidden },
  },
  {
    ...{ route: "PATCH /api/teams/{team}/installations/{installation}/config/team", at: mail, who: "tom" },
    ...{ body: () => ({ values: { "env.CANARY": "of the team" } }), not: "bob", refusal: forbidden },
  },
  {
    ...{ route: "PUT /api/teams/{team}/installations/{installation}/config/team", at: mail, who: "tom" },
    ...{ body: () => ({ values: { "env.CANARY": "of red" } }), not: "bob", refusal: forbidden },
  },
  {
    ...{ route: "GET /api/teams/{team}/installations/{installation}/config/team", at: mail, who: "bob" },
    ...{ gives: { fields: [{ path: "env.CANARY", value: "of red" }, {}] }, not: "cid", refusal: noPerson },
  },
  {
    ...{ route: "PATCH /api/teams/{team}/installations/{installation}/config/me", at: mail, who: "bob" },
    ...{ body: () => ({ values: { "env.KEY": "key of bob" } }), not: "cid", refusal: noPerson },
  },
  {
    ...{ route: "PUT /api/teams/{team}/installations/{installation}/config/me", at: mail, who: "bob" },
    ...{ body: () => ({ values: { "env.KEY": "another key of bob" } }), not: "cid", refusal: noPerson },
  },
  {
    ...{ route: "GET /api/teams/{team}/installations/{installation}/config/me", at: mail, who: "bob" },
    ...{ not: "cid", refusal: noPerson },
  },
  {
    ...{ route: "GET /api/teams/{team}/installations/{installation}/members/{member}/config" },
    ...{ at: { ...mail, member: "bobMember" }, who: "tom", not: "bob", refusal: forbidden },
  },
  {
    ...{ route: "POST /api/teams/{team}/installations/{installation}/disable", at: mail, who: "tom" },
    ...{ gives: { enabled: false }, not: "bob", refusal: forbidden },
  },
  {
    ...{ route: "POST /api/teams/{team}/installations/{installation}/enable", at: mail, who: "tom" },
    ...{ gives: { enabled: true }, not: "bob", refusal: forbidden },
  },
  {
    ...{ route: "POST /api/teams/{team}/installations/{installation}/test", at: mail, who: "tom" },
    ...{ gives: { ok: true, problem: null, status: "online" }, not: "bob", refusal: forbidden },
  },
  {
    ...{ route: "GET /api/teams/{team}/installations/{installation}/instances", at: mail, who: "tom" },
    ...{ gives: { instances: [{}, {}] }, not: "cid", refusal: noPerson },
  },
  {
    ...{ route: "POST /api/teams/{team}/installations/{installation}/refresh", at: mail, who: "tom" },
    // One for each member who has come so far.
    ...{ gives: { instances: expect.arrayContaining([expect.objectContaining({ problem: null })]) as unknown } },
    ...{ not: "bob", refusal: forbidden },
  },
  // Secrets of teams.
  {
    ...{ route: "PUT /api/teams/{team}/secrets/{secret}", at: { ...red, secret: "MAIL" }, who: "tom" },
    ...{ body: () => ({ value: "a secret of red" }), gives: { done: true }, not: "bob", refusal: forbidden },
  },
  { route: "GET /api/teams/{team}/secrets", at: red, who: "tom", not: "bob", refusal: forbidden },
  {
    ...{ route: "GET /api/teams/{team}/secrets/{secret}", at: { ...red, secret: "MAIL" }, who: "tom" },
    ...{ gives: { name: "MAIL", server: null }, not: "bob", refusal: forbidden },
  },
  {
    ...{ route: "DELETE /api/teams/{team}/secrets/{secret}", at: { ...red, secret: "MAIL" }, who: "tom" },
    ...{ gives: { done: true }, not: "bob", refusal: forbidden },
  },
  // Instances.
  {
    ...{ route: "GET /api/instances", who: "bob", learns: { id: ({ instances }) => instances[0].id } },
    ...{ not: "nobody", refusal: noCredential },
  },
  { route: "GET /api/instances/{id}", who: "bob", gives: { server: "own" }, not: "cid", refusal: noInstance },
  {
    route: "POST /api/instances/{id}/restart",
    who: "bob",
    gives: { status: "online" },
    not: "cid",
    refusal: noInstance,
  },
  {
    route: "POST /api/instances/{id}/refresh",
    who: "bob",
    gives: { status: "online" },
    not: "cid",
    refusal: noInstance,
  },
  {
    ...{ route: "GET /api/instances/{id}/status", query: "?until=online", who: "tom" },
    ...{ not: "cid", refusal: noInstance },
  },
  {
    route: "POST /api/instances/{id}/stop",
    who: "bob",
    gives: { status: "disabled" },
    not: "cid",
    refusal: noInstance,
  },
  { route: "POST /api/instances/{id}/token", who: "bob", not: "cid", refusal: noInstance },
  {
    ...{ route: "GET /api/instances/{id}/token", who: "bob", gives: { tokens: [{ valid: true }] } },
    ...{ not: "cid", refusal: noInstance },
  },
  { route: "DELETE /api/instances/{id}/token", who: "bob", gives: { revoked: 1 }, not: "cid", refusal: noInstance },
  {
    route: "POST /api/instances/{id}/connect",
    who: "bob",
    gives: { hasLogin: false },
    not: "cid",
    refusal: noInstance,
  },
  {
    ...{ route: "GET /api/instances/{id}/login", who: "bob", gives: { hasLogin: false, mayLogIn: true } },
    ...{ not: "cid", refusal: noInstance },
  },
  {
    ...{ route: "DELETE /api/instances/{id}/login", who: "bob", status: 409, gives: { code: "PEOPLE_CONFLICT" } },
    ...{ not: "cid", refusal: noInstance },
  },
  { route: "GET /api/instances/{id}/logs", who: "bob", gives: { nextCursor: null }, not: "cid", refusal: noInstance },
  { route: "GET /api/instances/{id}/events", who: "bob", not: "cid", refusal: noInstance },
  // Records.
  {
    ...{ route: "GET /api/calls", who: "bob", gives: { nextCursor: null } },
    ...{ learns: { id: ({ calls }) => calls[0].id }, not: "nobody", refusal: noCredential },
  },
  { route: "GET /api/calls/{id}", who: "bob", not: "cid", refusal: [404, "RECORD_UNKNOWN"] },
  {
    route: "DELETE /api/calls",
    query: "?all=true",
    who: "tom",
    gives: { isWhole: true },
    not: "bob",
    refusal: forbidden,
  },
  { route: "GET /api/logs", who: "bob", not: "nobody", refusal: noCredential },
  { route: "GET /api/usage", query: "?by=principal", who: "bob", not: "nobody", refusal: noCredential },
  { route: "GET /api/usage/minutes", who: "bob", not: "nobody", refusal: noCredential },
  { route: "GET /api/usage/tokens", who: "bob", not: "nobody", refusal: noCredential },
  { route: "GET /api/audit", query: "?limit=1", who: "tom", gives: { entries: [{}] }, not: "bob", refusal: forbidden },
  { route: "GET /api/audit/verify", who: "ann", gives: { isWhole: true }, not: "olga", refusal: forbidden },
  // Who logs in how.
  {
    ...{ route: "POST /api/auth/clients", who: "ann", body: () => ({ name: "A service" }) },
    ...{ learns: { id: ({ id }) => id }, not: "olga", refusal: forbidden },
  },
  { route: "GET /api/auth/clients", who: "ann", gives: { nextCursor: null }, not: "olga", refusal: forbidden },
  { route: "GET /api/auth/clients/{id}", who: "ann", gives: { hasSecret: true }, not: "olga", refusal: forbidden },
  { route: "DELETE /api/auth/clients/{id}", who: "ann", gives: { done: true }, not: "olga", refusal: forbidden },
  { route: "GET /api/auth/providers", who: "ann", gives: { passwords: true }, not: "olga", refusal: forbidden },
  // The gateway's own.
  { route: "GET /api/system/db", who: "browser", gives: { ok: true }, not: "ann", refusal: notRecent },
  { route: "POST /api/system/keys/rotate", who: "browser", not: "ann", refusal: notRecent },
  {
    ...{ route: "PUT /api/system/backup", who: "owner", statusWithPostgres: 422, body: () => ({ path: backupFile }) },
    ...{ not: "ann", refusal: forbidden },
  },
  { route: "POST /api/system/backup", who: "browser", statusWithPostgres: 422, not: "ann", refusal: notRecent },
  { route: "GET /api/system/people", who: "ann", gives: { users: 8, refusal: null }, not: "olga", refusal: forbidden },
  // How others get in.
  {
    ...{ route: "POST /api/setup-links", who: "browser", body: () => ({ user: "bob" }) },
    ...{ gives: { link: expect.stringContaining("/setup#") as string }, not: "ann", refusal: notRecent },
  },
  {
    ...{ route: "PUT /api/users/{id}/account", at: { id: "bob" }, who: "owner", gives: { done: true } },
    ...{ body: () => ({ issuer: "https://sso.example.com", subject: "7" }), not: "ann", refusal: notRecent },
  },
  {
    ...{
      route: "POST /api/users/{id}/tokens",
      at: { id: "bob" },
      who: "owner",
      status: 201,
      body: () => ({ team: "red", days: 1 }),
    },
    ...{ learns: { id: ({ id }) => id }, not: "ann", refusal: notRecent },
  },
  {
    ...{
      route: "GET /api/tokens",
      query: "?user=bob",
      who: "ann",
      gives: { tokens: expect.arrayContaining([expect.objectContaining({ user: "bob", team: "red" })]) as unknown },
    },
    ...{ not: "olga", refusal: forbidden },
  },
  { route: "DELETE /api/tokens/{id}", who: "ann", gives: { done: true }, not: "olga", refusal: forbidden },
  {
    ...{ route: "GET /api/auth/apps", query: "?user=bob", who: "ann", gives: { apps: [] } },
    ...{ not: "olga", refusal: forbidden },
  },
  {
    ...{ route: "DELETE /api/auth/apps/{id}", at: { id: "none" }, who: "ann", status: 404 },
    ...{ not: "olga", refusal: forbidden },
  },
  {
    ...{ route: "GET /api/auth/sessions", query: "?user=ann", who: "owner", gives: { sessions: [{ user: "ann" }] } },
    ...{ learns: { id: ({ sessions }) => sessions[0].id }, not: "olga", refusal: forbidden },
  },
  {
    ...{ route: "GET /api/teams/{team}/installations/{installation}/members/{member}/values", who: "owner" },
    ...{
      at: { ...mail, member: "bob" },
      gives: { fields: expect.any(Array) as unknown },
      not: "ann",
      refusal: forbidden,
    },
  },
  {
    ...{ route: "PATCH /api/teams/{team}/installations/{installation}/members/{member}/values", who: "owner" },
    ...{
      at: { ...mail, member: "bob" },
      body: () => ({ values: { "env.KEY": "of-bob" } }),
      gives: { fields: expect.any(Array) as unknown },
    },
    ...{ not: "ann", refusal: forbidden },
  },
  { route: "DELETE /api/auth/sessions/{id}", who: "owner", gives: { done: true }, not: "olga", refusal: forbidden },
  // The end of what there was.
  {
    ...{ route: "DELETE /api/teams/{team}/installations/{installation}", at: mail, who: "tom", gives: { done: true } },
    ...{ not: "bob", refusal: forbidden },
  },
  {
    ...{ route: "DELETE /api/users/{id}", at: { id: "dana" }, who: "ann", gives: { done: true } },
    ...{ not: "olga", refusal: forbidden },
  },
  { route: "DELETE /api/teams/{team}", at: { team: "green" }, who: "ann", not: "tom", refusal: noPerson },
];
