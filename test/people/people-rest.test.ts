import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { addCast, startTeamGateway, type Cast, type TeamGateway, type Told } from "../harness/team-gateway.ts";

let team: TeamGateway;
let cast: Cast;
beforeAll(async () => {
  team = await startTeamGateway();
  cast = await addCast(team);
});
afterAll(async () => await team[Symbol.asyncDispose]());

const on = async (who: string, method: string, path: string, body: unknown = {}, headers = {}): Promise<Told> =>
  await team.ask(who, method, path, method === "GET" ? { headers } : { body, headers });

interface Fresh {
  readonly id: string;
  readonly member: string;
  readonly token: string;
}

let made = 0;

/** Somebody new in a team. */
async function add(role: string, slug = "red"): Promise<Fresh & { readonly name: string }> {
  const name = `new-${(made += 1)}`;
  const { json } = await on(cast.ann, "POST", "/api/users", { name, team: slug, role });
  return { name, id: json.user.id, member: json.user.teams[0].membership, token: json.made.token };
}

const codeOf = ({ status, json }: Told): unknown[] => [status, json?.code];

test("what is made is answered with 201 and the address at which it is from then on", async () => {
  const { user } = (await on(cast.ann, "POST", "/api/users", { name: "fresh" })).json;
  const makings: readonly [string, object][] = [
    ["/api/users", { name: "fresher" }],
    ["/api/teams", { slug: "zz-fresh" }],
    ["/api/teams/red/members", { user: user.name }],
    ["/api/teams/red/invites", {}],
    ["/api/me/tokens", { name: "fresh" }],
  ];
  for (const [path, body] of makings) {
    const { status, headers } = await on(cast.ann, "POST", path, body);
    const location = headers.get("location") ?? "";
    expect([path, status, location.startsWith(`${team.gateway.url}${path}/`)]).toEqual([path, 201, true]);
    // An invitation is never shown again, and can be taken back there.
    const there = await on(cast.ann, path.endsWith("/invites") ? "DELETE" : "GET", new URL(location).pathname);
    expect([path, there.status]).toEqual([path, 200]);
  }
});

describe("who manages whom", () => {
  test("admins of a team manage its members, its owners manage its admins, and nobody changes their own role", async () => {
    const [member, other] = [await add("member"), await add("admin")];
    const path = ({ member: id }: Fresh): string => `/api/teams/red/members/${id}`;
    const to = async (who: string, whom: Fresh, role: string): Promise<Told> =>
      await on(who, "PATCH", path(whom), { role });
    expect(codeOf(await to(cast.bob, member, "admin"))).toEqual([403, "FORBIDDEN"]);
    expect(codeOf(await to(cast.tom, member, "admin"))).toEqual([403, "FORBIDDEN"]);
    expect(codeOf(await to(cast.tom, other, "member"))).toEqual([403, "FORBIDDEN"]);
    expect((await to(cast.olga, member, "admin")).json).toMatchObject({ role: "admin", user: member.name });
    expect(codeOf(await to(cast.olga, member, "owner"))).toEqual([403, "FORBIDDEN"]);
    expect(codeOf(await to(member.token, member, "member"))).toEqual([403, "FORBIDDEN"]);
    expect((await to(cast.olga, member, "member")).json).toMatchObject({ role: "member" });
    expect(codeOf(await on(cast.tom, "DELETE", path(other)))).toEqual([403, "FORBIDDEN"]);
    expect((await on(cast.tom, "DELETE", path(member))).status).toBe(200);
    expect((await on(member.token, "GET", "/api/me")).status).toBe(401);
    const me = (await on(cast.olga, "GET", "/api/me")).json.id as string;
    expect(codeOf(await on(cast.olga, "PATCH", `/api/teams/red/members/${me}`, { role: "member" }))).toEqual([
      403,
      "FORBIDDEN",
    ]);
  });

  test("a member may leave, an owner hands the team over first, and is an admin of it then", async () => {
    const [owner, heir] = [await add("owner", "blue"), await add("member", "blue")];
    const path = "/api/teams/blue";
    expect(codeOf(await on(owner.token, "DELETE", `${path}/members/${owner.member}`))).toEqual([403, "FORBIDDEN"]);
    expect(codeOf(await on(heir.token, "PUT", `${path}/owner`, { member: heir.member }))).toEqual([403, "FORBIDDEN"]);
    expect((await on(owner.token, "PUT", `${path}/owner`, { member: heir.member })).status).toBe(200);
    expect((await on(heir.token, "GET", "/api/me")).json).toMatchObject({ roles: ["member", "team-owner"] });
    expect((await on(owner.token, "GET", "/api/me")).json).toMatchObject({ roles: ["member", "team-admin"] });
    // Every owner before is an admin now, cid too, and may leave.
    expect((await on(owner.token, "DELETE", `${path}/members/${owner.member}`)).status).toBe(200);
    const cid = (await on(cast.cid, "GET", "/api/me")).json.id as string;
    expect((await on(cast.ann, "PUT", `${path}/owner`, { member: cid })).status).toBe(200);
  });

  test("the last admin stays, whichever way goes about it, and nobody makes themselves one", async () => {
    const ann = (await on(cast.ann, "GET", "/api/me")).json;
    const path = `/api/users/${ann.user.id as string}`;
    expect(codeOf(await on(cast.ann, "POST", `${path}/disable`))).toEqual([409, "PEOPLE_CONFLICT"]);
    expect(codeOf(await on(cast.ann, "PUT", `${path}/role`, { role: "user" }))).toEqual([403, "FORBIDDEN"]);
    expect(codeOf(await on(cast.ann, "DELETE", path))).toEqual([403, "FORBIDDEN"]);
    expect(codeOf(await on(cast.ann, "DELETE", `/api/teams/red/members/${ann.id as string}`))).toEqual([
      409,
      "PEOPLE_CONFLICT",
    ]);
    expect(codeOf(await on(cast.ann, "DELETE", "/api/teams/red"))).toEqual([409, "PEOPLE_CONFLICT"]);
    const second = await add("member");
    expect(codeOf(await on(second.token, "PUT", `/api/users/${second.id}/role`, { role: "admin" }))).toEqual([
      403,
      "FORBIDDEN",
    ]);
    const byToken = await on(cast.ann, "PUT", `/api/users/${second.id}/role`, { role: "admin" });
    expect(codeOf(byToken)).toEqual([403, "LOGIN_NOT_RECENT"]);
    await team.command("user", "role", second.name, "--role", "admin");
    expect((await on(second.token, "GET", "/api/users")).status).toBe(200);
    expect((await on(cast.ann, "PUT", `/api/users/${second.id}/role`, { role: "user" })).json.role).toBe("user");
    expect((await on(second.token, "GET", "/api/users")).status).toBe(403);
  });
});

describe("invitations", () => {
  const invite = async (who: string, body: object = {}): Promise<Told> =>
    await on(who, "POST", "/api/teams/red/invites", body);

  test("are good once: for an account that is made, or for whoever has one", async () => {
    const { secret, id } = (await invite(cast.tom, { about: "the new one" })).json as { secret: string; id: string };
    expect(secret).toMatch(/^ty_inv_[0-9a-f]{64}$/);
    const shown = (await on(cast.tom, "GET", "/api/teams/red/invites")).text;
    expect([shown.includes(id), shown.includes("the new one"), shown.includes(secret)]).toEqual([true, true, false]);
    const joined = await on("", "POST", "/api/invites/accept", { secret, name: "dora" });
    expect(joined.json).toMatchObject({ user: "dora", team: "red" });
    const dora = joined.json.made.token as string;
    expect((await on(dora, "GET", "/api/me")).json).toMatchObject({ team: "red", roles: ["member"] });
    const again = await on("", "POST", "/api/invites/accept", { secret, name: "dora-2" });
    const never = await on("", "POST", "/api/invites/accept", { secret: "ty_inv_0", name: "dora-2" });
    expect([again.status, again.text]).toEqual([404, never.text]);

    const second = (await invite(cast.olga, { role: "admin" })).json.secret as string;
    const cid = await on(cast.cid, "POST", "/api/invites/accept", { secret: second });
    expect(cid.json).toMatchObject({ user: "cid", team: "red" });
    // A token for each team: one shows nothing of the other.
    const inRed = (await on(cid.json.made.token as string, "GET", "/api/me")).json;
    expect(inRed).toMatchObject({ team: "red", roles: ["member", "team-admin"], teams: [{ team: "red" }] });
    expect((await on(cast.cid, "GET", "/api/me")).json.teams).toMatchObject([{ team: "blue" }]);
    await on(cast.olga, "DELETE", `/api/teams/red/members/${inRed.id as string}`);
  });

  test("are nobody's to make who may not give that role, and end with the right of whoever made them", async () => {
    expect(codeOf(await invite(cast.bob))).toEqual([403, "FORBIDDEN"]);
    expect(codeOf(await invite(cast.tom, { role: "admin" }))).toEqual([403, "FORBIDDEN"]);
    expect(codeOf(await invite(cast.olga, { role: "owner" }))).toEqual([403, "FORBIDDEN"]);
    const admin = await add("admin");
    const { secret } = (await invite(admin.token)).json as { secret: string };
    await on(cast.olga, "DELETE", `/api/teams/red/members/${admin.member}`);
    expect(codeOf(await on("", "POST", "/api/invites/accept", { secret, name: "late" }))).toEqual([
      404,
      "PERSON_UNKNOWN",
    ]);
  });

  test("are taken back, refused with a limited credential, and not taken by a program that sends a page", async () => {
    const { secret, id } = (await invite(cast.tom)).json as { secret: string; id: string };
    const reader = (await on(cast.bob, "POST", "/api/me/tokens", { scopes: ["mcp:read"] })).json.token as string;
    expect(codeOf(await on(reader, "POST", "/api/invites/accept", { secret }))).toEqual([403, "SCOPE_INSUFFICIENT"]);
    expect((await on("ty_pat_0", "POST", "/api/invites/accept", { secret, name: "x" })).status).toBe(401);
    const huge = await on("", "POST", "/api/invites/accept", { secret, name: "x".repeat(20_000) });
    expect(codeOf(huge)).toEqual([413, "BODY_TOO_LARGE"]);
    const plain = await on("", "POST", "/api/invites/accept", { secret }, { "content-type": "text/plain" });
    expect(plain.status).toBe(415);
    expect((await on(cast.tom, "DELETE", `/api/teams/red/invites/${id}`)).status).toBe(200);
    expect(codeOf(await on("", "POST", "/api/invites/accept", { secret, name: "x" }))).toEqual([404, "PERSON_UNKNOWN"]);
  });
});

describe("changes", () => {
  test("are refused when somebody else came first, with what the revision is now", async () => {
    const someone = await add("member");
    const path = `/api/users/${someone.id}`;
    const etag = String((await on(cast.ann, "GET", path)).headers.get("etag"));
    expect((await on(cast.ann, "GET", path, {}, { "if-none-match": etag })).status).toBe(304);
    const renamed = await on(cast.ann, "PATCH", path, { name: "first-come" }, { "if-match": etag });
    expect([renamed.status, renamed.json.name]).toEqual([200, "first-come"]);
    const late = await on(cast.ann, "PATCH", path, { name: "late-come" }, { "if-match": etag });
    expect(late.json).toMatchObject({ status: 412, code: "REVISION_MISMATCH", revision: 2, expected: 1 });
    const now = String(renamed.headers.get("etag"));
    expect((await on(cast.ann, "PATCH", path, { name: "late-come" }, { "if-match": now })).status).toBe(200);
    expect((await on(cast.ann, "PATCH", path, { name: "x" }, { "if-match": '"made-up"' })).status).toBe(412);
    const member = `/api/teams/red/members/${someone.member}`;
    expect((await on(cast.ann, "DELETE", member, {}, { "if-match": '"7.x"' })).status).toBe(412);
    expect((await on(cast.ann, "DELETE", member, {}, { "if-match": "*" })).status).toBe(200);
  });

  test("stand in the audit, which admins see whole, a team's admins for their team, and members not at all", async () => {
    const someone = await add("member");
    await on(cast.olga, "PATCH", `/api/teams/red/members/${someone.member}`, { role: "admin" });
    const entries = (told: Told): { action: string; team: string; actor: string; object: string; detail: string }[] =>
      told.json.entries;
    const whole = entries(await on(cast.ann, "GET", "/api/audit?action=team.member.role&limit=1"));
    const olga = (await on(cast.olga, "GET", "/api/me")).json.id as string;
    expect(whole).toMatchObject([{ actor: olga, team: "red", object: someone.name, outcome: "ok", via: "rest" }]);
    expect(JSON.parse(whole[0]?.detail ?? "")).toEqual({ from: "member", to: "admin" });
    expect(entries(await on(cast.tom, "GET", "/api/audit")).every((entry) => entry.team === "red")).toBe(true);
    expect(entries(await on(cast.cid, "GET", "/api/audit")).every((entry) => entry.team === "blue")).toBe(true);
    expect(entries(await on(cast.cid, "GET", "/api/audit?team=red"))).toEqual([]);
    expect(codeOf(await on(cast.bob, "GET", "/api/audit"))).toEqual([403, "FORBIDDEN"]);
    const { json } = await on(cast.ann, "GET", "/api/audit/verify");
    expect(json).toMatchObject({ isWhole: true });
  });

  test("keep to a team's limits, which only an admin of the gateway sets", async () => {
    await on(cast.ann, "POST", "/api/teams", { slug: "small", title: "Small" });
    const first = await add("owner", "small");
    const limits = { limits: { members: 1, servers: 3, programs: 2 } };
    expect(codeOf(await on(first.token, "PATCH", "/api/teams/small", limits))).toEqual([403, "FORBIDDEN"]);
    expect((await on(first.token, "PATCH", "/api/teams/small", { title: "Tiny" })).json.title).toBe("Tiny");
    expect((await on(cast.ann, "PATCH", "/api/teams/small", limits)).json).toMatchObject({ ...limits, members: 1 });
    const second = await on(cast.ann, "POST", "/api/users", { name: "second", team: "small" });
    expect(codeOf(second)).toEqual([409, "PEOPLE_CONFLICT"]);
    // Nothing of a change that was refused is there.
    expect(codeOf(await on(cast.ann, "GET", "/api/users/second"))).toEqual([404, "PERSON_UNKNOWN"]);
    const { secret } = (await on(first.token, "POST", "/api/teams/small/invites")).json as { secret: string };
    expect(codeOf(await on("", "POST", "/api/invites/accept", { secret, name: "second" }))[0]).toBe(409);
    await on(cast.ann, "PATCH", "/api/teams/small", { limits: {} });
    expect((await on("", "POST", "/api/invites/accept", { secret, name: "second" })).status).toBe(200);
    expect((await on(first.token, "DELETE", "/api/teams/small")).status).toBe(200);
    expect((await on(first.token, "GET", "/api/me")).status).toBe(401);
  });

  test("somebody who makes a team owns it, sees it with its own token alone, and makes no more than ten", async () => {
    const someone = await add("member");
    const made = await on(someone.token, "POST", "/api/teams", { slug: "mine-0" });
    expect(made.json.team).toMatchObject({ slug: "mine-0", members: 1, role: "owner" });
    const token = made.json.made.token as string;
    expect((await on(token, "GET", "/api/teams")).json.teams).toMatchObject([{ slug: "mine-0", role: "owner" }]);
    expect((await on(someone.token, "GET", "/api/teams")).json.teams).toMatchObject([{ slug: "red", role: "member" }]);
    for (let index = 1; index < 10; index += 1)
      expect((await on(someone.token, "POST", "/api/teams", { slug: `mine-${index}` })).status).toBe(201);
    expect(codeOf(await on(someone.token, "POST", "/api/teams", { slug: "mine-10" }))).toEqual([
      409,
      "PEOPLE_CONFLICT",
    ]);
    expect((await on(cast.ann, "GET", "/api/teams?limit=2")).json).toMatchObject({
      teams: [{ slug: "blue" }, { slug: "mine-0" }],
      nextCursor: "mine-0",
    });
    expect((await on(cast.ann, "DELETE", `/api/users/${someone.id}`)).status).toBe(200);
    expect((await on(token, "GET", "/api/me")).status).toBe(401);
  });

  test("fields that claim something are ignored, and roles that there are not are refused", async () => {
    const claims = { user: "cid", team: "blue", isAdmin: true, membershipId: "m_1", roles: ["admin"] };
    const mine = await on(cast.bob, "POST", "/api/me/tokens", { name: "claims", ...claims });
    expect((await on(mine.json.token as string, "GET", "/api/me")).json).toMatchObject({
      team: "red",
      roles: ["member"],
      user: { name: "bob" },
    });
    const bad = await on(cast.bob, "POST", "/api/me/tokens", { scopes: ["mcp:everything"] });
    expect(codeOf(bad)).toEqual([400, "PARAMS_INVALID"]);
    expect(codeOf(await on(cast.tom, "POST", "/api/teams/red/invites", { role: "king" }))[1]).toBe("PARAMS_INVALID");
  });
});

test("the owner's door does the same: invitations, roles, limits, resets and tokens with scopes", async () => {
  const { command } = team;
  const invited = await command("invite", "new", "--team", "red", "--role", "admin", "--about", "eve");
  expect((await command("invite", "list", "--team", "red")).invites).toContainEqual(
    expect.objectContaining({ id: invited.id, role: "admin", about: "eve", used: null }),
  );
  const eve = (await on("", "POST", "/api/invites/accept", { secret: invited.secret, name: "eve" })).json;
  await command("user", "role", "eve", "--role", "admin");
  expect((await on(eve.made.token as string, "GET", "/api/users")).status).toBe(200);
  const { made: token } = await command(
    ...["token", "new", "--user", "eve", "--team", "red", "--scope", "mcp:read", "--only", "own,other"],
  );
  expect((await on(token.token as string, "GET", "/api/me")).json).toMatchObject({
    scopes: ["mcp:read"],
    only: ["own", "other"],
  });
  expect(await command("user", "reset", "eve")).toMatchObject({ revoked: 2 });
  expect((await on(eve.made.token as string, "GET", "/api/me")).status).toBe(401);
  await command("team", "role", "red", "--user", "eve", "--role", "member");
  await command("team", "owner", "red", "--user", "eve");
  expect((await command("team", "members", "red")).members).toContainEqual(
    expect.objectContaining({ user: "eve", role: "owner" }),
  );
  const olga = (await on(cast.olga, "GET", "/api/me")).json.id as string;
  await command("team", "owner", "red", "--user", olga);
  await command("team", "limits", "red", "--most-members", "1");
  await expect(command("invite", "revoke", "i_0")).rejects.toThrow("no such invitation");
  await expect(command("user", "add", "fay", "--team", "red")).rejects.toThrow("may not have more");
  await command("team", "limits", "red");
  await command("user", "remove", "eve");
  await expect(command("user", "disable", "eve")).rejects.toThrow("no user");
});
