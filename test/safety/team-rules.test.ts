import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { rpc } from "../harness/rpc.ts";
import { addCast, startTeamGateway, type Cast, type TeamGateway, type Told } from "../harness/team-gateway.ts";
import { until } from "../harness/until.ts";
import { startWebhookReceiver, webhookSettings, type WebhookReceiver } from "../records/webhook-receiver.ts";
import { openNotes, type Notes } from "./notes.ts";

let team: TeamGateway;
let cast: Cast;
let notes: Notes;
let receiver: WebhookReceiver;
// oxlint-disable-next-line typescript/no-explicit-any -- tests look into whatever came back
type Any = any;

const rules = [
  { servers: ["notes"], tools: ["purge_*"], then: "ask", approver: "team-admin" },
  { servers: ["notes"], tools: ["wipe_*"], then: "ask", approver: "admin" },
  { roles: ["member"], servers: ["notes"], tools: ["lead_*"], then: "deny" },
  { servers: ["pr*"], then: "allow" },
];

async function writeConfig(holdMs: number): Promise<void> {
  const toolyard = {
    ...{ approvals: { holdMs }, policy: { rules } },
    events: webhookSettings(receiver, ["approval.*"]),
  };
  await writeFile(team.gateway.configFile, JSON.stringify({ mcpServers: { notes: fileEntry() }, toolyard }));
  await until(async () => {
    const { json } = await team.ask(cast.ann, "GET", "/api/policy/explain?tool=notes:wipe_all");
    return json.approver === "admin";
  });
}

const fileEntry = (): object => ({
  ...notes.entry,
  args: [...notes.entry.args, "wipe_all", "lead_all"],
  scope: "shared",
});

beforeAll(async () => {
  notes = await openNotes();
  receiver = await startWebhookReceiver();
  team = await startTeamGateway({ notes: fileEntry() });
  cast = await addCast(team);
  const file = join(team.directory, "private.json");
  await writeFile(file, JSON.stringify({ entry: { ...notes.entry, tools: { neverAsk: ["delete_*"] } } }));
  await team.command("template", "add", "private", "--file", file);
  for (const [token, slug] of [
    [cast.olga, "red"],
    [cast.cid, "blue"],
  ] as const)
    await team.ask(token, "POST", `/api/teams/${slug}/installations`, { body: { template: "private" } });
  await until(async () => (await call(cast.bob, "notes:read_notes")).status === 200);
  await writeConfig(0);
});
afterAll(async () => {
  await team[Symbol.asyncDispose]();
  await notes[Symbol.asyncDispose]();
  await receiver[Symbol.asyncDispose]();
});

const call = async (token: string, path: string, body: object = {}): Promise<Told> =>
  await team.ask(token, "POST", `/execute/${encodeURIComponent(path)}`, { body });
const codeOf = async (token: string, path: string, body: object = {}): Promise<string> => {
  const { status, json } = await call(token, path, body);
  return status === 200 ? "ran" : json.code;
};
const allow = { body: { decision: "allow" } };
const ran = (tool: string): number => notes.calls().filter((one) => one.startsWith(`["${tool}"`)).length;

test("a call that takes an admin of the team waits for another one, in a browser: no token and no second self", async () => {
  const refused = await call(cast.tom, "notes:purge_notes", { id: 1 });
  expect(refused.json).toMatchObject({ code: "APPROVAL_NEEDED", approver: "team-admin" });
  expect(refused.text).toContain("an admin of the team red, who is not the one that asks");
  const path = `/api/approvals/${refused.json.approval}`;
  // Who asks sees it, and is an admin of the team, and does not decide.
  const shown = (await team.ask(cast.tom, "GET", path)).json;
  expect(shown).toMatchObject({ approver: "team-admin", team: "red", personName: "tom", mayDecide: false });
  const himself = await team.browser("tom");
  expect((await team.ask("", "POST", path, { ...allow, headers: himself })).json).toMatchObject({
    code: "FORBIDDEN",
    detail: expect.stringContaining("another person"),
  });
  // Those with the role see it; with a token, none of them says yes.
  for (const token of [cast.olga, cast.ann]) {
    expect((await team.ask(token, "GET", path)).json).toMatchObject({ mayDecide: true });
    expect((await team.ask(token, "POST", path, allow)).json.code).toBe("FORBIDDEN");
  }
  for (const token of [cast.bob, cast.cid])
    expect((await team.ask(token, "GET", path)).json.code).toBe("APPROVAL_UNKNOWN");
  for (const name of ["bob", "cid"]) {
    const headers = await team.browser(name);
    expect((await team.ask("", "POST", path, { ...allow, headers })).json.code).toBe("APPROVAL_UNKNOWN");
  }
  // From another site a browser sends its cookie, and not what our page sends with it.
  const owner = await team.browser("olga");
  const foreign = { ...owner, origin: "https://evil.example.com", "content-type": "text/plain" };
  expect((await team.ask("", "POST", path, { ...allow, headers: foreign })).status).toBeGreaterThanOrEqual(400);
  expect((await team.ask("", "POST", path, { ...allow, headers: owner })).json).toMatchObject({ state: "granted" });
  // It is tom's yes alone, for this call.
  expect(await codeOf(cast.bob, "notes:purge_notes", { id: 1 })).toBe("APPROVAL_NEEDED");
  expect(await codeOf(cast.tom, "notes:purge_notes", { id: 2 })).toBe("APPROVAL_NEEDED");
  expect(await codeOf(cast.tom, "notes:purge_notes", { id: 1 })).toBe("ran");
  expect(ran("purge_notes")).toBe(1);
  const asked = await until(() =>
    receiver.events.find(
      ({ type, data }) => type === "approval.requested" && (data as Any).tool === "notes:purge_notes",
    ),
  );
  expect(asked).toMatchObject({ team: "red", data: { approver: "team-admin" } });
});

test("a call that takes an admin of the gateway waits for one, and not for the caller in another team", async () => {
  const refused = await call(cast.ann, "notes:wipe_all");
  expect(refused.text).toContain("an admin of the gateway");
  const path = `/api/approvals/${refused.json.approval}`;
  await team.ask(cast.ann, "POST", "/api/teams/blue/members", { body: { user: "ann", role: "admin" } });
  const session = await team.browser("ann");
  for (const of of ["red", "blue"]) {
    const headers = { ...session, "x-toolyard-team": of };
    const { json } = await team.ask("", "POST", path, { ...allow, headers });
    expect([of, json.code, json.detail]).toEqual([of, "FORBIDDEN", expect.stringContaining("another person")]);
  }
  const olga = await team.browser("olga");
  expect((await team.ask("", "POST", path, { ...allow, headers: olga })).json.code).toBe("APPROVAL_UNKNOWN");
  await team.command("user", "add", "root", "--admin", "--team", "blue");
  const root = await team.browser("root");
  expect((await team.ask("", "GET", "/api/approvals?state=waiting", { headers: root })).json.approvals).toEqual(
    expect.arrayContaining([expect.objectContaining({ tool: "notes:wipe_all", mayDecide: true, personName: "ann" })]),
  );
  expect((await team.ask("", "POST", path, { ...allow, headers: root })).json).toMatchObject({ state: "granted" });
  expect(await codeOf(cast.ann, "notes:wipe_all")).toBe("ran");
});

test("the owner of the data directory is somebody else, too", async () => {
  const { json } = await call(cast.bob, "notes:wipe_all", { id: 3 });
  const explained = await team.command("policy", "explain", "notes:wipe_all", "--as", "bob");
  expect(explained).toMatchObject({ verdict: "ask", approver: "admin", rule: "policy.rules[1]" });
  const { approvals } = await team.command("approvals");
  expect(approvals.find(({ id }: Any) => id === json.approval)).toMatchObject({ mayDecide: true });
});

test("a role that is lost and a caller who is removed end what waits, held calls as well", async () => {
  await writeConfig(60_000);
  const waiting = async (name: string): Promise<Any> =>
    await until(async () => {
      const { approvals } = (await team.ask(cast.ann, "GET", "/api/approvals?state=waiting")).json;
      return approvals.find((one: Any) => one.personName === name && one.arguments.includes("held"));
    });
  const stateOf = async (id: string): Promise<string> =>
    (await team.ask(cast.ann, "GET", `/api/approvals/${id}`)).json.state;
  const add = async (name: string, role: string): Promise<string> =>
    (await team.ask(cast.ann, "POST", "/api/users", { body: { name, team: "red", role } })).json.made.token;
  const held = async (token: string): Promise<string> => {
    const given = { name: "execute_mcp_tool", arguments: { tool_path: "notes:wipe_all", arguments: { id: "held" } } };
    const headers = { authorization: `Bearer ${token}` };
    return (await rpc(`${team.gateway.url}/mcp`, "tools/call", given, headers)).text;
  };
  const [lea, rob] = [await add("lea", "admin"), await add("rob", "member")];
  const calls = [held(lea), held(rob)];
  const [ofLea, ofRob] = [await waiting("lea"), await waiting("rob")];
  await team.ask(cast.olga, "PATCH", "/api/teams/red/members/lea", { body: { role: "member" } });
  await until(async () => (await stateOf(ofLea.id)) === "expired");
  await team.ask(cast.olga, "DELETE", "/api/teams/red/members/rob");
  await until(async () => (await stateOf(ofRob.id)) === "expired");
  // Both are answered long before they would have waited for a minute.
  for (const answer of await Promise.all(calls)) expect(answer).not.toContain("ran wipe_all");
  const root = await team.browser("root");
  for (const { id } of [ofLea, ofRob])
    expect((await team.ask("", "POST", `/api/approvals/${id}`, { ...allow, headers: root })).json.code).toBe(
      "APPROVAL_UNKNOWN",
    );
  await writeConfig(0);
});

test("a rule for members is for those who are no more than that", async () => {
  expect(await codeOf(cast.bob, "notes:lead_all")).toBe("TOOL_UNKNOWN");
  for (const token of [cast.tom, cast.olga, cast.ann]) expect(await codeOf(token, "notes:lead_all")).toBe("ran");
  const names = async (token: string): Promise<string> => (await team.ask(token, "GET", "/api/tools")).text;
  expect([(await names(cast.bob)).includes("lead_all"), (await names(cast.tom)).includes("lead_all")]).toEqual([
    false,
    true,
  ]);
});

test("a team's rules make calls of its own servers stricter: at once, for this team, until they are taken away", async () => {
  for (const token of [cast.bob, cast.cid])
    await until(async () => (await codeOf(token, "private:read_notes")) === "ran");
  const own = [
    { servers: ["private", "notes"], tools: ["read_*"], then: "deny" },
    { tools: ["run_code"], when: { mode: ["loud"] }, then: "ask", approver: "team-admin" },
  ];
  const set = async (token: string, list: unknown): Promise<Told> =>
    await team.ask(token, "PATCH", "/api/teams/red", { body: { rules: list } });
  expect((await set(cast.bob, own)).json.code).toBe("FORBIDDEN");
  expect((await set(cast.cid, own)).json.code).toBe("PERSON_UNKNOWN");
  expect((await set(cast.tom, own)).json).toMatchObject({ rules: own });
  // In force with the answer, and for nobody else's servers.
  expect(await codeOf(cast.bob, "private:read_notes")).toBe("TOOL_UNKNOWN");
  expect(await codeOf(cast.bob, "notes:read_notes")).toBe("ran");
  expect(await codeOf(cast.cid, "private:read_notes")).toBe("ran");
  expect(await codeOf(cast.bob, "private:run_code", { mode: "quiet" })).toBe("ran");
  expect((await call(cast.bob, "private:run_code", { mode: "loud" })).json).toMatchObject({
    code: "APPROVAL_NEEDED",
    approver: "team-admin",
  });
  const explained = await team.ask(cast.tom, "GET", "/api/policy/explain?tool=private:read_notes");
  expect(explained.json).toMatchObject({ verdict: "deny", rule: "team red: rules[0]" });
  // They outlive a restart, and are seen and written in a terminal.
  await team.again();
  await until(async () => (await codeOf(cast.cid, "private:read_notes")) === "ran");
  await until(async () => (await codeOf(cast.bob, "private:run_code", { mode: "quiet" })) === "ran");
  expect(await codeOf(cast.bob, "private:read_notes")).toBe("TOOL_UNKNOWN");
  expect(await team.command("team", "rules", "red")).toMatchObject({ rules: own });
  const file = join(team.directory, "rules.json");
  await writeFile(file, "[]");
  expect(await team.command("team", "rules", "red", "--file", file)).toMatchObject({ rules: [] });
  expect(await codeOf(cast.bob, "private:read_notes")).toBe("ran");
});

test("a rule of a team that loosens is refused, and so is one that is wrong; nothing is changed by it", async () => {
  for (const [wrong, said] of [
    [{ tools: ["delete_*"], then: "allow" }, "rules of a team only make calls stricter"],
    [{ then: "deny", servers: [] }, "at least one"],
    [{ then: "deny", roles: ["guest"] }, "expected some of admin"],
    [{ then: "deny", tool: ["x"] }, "tool"],
    [{ tools: ["x"] }, "then"],
    [{ then: "deny", when: { a: ["x".repeat(1_001)] } }, "at most"],
  ] as const) {
    const body = { rules: [{ tools: ["read_*"], then: "deny" }, wrong] };
    const { status, json } = await team.ask(cast.olga, "PATCH", "/api/teams/red", { body });
    expect([status, json.code, json.detail]).toEqual([400, "PARAMS_INVALID", expect.stringContaining(said)]);
  }
  expect((await team.ask(cast.olga, "GET", "/api/teams/red")).json.rules).toEqual([]);
});
