import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { afterAll, beforeAll, expect, test } from "vitest";
import { badServer } from "../harness/gateway.ts";
import { until } from "../harness/until.ts";
import { startTeamWorld, type TeamWorld } from "./team-world.ts";

type Name = "ann" | "bob" | "cid";

let world: TeamWorld;
const tokens = {} as Record<Name, string>;
const clients: Client[] = [];

// oxlint-disable-next-line typescript/no-explicit-any -- tests look into whatever came back
async function ask(who: Name, method: string, path: string, body?: object): Promise<any> {
  const headers = { authorization: `Bearer ${tokens[who]}`, "content-type": "application/json" };
  const given = method === "GET" ? {} : { body: JSON.stringify(body ?? {}) };
  return await (await fetch(`${world.url}${path}`, { method, headers, ...given })).json();
}

beforeAll(async () => {
  const works = badServer("--behaviours=env");
  world = await startTeamWorld({
    servers: {
      own: { ...works, scope: "user" },
      far: { type: "http", url: "http://127.0.0.1:9/mcp", scope: "shared" },
    },
  });
  tokens.ann = (await world.ask("user", "add", "ann", "--admin", "--team", "red")).made.token;
  for (const name of ["bob", "cid"] as const)
    tokens[name] = (await world.ask("user", "add", name, "--team", "red")).made.token;
  for (const name of ["bob", "cid"] as const) {
    const client = new Client({ name: `client of ${name}`, version: "1" });
    const requestInit = { headers: { authorization: `Bearer ${tokens[name]}` } };
    await client.connect(new StreamableHTTPClientTransport(new URL(`${world.url}/mcp`), { requestInit }) as never);
    clients.push(client);
  }
});
afterAll(async () => {
  for (const client of clients) await client.close();
  await world[Symbol.asyncDispose]();
});

test("members see the clients and browsers that are theirs, and admins all of them", async () => {
  const names = async (who: Name): Promise<unknown[]> =>
    (await ask(who, "GET", "/api/sessions")).clients
      .map(({ client }: { readonly client: string }) => client)
      .toSorted();
  expect(await names("bob")).toEqual(["client of bob"]);
  expect(await names("cid")).toEqual(["client of cid"]);
  expect(await names("ann")).toEqual(["client of bob", "client of cid"]);
  const login = await fetch(`${world.url}/api/session`, {
    method: "POST",
    headers: { "content-type": "application/json", "user-agent": "Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0" },
    body: JSON.stringify({ token: tokens.bob }),
  });
  const { id } = (await login.json()) as { readonly id: string };
  expect((await ask("bob", "GET", "/api/sessions")).browsers).toMatchObject([{ id, browser: "Firefox on Linux" }]);
  expect((await ask("cid", "GET", "/api/sessions")).browsers).toEqual([]);
  expect((await ask("ann", "GET", "/api/sessions")).browsers).toMatchObject([{ id }]);
  // Another's is not there, and stays.
  expect(await ask("cid", "DELETE", `/api/sessions/${id}`)).toEqual({ ended: false });
  expect((await ask("bob", "GET", "/api/sessions")).browsers).toHaveLength(1);
  expect(await ask("bob", "DELETE", `/api/sessions/${id}`)).toEqual({ ended: true });
  expect((await ask("bob", "GET", "/api/sessions")).browsers).toEqual([]);
});

test("calls have the name of their user, for all who see them", async () => {
  expect((await ask("bob", "POST", "/execute/own:env")).success).toBe(true);
  for (const who of ["bob", "ann"] as const) {
    const [call] = await until(async () => {
      const { calls } = await ask(who, "GET", "/api/calls");
      return calls.length > 0 && calls;
    });
    expect(call).toMatchObject({ name: "own:env", user: "bob" });
    expect(await ask(who, "GET", `/api/calls/${call.id}`)).toMatchObject({ user: "bob" });
  }
  expect((await ask("cid", "GET", "/api/calls")).calls).toEqual([]);
});

test("what a team has is listed with the status of what runs for the asker", async () => {
  const statuses = async (): Promise<Record<string, string | null>> => {
    const { installations } = await ask("bob", "GET", "/api/teams/red/installations");
    type Row = { readonly slug: string; readonly status: string | null };
    return Object.fromEntries(installations.map(({ slug, status }: Row) => [slug, status]));
  };
  await until(async () => (await statuses())["far"] === "offline");
  expect(await statuses()).toEqual({ own: "online", far: "offline" });
});
