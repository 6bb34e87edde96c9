import { readFileSync, writeFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { rpc } from "../harness/rpc.ts";
import { addCast, startTeamGateway, type Cast, type TeamGateway } from "../harness/team-gateway.ts";
import { until } from "../harness/until.ts";
import { openDefined, type Defined } from "./defined.ts";

let team: TeamGateway;
let cast: Cast;
let defined: Defined;

beforeAll(async () => {
  defined = await openDefined();
  defined.list([{ name: "get_note" }, { name: "delete_note" }, { name: "secret_note" }]);
  const tools = { deny: ["secret_*"] };
  team = await startTeamGateway({ own: { ...defined.entry, scope: "user", definitions: "note", tools } });
  cast = await addCast(team);
  const file = join(team.directory, "notes.json");
  await writeFile(file, JSON.stringify({ entry: { ...defined.entry, definitions: "note" } }));
  await team.command("template", "add", "notes", "--file", file);
  await team.ask(cast.olga, "POST", "/api/teams/red/installations", { body: { template: "notes" } });
  writeProfiles();
  for (const token of [cast.bob, cast.cid])
    await until(async () => (await listed(token, "reading")).includes("own-get_note"));
  await until(async () => (await listed(cast.bob, "reading")).includes("notes-get_note"));
});
afterAll(async () => {
  await team[Symbol.asyncDispose]();
  await defined[Symbol.asyncDispose]();
});

function writeProfiles(): void {
  const config = JSON.parse(readFileSync(team.gateway.configFile, "utf8")) as { toolyard?: object };
  const profiles = { reading: { servers: ["notes", "own"], effects: ["read", "unknown"] }, everything: {} };
  writeFileSync(team.gateway.configFile, JSON.stringify({ ...config, toolyard: { ...config.toolyard, profiles } }));
}

async function flat(token: string, path: string): Promise<string> {
  const headers = { authorization: `Bearer ${token}` };
  return (await rpc(`${team.gateway.url}${path}`, "tools/list", {}, headers)).text;
}

const listed = async (token: string, profile: string): Promise<string> => await flat(token, `/mcp/p/${profile}/flat`);

test("a profile narrows what each person may use, and gives nobody anything", async () => {
  const bob = await listed(cast.bob, "reading");
  expect(bob).toContain("own-get_note");
  expect(bob).not.toMatch(/delete_note|own-secret_note/);
  // Another team did not install it.
  const cid = await listed(cast.cid, "reading");
  expect(cid).toContain("own-get_note");
  expect(cid).not.toContain("notes-");
  // What the entry denies, a profile of everything does not give.
  expect(await listed(cast.bob, "everything")).toContain("own-delete_note");
  expect(await listed(cast.bob, "everything")).not.toContain("own-secret_note");
  const headers = { authorization: `Bearer ${cast.bob}` };
  for (const tool of ["own:secret_note", "notes:delete_note"]) {
    const params = { name: "execute_mcp_tool", arguments: { tool_path: tool } };
    const { text } = await rpc(`${team.gateway.url}/mcp/p/reading`, "tools/call", params, headers);
    expect(text).toContain("in profile reading");
  }
  expect((await rpc(`${team.gateway.url}/mcp/p/reading`, "tools/list")).status).toBe(401);
});

test("a personal token for a profile cannot leave it, is listed as such, and outlives a restart", async () => {
  const made = await team.ask(cast.bob, "POST", "/api/me/tokens", { body: { name: "narrow", profile: "reading" } });
  const token = made.json.token as string;
  const headers = { authorization: `Bearer ${token}` };
  const check = async (): Promise<void> => {
    await until(async () => (await flat(token, "/mcp/flat")).includes("notes-get_note"));
    const names = await flat(token, "/mcp/flat");
    expect(names).toContain("own-get_note");
    expect(names).not.toContain("delete_note");
    for (const path of ["/mcp", "/mcp/server/own"]) {
      const called =
        path === "/mcp"
          ? { name: "execute_mcp_tool", arguments: { tool_path: "own:delete_note" } }
          : { name: "delete_note" };
      expect([path, (await rpc(`${team.gateway.url}${path}`, "tools/call", called, headers)).text]).toEqual([
        path,
        expect.stringContaining("profile reading"),
      ]);
    }
    expect((await team.ask(token, "POST", "/execute/own%3Adelete_note", { body: {} })).status).toBeGreaterThanOrEqual(
      400,
    );
    expect((await rpc(`${team.gateway.url}/mcp/p/everything/flat`, "tools/list", {}, headers)).status).toBe(403);
    // It makes no token that is for more, and manages nothing.
    for (const [method, path] of [
      ["POST", "/api/me/tokens"],
      ["GET", "/api/me/tokens"],
      ["GET", "/api/approvals"],
    ] as const)
      expect([path, (await team.ask(token, method, path, method === "POST" ? { body: {} } : {})).status]).toEqual([
        path,
        403,
      ]);
    expect(defined.ran("delete_note")).toBe(0);
  };
  await check();
  // Its file has no profiles yet: a token for one that is not there has nothing.
  await team.again();
  await until(async () => (await flat(cast.bob, "/mcp/flat")).includes("notes-get_note"));
  expect(await flat(token, "/mcp/flat")).not.toContain("note");
  writeProfiles();
  await check();
  const { tokens } = (await team.ask(cast.bob, "GET", "/api/me/tokens")).json;
  expect(tokens.map(({ profile }: { profile: string | null }) => profile)).toEqual([null, "reading"]);
  const all = await team.command("token", "list", "--user", "bob");
  expect(all.tokens).toContainEqual(expect.objectContaining({ id: made.json.id, profile: "reading" }));
  // In a terminal, and not for a profile that there is not.
  const typed = await team.command("token", "new", "--user", "cid", "--profile", "reading");
  expect(await flat(typed.made.token, "/mcp/flat")).not.toContain("delete_note");
  const wrong = await team.ask(cast.bob, "POST", "/api/me/tokens", { body: { profile: "readding" } });
  expect([wrong.status, wrong.json.code]).toEqual([404, "PROFILE_UNKNOWN"]);
});

test("a token for single servers has in a profile what both have", async () => {
  const made = await team.ask(cast.bob, "POST", "/api/me/tokens", { body: { name: "narrow", only: ["own"] } });
  const token = made.json.token as string;
  const both = await listed(token, "reading");
  expect(both).toContain("own-get_note");
  expect(both).not.toMatch(/notes-|delete_note/);
  const { json } = await team.ask(token, "GET", "/api/profiles");
  expect(json.profiles.map(({ name, servers }: { name: string; servers: string[] }) => [name, servers])).toEqual([
    ["reading", ["own"]],
    ["everything", ["own"]],
  ]);
});
