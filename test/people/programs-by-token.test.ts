import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { badServer } from "../harness/gateway.ts";
import { addCast, startTeamGateway, type Cast, type TeamGateway, type Told } from "../harness/team-gateway.ts";

let team: TeamGateway;
let cast: Cast;
beforeAll(async () => {
  team = await startTeamGateway();
  cast = await addCast(team);
});
afterAll(async () => await team[Symbol.asyncDispose]());

const program = badServer();
const remote = { url: "https://mcp.example.com/mcp" };
const text = JSON.stringify({ mcpServers: { evil: program } });
const npm = { registryType: "npm", identifier: "evil", version: "1.0.0", transport: { type: "stdio" } };

const ways: readonly (readonly [what: string, method: string, path: string, body: object])[] = [
  ["a template of a program", "POST", "/api/templates", { slug: "a", entry: program }],
  ["one of docker", "POST", "/api/templates", { slug: "b", entry: { command: "docker", args: ["run", "x"] } }],
  ["one with a file of variables", "POST", "/api/templates", { slug: "c", entry: { ...remote, envFile: "/etc/x" } }],
  ["one of a package", "POST", "/api/templates", { slug: "d", serverJson: { name: "a/evil", packages: [npm] } }],
  ["an entry", "POST", "/api/servers", { name: "evil", entry: program, test: false }],
  ["a trial", "POST", "/api/servers/test", { name: "evil", entry: program }],
  ["a change of an entry", "PATCH", "/api/servers/own", { command: "/bin/sh" }],
  ["a value of a variable", "PATCH", "/api/servers/own/variables", { values: { NODE_OPTIONS: "--require=/tmp/x" } }],
  ["a server switched on", "POST", "/api/servers/own/enable", {}],
  ["a whole configuration", "PUT", "/api/config", { text }],
  ["an import", "POST", "/api/import", { apply: true }],
];

describe("FAULT 101: a token alone brings in no program, whatever its scope", () => {
  test.each(ways)("%s", async (_what, method, path, body) => {
    const before = await readFile(team.gateway.configFile, "utf8");
    const { etag } = (await team.ask(cast.ann, "GET", "/api/config")).json as { etag: string };
    const told = await team.ask(cast.ann, method, path, { body, headers: { "if-match": etag } });
    expect([told.status, told.json.code]).toEqual([403, "LOGIN_NOT_RECENT"]);
    expect(await readFile(team.gateway.configFile, "utf8")).toBe(before);
  });

  test("a template that is there becomes none of a program, and one of a program gets no other arguments", async () => {
    const headers = await team.browser("ann");
    const byBrowser = async (method: string, path: string, body: object): Promise<Told> =>
      await team.ask("", method, path, { body, headers });
    const made = await byBrowser("POST", "/api/templates", { slug: "mail", entry: program });
    expect(made.status).toBe(200);
    const web = await team.ask(cast.ann, "POST", "/api/templates", { body: { slug: "web", entry: remote } });
    expect(web.status).toBe(200);
    for (const [id, body] of [
      [web.json.id, { entry: program }],
      [made.json.id, { fields: [{ path: "args" }] }],
      [made.json.id, { entry: remote }],
    ] as const) {
      const { status, json } = await team.ask(cast.ann, "PATCH", `/api/templates/${id}`, { body });
      expect([status, json.code]).toEqual([403, "LOGIN_NOT_RECENT"]);
    }
    expect((await team.ask(cast.ann, "PATCH", `/api/templates/${web.json.id}`, { body: { fields: [] } })).status).toBe(
      200,
    );
    expect((await byBrowser("PATCH", `/api/templates/${made.json.id}`, { fields: [{ path: "args" }] })).status).toBe(
      200,
    );
  });
});
