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
