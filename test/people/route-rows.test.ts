import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { RestDeps } from "../../src/front/rest/route.ts";
import { createRoutes } from "../../src/front/rest/rest.ts";
import { askOwner as askTheOwner } from "../harness/owner-door.ts";
import { hasNoPostgres, startPostgres, type Postgres } from "../harness/postgres.ts";
import { addCast, startTeamGateway, type Cast, type TeamGateway, type Told } from "../harness/team-gateway.ts";
import { until } from "../harness/until.ts";
import { callbackUrl, connectApp } from "./app-client.ts";
import { createPageBrowser, type PageBrowser } from "./page-browser.ts";
import { rows, type Ids, type Row, type Who } from "./route-rows.ts";

const password = "correct horse battery";

/** The table has them all; what it has not is of a cluster, or is a stream that no row can wait for. */
const others = ["GET /api/events", "GET /api/protocol", "POST /api/instances/{id}/files"];
const ofTeams =
  /^\/api\/(?:me|users|teams|templates|instances|calls|logs|usage|audit|invites|auth|system|events|protocol|tokens|setup-links)\b/;

test("every route of people, teams, their servers and records has a row that works with it", () => {
  const routes = createRoutes({ version: "0" } as RestDeps).filter(({ path }) => ofTeams.test(path));
  const known = new Set([...rows.map(({ route }) => route), ...others]);
  expect(routes.map(({ method, path }) => `${method} ${path}`).filter((route) => !known.has(route))).toEqual([]);
  expect(routes.length).toBeGreaterThan(60);
});

/** A gateway with people, of whom some have browsers and apps, and one has called a tool. */
async function startWorld(database?: string): Promise<{ team: TeamGateway; cast: Cast; cookie: string }> {
  const team = await startTeamGateway(undefined, database);
  const cast = await addCast(team);
  await team.ask(cast.ann, "POST", "/api/users", { body: { name: "eve", team: "red" } });
  const logIn = async (name: string): Promise<PageBrowser> => {
    const { link } = await team.command("user", "link", name);
    const browser = createPageBrowser({ stopAt: callbackUrl });
    const page = await browser.open(`${team.gateway.url}/setup`);
    await browser.submit(page, { code: link.split("#")[1], password, again: password });
    return browser;
  };
  for (const name of ["bob", "eve"]) await connectApp(team.gateway.url, await logIn(name));
  const again = createPageBrowser();
  await again.submit(await again.open(`${team.gateway.url}/auth/login?next=/account`), { name: "eve", password });
  const { cookies } = await logIn("ann");
  await until(async () => (await team.ask(cast.bob, "POST", "/execute/own%3Aenv", { body: {} })).status === 200);
  await until(async () => (await team.ask(cast.bob, "GET", "/api/calls")).json.calls.length > 0);
  return { team, cast, cookie: `ty_session=${cookies.get("ty_session") ?? ""}` };
}

function describeRows(startDatabase: () => Promise<string | undefined>): void {
  let team: TeamGateway;
  let cast: Cast;
  let cookie: string;
  const ids: Ids = {};
  let hasPostgres = false;
  beforeAll(async () => {
    const database = await startDatabase();
    hasPostgres = database !== undefined;
    ({ team, cast, cookie } = await startWorld(database));
  });
  afterAll(async () => await team[Symbol.asyncDispose]());

  async function askOwner(method: string, path: string, body: object | undefined): Promise<Told> {
    const { status, text } = await askTheOwner(join(team.directory, "data"), method, path, body);
    return { status, text, json: JSON.parse(text) as unknown, headers: new Headers() };
  }

  async function send(who: Who, { route, at = {}, query = "", body }: Row): Promise<Told> {
    const [method = "", path = ""] = route.split(" ");
    const named = path.replaceAll(/\{(\w+)\}/g, (_all, name: string) => {
      const given = at[name] ?? name;
      return encodeURIComponent(ids[given] ?? given);
    });
    if (who === "owner") return await askOwner(method, `${named}${query}`, body?.(ids));
    const headers = who === "browser" ? { cookie } : {};
    const token = who === "browser" || who === "nobody" ? "" : cast[who];
    const asking = method === "GET" ? { headers } : { headers, body: body?.(ids) ?? {} };
    return await team.ask(token, method, `${named}${query}`, asking);
  }

  test.each(rows.map((row) => [row.route, row.who, row.not, row] as const))(
    "%s does its work for %s, and nothing for %s",
    async (_route, _who, _not, row) => {
      const refused = await send(row.not, row);
      expect([refused.status, refused.json?.code]).toEqual(row.refusal);
      const { status, json, text } = await send(row.who, row);
      const wanted = (hasPostgres ? row.statusWithPostgres : undefined) ?? row.status ?? 200;
      expect([status, status === wanted ? "" : text]).toEqual([wanted, ""]);
      if (row.gives !== undefined) expect(json).toMatchObject(row.gives);
      for (const [name, find] of Object.entries(row.learns ?? {})) ids[name] = String(find(json));
    },
  );
}

describe("with SQLite", () => {
  describeRows(async () => await Promise.resolve(undefined));
});

describe.skipIf(hasNoPostgres)("with PostgreSQL", () => {
  let postgres: Postgres;
  describeRows(async () => {
    postgres = await startPostgres();
    return await postgres.createDatabase("yard");
  });
  afterAll(async () => await postgres[Symbol.asyncDispose]());
});
