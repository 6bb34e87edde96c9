import { readFileSync, writeFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { addCast, startTeamGateway, type Cast, type TeamGateway } from "../harness/team-gateway.ts";
import { until } from "../harness/until.ts";
import { openNotes, type Notes } from "./notes.ts";

let team: TeamGateway;
let cast: Cast;
let notes: Notes;

beforeAll(async () => {
  notes = await openNotes();
  team = await startTeamGateway({ notes: notes.entry });
  cast = await addCast(team);
  await until(async () => (await call(cast.bob, "read_notes")).status === 200);
});
afterAll(async () => {
  await team[Symbol.asyncDispose]();
  await notes[Symbol.asyncDispose]();
});

const call = async (token: string, tool: string, body: object = {}) =>
  await team.ask(token, "POST", `/execute/notes%3A${tool}`, { body });

test("a yes of a team's member takes their own login; no token, no colleague and no admin says it for them", async () => {
  const refused = await call(cast.bob, "delete_notes", { id: 1 });
  expect([refused.status, refused.json.code]).toEqual([409, "APPROVAL_NEEDED"]);
  const { approvals } = (await team.ask(cast.bob, "GET", "/api/approvals")).json;
  expect(approvals).toMatchObject([{ state: "waiting", tool: "notes:delete_notes" }]);
  const path = `/api/approvals/${approvals[0].id}`;
  const body = { decision: "allow" };
  // A token of the person's own is what the program holds that asks.
  expect((await team.ask(cast.bob, "POST", path, { body })).json.code).toBe("FORBIDDEN");
  for (const token of [cast.ann, cast.olga, cast.tom, cast.cid]) {
    expect((await team.ask(token, "GET", path)).json.code).toBe("APPROVAL_UNKNOWN");
    expect((await team.ask(token, "GET", "/api/approvals")).json).toEqual({ approvals: [] });
    expect((await team.ask(token, "POST", path, { body })).json.code).toBe("FORBIDDEN");
  }
  const foreign = await team.browser("cid");
  expect((await team.ask("", "POST", path, { body, headers: foreign })).json.code).toBe("APPROVAL_UNKNOWN");
  const headers = await team.browser("bob");
  expect((await team.ask("", "POST", path, { body, headers })).json).toMatchObject({ state: "granted" });
  // The yes is for that person.
  expect((await call(cast.tom, "delete_notes", { id: 1 })).json.code).toBe("APPROVAL_NEEDED");
  expect((await call(cast.bob, "delete_notes", { id: 1 })).status).toBe(200);
  expect(notes.calls().filter((ran) => ran.includes('"delete_notes"'))).toHaveLength(1);
});

test("mcp:approve answers calls of others over REST, by those with the role, and never those of its own membership", async () => {
  const rules = [{ tools: ["purge_*"], then: "ask", approver: "team-admin" }];
  const config = JSON.parse(readFileSync(team.gateway.configFile, "utf8"));
  writeFileSync(team.gateway.configFile, JSON.stringify({ ...config, toolyard: { policy: { rules } } }));
  await until(async () => {
    const { json } = await team.ask(cast.ann, "GET", "/api/policy/explain?tool=notes:purge_notes");
    return json.approver === "team-admin";
  });
  const scopes = ["mcp:approve"];
  // No token makes it, however much that may, and no admin makes it for somebody else.
  for (const token of [cast.olga, cast.ann])
    expect((await team.ask(token, "POST", "/api/me/tokens", { body: { scopes } })).json.code).toBe("FORBIDDEN");
  const ofAnn = await team.browser("ann");
  const forOlga = await team.ask("", "POST", "/api/users/olga/tokens", { body: { scopes }, headers: ofAnn });
  expect(forOlga.json.code).toBe("FORBIDDEN");
  const make = async (name: string, more: object = {}): Promise<string> => {
    const headers = { ...(await team.browser(name)), ...more };
    const { json, text } = await team.ask("", "POST", "/api/me/tokens", { body: { scopes }, headers });
    return (json?.token as string | undefined) ?? expect.fail(text);
  };
  const [tom, olga] = [await make("tom"), await make("olga")];
  const bob = (await team.command("token", "new", "--user", "bob", "--scope", "mcp:approve")).made.token as string;
  const id = async (token: string, tool: string, number: number): Promise<string> =>
    (await call(token, tool, { id: number })).json.approval as string;
  const decide = async (token: string, approval: string): Promise<string> => {
    const { json } = await team.ask(token, "POST", `/api/approvals/${approval}`, { body: { decision: "allow" } });
    return (json.state ?? json.code) as string;
  };
  // An ordinary token has it by no role, and a browser at another site sends nothing that counts.
  const ofTom = await id(cast.tom, "purge_notes", 7);
  for (const token of [cast.tom, cast.olga, cast.ann]) expect(await decide(token, ofTom)).toBe("FORBIDDEN");
  const headers = { ...(await team.browser("olga")), origin: "https://evil.example.com", "content-type": "text/plain" };
  const forged = await team.ask("", "POST", `/api/approvals/${ofTom}`, { body: { decision: "allow" }, headers });
  expect(forged.status).toBeGreaterThanOrEqual(400);
  // One of the same membership, and of somebody without the role.
  expect([await decide(tom, ofTom), await decide(bob, ofTom)]).toEqual(["FORBIDDEN", "APPROVAL_UNKNOWN"]);
  expect(await decide(olga, ofTom)).toBe("granted");
  expect((await call(cast.tom, "purge_notes", { id: 7 })).status).toBe(200);
  const { approvals } = (await team.ask(olga, "GET", "/api/approvals")).json;
  expect(approvals.find((one: { id: string }) => one.id === ofTom)).toMatchObject({ decidedVia: "api" });
  // A yes of one's own: not by a token of the membership that calls, but by one for another team.
  const own = await id(cast.bob, "delete_notes", 8);
  expect([await decide(bob, own), await decide(olga, own)]).toEqual(["FORBIDDEN", "APPROVAL_UNKNOWN"]);
  await team.ask(cast.ann, "POST", "/api/teams/blue/members", { body: { user: "bob", role: "member" } });
  const elsewhere = await make("bob", { "x-toolyard-team": "blue" });
  expect(await decide(elsewhere, own)).toBe("granted");
  // It calls nothing.
  expect((await call(elsewhere, "read_notes")).json.code).toBe("SCOPE_INSUFFICIENT");
});
