import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { addCast, startTeamGateway, type Cast, type TeamGateway } from "../harness/team-gateway.ts";
import { until } from "../harness/until.ts";
import { openDefined, type Defined } from "./defined.ts";

let team: TeamGateway;
let cast: Cast;
let defined: Defined;

beforeAll(async () => {
  defined = await openDefined();
  team = await startTeamGateway({ own: { ...defined.entry, scope: "user" } });
  cast = await addCast(team);
  const file = join(team.directory, "notes.json");
  await writeFile(file, JSON.stringify({ entry: defined.entry }));
  await team.command("template", "add", "notes", "--file", file);
  for (const [token, slug] of [
    [cast.olga, "red"],
    [cast.cid, "blue"],
  ] as const)
    await team.ask(token, "POST", `/api/teams/${slug}/installations`, { body: { template: "notes" } });
});
afterAll(async () => {
  await team[Symbol.asyncDispose]();
  await defined[Symbol.asyncDispose]();
});

const call = async (token: string, path: string): Promise<string> => {
  const { status, json } = await team.ask(token, "POST", `/execute/${encodeURIComponent(path)}`, { body: {} });
  return status === 200 ? "ran" : json.code;
};

test("a change waits by default, and those decide about it who run the team, each about its own", async () => {
  for (const token of [cast.bob, cast.cid]) await until(async () => (await call(token, "notes:plain")) === "ran");
  await until(async () => (await call(cast.bob, "own:plain")) === "ran");
  defined.list([{ name: "plain", description: "Otherwise" }]);
  for (const token of [cast.bob, cast.cid])
    await until(async () => (await call(token, "notes:plain")) === "DEFINITION_HELD");
  await until(async () => (await call(cast.bob, "own:plain")) === "DEFINITION_HELD");

  const listFor = async (token: string) => (await team.ask(token, "GET", "/api/definitions?state=held")).json;
  expect((await listFor(cast.bob)).code).toBe("FORBIDDEN");
  const { servers } = await listFor(cast.tom);
  expect(servers).toMatchObject([{ server: "notes", team: "red", definitions: [{ tool: "plain", state: "held" }] }]);
  expect((await listFor(cast.cid)).servers).toMatchObject([{ server: "notes", team: "blue" }]);
  expect((await listFor(cast.ann)).servers.map(({ server }: { server: string }) => server).toSorted()).toEqual([
    "notes",
    "notes",
    "own",
  ]);

  const [{ id, hash }] = servers;
  const decide = async (token: string, server: string) =>
    (await team.ask(token, "POST", `/api/definitions/${server}/approve`, { body: { hash } })).json;
  expect((await decide(cast.bob, "notes")).code).toBe("FORBIDDEN");
  // Another team's, and one of the file, are not theirs.
  expect((await decide(cast.cid, id)).code).toBe("SERVER_UNKNOWN");
  expect((await decide(cast.tom, "own")).code).toBe("SERVER_UNKNOWN");
  expect((await decide(cast.ann, "notes")).code).toBe("PARAMS_INVALID");
  expect(await decide(cast.tom, "notes")).toEqual({ tools: ["plain"] });
  expect(await call(cast.bob, "notes:plain")).toBe("ran");
  expect(await call(cast.cid, "notes:plain")).toBe("DEFINITION_HELD");
  expect(await decide(cast.ann, "own")).toEqual({ tools: ["plain"] });
  // For everybody who has an instance of it.
  expect(await call(cast.bob, "own:plain")).toBe("ran");
  await until(async () => (await call(cast.tom, "own:plain")) === "ran");
});
