import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createRoutes } from "../../src/front/rest/rest.ts";
import { openOwnerSocket } from "../../src/cli/gateway/owner-client.ts";
import type { RestDeps, Route } from "../../src/front/rest/route.ts";
import { loadDriver } from "../../src/store/sql/sqlite/sql-driver.ts";
import { addCast, startTeamGateway, type Cast, type TeamGateway, type Told } from "../harness/team-gateway.ts";
import { askOwner } from "../harness/owner-door.ts";
import { locksIn, onlyPlace } from "../harness/places.ts";
import { until } from "../harness/until.ts";

/** The routes of the router itself: listing them calls none of what they work with. */
const routes = createRoutes({ version: "0" } as RestDeps);

let team: TeamGateway;
let cast: Cast;
let tokens: Readonly<Record<Who, string>>;
let expired = "";

type Who = keyof Cast | "reader" | "caller" | "limited";

beforeAll(async () => {
  team = await startTeamGateway();
  cast = await addCast(team);
  const make = async (body: object): Promise<string> =>
    (await team.ask(cast.ann, "POST", "/api/me/tokens", { body })).json.token;
  tokens = {
    ...cast,
    reader: await make({ scopes: ["mcp:read"] }),
    caller: await make({ scopes: ["mcp:tools:execute"] }),
    limited: await make({ only: ["own"] }),
  };
  const made = (await team.ask(cast.ann, "POST", "/api/me/tokens", { body: { name: "old" } })).json;
  expired = made.token;
  await team.again(async () => {
    const database = loadDriver(team.directory).open(join(onlyPlace(join(team.directory, "data")), "state.db"));
    database.prepare("update pat set expires_at_ms = 1 where id = ?").run(made.id);
    database.close();
    await Promise.resolve();
  });
});
afterAll(async () => await team[Symbol.asyncDispose]());

/** Nothing is changed: no id is anything's, and no revision fits. */
const unchanging = { headers: { "if-match": '"0.none"' }, body: {} };

async function request(token: string, method: string, path: string): Promise<Told> {
  // A stream would not end; its head says the same.
  const verb = path === "/api/events" || path === "/api/protocol" ? "HEAD" : method;
  const isRead = verb === "GET" || verb === "HEAD";
  return await team.ask(token, verb, path, isRead ? { headers: unchanging.headers } : unchanging);
}

function pathOf(path: string, teamName: string): string {
  return path
    .replace("{team}", teamName)
    .replaceAll(/\{\w+\}/g, "nothing")
    .replace("*", "mcp");
}

/** Who passes, written down once more: by hand, and not by the code that decides. */
const passing: Readonly<Record<string, readonly (keyof Cast)[]>> = {
  anyone: ["ann", "olga", "tom", "bob", "cid"],
  member: ["ann", "olga", "tom", "bob"],
  "team-admin": ["ann", "olga", "tom"],
  "team-owner": ["ann", "olga"],
  admin: ["ann"],
  // Only through the door of the data directory's owner.
  owner: [],
};

describe.each(
  routes.flatMap((route) => (route.isPublic === true ? [] : [[route.method, route.path, route.right] as const])),
)("%s %s", (method, path, right) => {
  const inRed = pathOf(path, "red");

  test("lets nobody in without a credential that is valid", async () => {
    for (const token of ["", "ty_pat_0", `ty_pat_${"0".repeat(64)}`, expired]) {
      const { status, headers } = await request(token, method, inRed);
      expect([token.length, status]).toEqual([token.length, 401]);
      expect(headers.get("www-authenticate")).toContain('error="invalid_token"');
    }
  });

  test("lets those in whose role it takes, and no others", async () => {
    for (const who of passing["anyone"] ?? []) {
      const { status, json } = await request(tokens[who], method, inRed);
      // Where the path names no team it is one's own, and cid owns blue.
      const isOwn = who === "cid" && !path.includes("{team}") && right.role.startsWith("team");
      const may = passing[right.role]?.includes(who) === true || isOwn;
      const isForeign = who === "cid" && path.includes("{team}") && !["anyone", "admin", "owner"].includes(right.role);
      const isRefused = status === 401 || (status === 403 && json?.code === "FORBIDDEN");
      if (isForeign) expect([who, status, json?.code]).toEqual([who, 404, "PERSON_UNKNOWN"]);
      // Of a browser that has logged in: a token alone is none.
      else if (path === "/api/session") expect(status).toBe(401);
      // By a person's own login, as a yes is said.
      else if (method === "DELETE" && path === "/api/flows") expect([status, json?.code]).toEqual([403, "FORBIDDEN"]);
      else if (path.includes("{team}") && who === "cid") expect(status).toBeGreaterThanOrEqual(403);
      else expect([who, status, isRefused]).toEqual([who, status, !may]);
      // A token is no login of the last minutes, whoever's it is.
      if (may && right.recent === true) expect([status, json?.code]).toEqual([403, "LOGIN_NOT_RECENT"]);
    }
  });

  test("FAULT 101: asks for the whole scope that it takes, and says which", async () => {
    const order = ["mcp:read", "mcp:tools:execute", "mcp:admin"];
    for (const [who, has] of [
      ["reader", "mcp:read"],
      ["caller", "mcp:tools:execute"],
    ] as const) {
      const { status, json, headers } = await request(tokens[who], method, inRed);
      const isEnough = order.indexOf(has) >= order.indexOf(right.scope);
      if (isEnough) expect(json?.code).not.toBe("SCOPE_INSUFFICIENT");
      else {
        const scope = order.slice(0, order.indexOf(right.scope) + 1).join(" ");
        // What only HEAD can ask says it in the header alone.
        expect([status, json?.code ?? "SCOPE_INSUFFICIENT"]).toEqual([403, "SCOPE_INSUFFICIENT"]);
        expect(headers.get("www-authenticate")).toContain(`error="insufficient_scope", scope="${scope}"`);
      }
    }
  });

  test("is for a token for single servers only where nothing else is shown", async () => {
    const { status, json } = await request(tokens.limited, method, inRed);
    const isRefused = status === 403 && json?.code !== "SCOPE_INSUFFICIENT";
    expect([status, isRefused]).toEqual([status, right.limited !== true]);
  });
});

/** Requests of routes that also take others: these need a login of the last minutes. */
const recentOnes = [
  ["POST", "/api/users", { name: "mallory", admin: true }],
  ["POST", "/api/users", { name: "mallory", email: "mallory@example.com" }],
  ["PUT", "/api/users/bob/role", { role: "admin" }],
  ["PATCH", "/api/users/ann", { email: "mallory@example.com" }],
] as const;

test.each(recentOnes)(
  "FAULT 101: %s %s with %j takes a new login, whoever's the token is",
  async (method, path, body) => {
    const codeWith = async (who: Who): Promise<unknown[]> => {
      const { status, json } = await team.ask(tokens[who], method, path, { body });
      return [who, status, json?.code];
    };
    expect(await codeWith("ann")).toEqual(["ann", 403, "LOGIN_NOT_RECENT"]);
    for (const who of ["olga", "tom", "bob", "cid", "limited"] as const)
      expect(await codeWith(who)).toEqual([who, 403, "FORBIDDEN"]);
    for (const who of ["reader", "caller"] as const)
      expect(await codeWith(who)).toEqual([who, 403, "SCOPE_INSUFFICIENT"]);
    const { users } = (await team.ask(tokens.ann, "GET", "/api/users")).json as {
      users: readonly { readonly name: string; readonly role: string; readonly email: string | null }[];
    };
    expect(users.filter(({ role }) => role === "admin")).toMatchObject([{ name: "ann", email: null }]);
    expect(users.map(({ name }) => name)).not.toContain("mallory");
  },
);

test("every route says who may use it, or needs no credential at all: and those are these", () => {
  const open = routes.flatMap((route) => (route.isPublic === true ? [`${route.method} ${route.path}`] : []));
  expect(open.sort()).toEqual([
    "GET /.well-known/oauth-protected-resource",
    "GET /.well-known/oauth-protected-resource/*",
    "GET /api/session/login",
    "GET /documentation",
    "GET /documentation/json",
    "GET /documentation/style.css",
    "GET /openapi.json",
    "POST /api/invites/accept",
    "POST /api/session",
  ]);
  expect(routes.length).toBeGreaterThan(50);
});

test("FAULT 94: what is another team's is answered byte for byte as what is nowhere", async () => {
  const { ask } = team;
  const call = await ask(cast.bob, "POST", "/execute/own%3Aenv", { body: {} });
  expect(call.status).toBe(200);
  const calls = await until(async () => {
    const found = (await ask(cast.bob, "GET", "/api/calls")).json.calls as { id: string }[];
    return found.length > 0 && found;
  });
  const [instance] = (await ask(cast.bob, "GET", "/api/instances")).json.instances as { id: string }[];
  const me = (await ask(cast.bob, "GET", "/api/me")).json;
  const [token] = (await ask(cast.bob, "GET", "/api/me/tokens")).json.tokens as { id: string }[];
  const invite = (await ask(cast.olga, "POST", "/api/teams/red/invites", { body: {} })).json;
  const real: Readonly<Record<string, string>> = {
    team: "red",
    member: me.id,
    id: "",
    slug: "own",
  };
  const ids: Readonly<Record<string, string>> = {
    "/api/me/tokens/": String(token?.id),
    "/api/calls/": String(calls[0]?.id),
    "/api/instances/": String(instance?.id),
    "/api/users/": String(me.user.id),
    "/api/teams/": String(invite.id),
    // Those that there are: test/safety/team-approvals.test.ts.
    "/api/approvals/": "a1234567890abcdefghijkmnpqr",
    "/api/grants/": "g1234567890abcdefghijkmnpqr",
  };
  for (const { method, path, isPublic } of routes) {
    if (isPublic === true || !/\{(?:team|member|id)\}/.test(path)) continue;
    const id = Object.entries(ids).find(([start]) => path.startsWith(start))?.[1] ?? "";
    const theirs = path
      .replace("{id}", encodeURIComponent(id))
      .replaceAll(/\{(\w+)\}/g, (_all, name) => real[name] ?? "nothing");
    // As long as a real one, in the same form.
    const noId = id
      .replaceAll(/[0-9a-z]{10,}/g, (text) => "0".repeat(text.length))
      .replace(/^\d+$/, "9007199254740991");
    const nowhere = path
      .replace("{id}", encodeURIComponent(noId))
      .replace("{team}", "nix")
      .replace("{member}", "m_00000000000000000000000000")
      .replaceAll(/\{\w+\}/g, "nothing");
    const [asked, control] = [await request(cast.cid, method, theirs), await request(cast.cid, method, nowhere)];
    expect([method, path, asked.status, asked.text]).toEqual([method, path, control.status, control.text]);
    if (path.startsWith("/api/users")) expect(asked.status).toBe(403);
    else expect([method, path, asked.status >= 400 && asked.status < 500]).toEqual([method, path, true]);
  }
  // All of it is there for bob, or for who runs his team.
  expect((await ask(cast.bob, "GET", `/api/instances/${String(instance?.id)}`)).status).toBe(200);
  expect((await ask(cast.bob, "GET", `/api/teams/red/members/${String(me.id)}`)).status).toBe(200);
  expect((await ask(cast.olga, "DELETE", `/api/teams/red/invites/${String(invite.id)}`)).status).toBe(200);
});

describe("the owner of the data directory", () => {
  const dataDir = (): string => join(team.directory, "data");
  const secret = (): string => locksIn(dataDir())[0]?.secret ?? "";

  test("may use every route, and is one person more", async () => {
    const refused: string[] = [];
    for (const { method, path, isPublic, isStream } of routes as readonly (Route & { readonly isStream?: boolean })[]) {
      // What has no end, is no JSON, or is of a browser that is logged in.
      if (isPublic === true || isStream === true || /\/(?:session|backup)$/.test(path)) continue;
      const { status, text } = await askOwner(
        dataDir(),
        method,
        pathOf(path, "red"),
        method === "GET" ? undefined : {},
      );
      if (status === 401 || (status === 403 && !/config|import|commands/.test(path)))
        refused.push(`${method} ${path} ${status} ${text}`);
    }
    expect(refused).toEqual([]);
  });

  test("is nobody who comes any other way, whatever they bring", async () => {
    const ownersOnly = routes.filter((one) => one.isPublic !== true && one.right.role === "owner");
    expect(ownersOnly.length).toBeGreaterThan(1);
    for (const { method, path } of ownersOnly)
      for (const headers of [
        { authorization: `Bearer ${secret()}` },
        { authorization: `Bearer ${secret()}`, "toolyard-endpoint": "/mcp", "x-forwarded-for": "127.0.0.1" },
        { authorization: `Bearer ${tokens.ann}`, "x-toolyard-owner": secret(), via: "owner" },
      ]) {
        const body = method === "GET" ? {} : { body: {} };
        const { status } = await team.ask("", method, pathOf(path, "red"), { headers, ...body });
        expect([path, status >= 401 && status <= 403]).toEqual([path, true]);
      }
  });

  test("gets in with the secret alone, and to nothing but REST", async () => {
    await expect(
      openOwnerSocket({ pid: 1, url: team.gateway.url, secret: `${secret()}x` }, "rest", "/mcp"),
    ).rejects.toThrow("refused (403)");
    expect((await askOwner(dataDir(), "POST", "/mcp", {})).status).toBe(404);
    expect(JSON.parse((await askOwner(dataDir(), "GET", "/api/me")).text)).toMatchObject({ via: "owner", team: null });
  });
});
