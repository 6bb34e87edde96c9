import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createManualClock } from "../../../test/harness/manual-clock.ts";
import { buildConfig } from "../../config/load.ts";
import type { PrincipalId } from "../../kernel/ids.ts";
import { localPrincipal, type Principal } from "../../kernel/principal.ts";
import type { OAuthItemRow } from "../../store/access-rows.ts";
import type { MembershipRow, PatRow, PeopleRows, UserRow } from "../../store/people-rows.ts";
import { createConfigDirectory } from "./config-directory.ts";
import { createTeamDirectory, type TeamDirectory } from "./team-directory.ts";

const clock = createManualClock();
const homeDirectories = { config: "/h", data: "/h" };
const dayMs = 86_400_000;
const user: UserRow = { id: "u_1", name: "ann", role: "user", status: "active", createdAtMs: 0, revision: 1 };
const member: MembershipRow = { id: "m_1", teamId: "t_1", userId: "u_1", role: "member", createdAtMs: 0, revision: 1 };
const other: MembershipRow = { ...member, id: "m_2", teamId: "t_2", role: "admin" };

function patOf(id: string, membershipId: string): PatRow {
  const times = { createdAtMs: 0, expiresAtMs: clock.now() + dayMs, usedAtMs: null };
  return { id, membershipId, name: "", hash: `hash of ${id}`, ...times, scopes: [], only: null };
}

let directory: TeamDirectory;
let changes: number;
beforeEach(() => {
  const text = JSON.stringify({ toolyard: { principals: { old: { tokenHash: `sha256:${"a".repeat(64)}` } } } });
  const config = buildConfig({ file: "/f/toolyard.json", text }, { cwd: "/", env: {}, flags: {}, homeDirectories });
  directory = createTeamDirectory({ beside: createConfigDirectory(config), config: () => config, clock });
  const rows: PeopleRows = {
    users: [user],
    teams: [
      { id: "t_1", slug: "red", title: "", limits: {}, createdAtMs: 0, revision: 1 },
      { id: "t_2", slug: "blue", title: "", limits: {}, createdAtMs: 0, revision: 1 },
    ],
    memberships: [member, other],
    pats: [patOf("p_1", "m_1"), patOf("p_2", "m_1"), patOf("p_3", "m_2")],
    invites: [],
  };
  directory.apply(rows);
  changes = 0;
  directory.onChange(() => (changes += 1));
});

afterEach(() => directory.stop());

const find = (id: string): Principal | undefined => directory.byToken(`hash of ${id}`);

test("a token is a membership: somebody in two teams is two principals, and no team's admin is the gateway's", () => {
  const pat = { user: user.id, via: "pat", scopes: [] };
  expect(find("p_1")).toEqual({ id: "m_1", team: "red", roles: ["member"], ...pat, credential: "p_1" });
  const inBlue = { id: "m_2", team: "blue", roles: ["member", "team-admin"] };
  expect(find("p_3")).toEqual({ ...inBlue, ...pat, credential: "p_3" });
  const { credential: _credential, ...person } = find("p_1") as Principal;
  expect(directory.byId("m_1" as PrincipalId)).toEqual({ ...person, via: "instance" });
});

test("each token of a membership is a principal object of its own, which stays until that token is gone", () => {
  const [first, second] = [find("p_1") as Principal, find("p_2") as Principal];
  expect([find("p_1"), find("p_2")]).toEqual([first, second]);
  expect(find("p_1")).toBe(first);
  expect(second).not.toBe(first);
  directory.apply({ gonePats: ["p_2"] });
  expect([directory.isCurrent(first), directory.isCurrent(second)]).toEqual([true, false]);
});

test("the processes of a member stand on the membership as long as anybody can come to them", () => {
  const ties = (): readonly string[] | undefined => directory.tiesOf?.("m_1" as PrincipalId);
  const before = ties();
  expect([before?.length, directory.tiesOf?.("old" as PrincipalId)]).toEqual([1, ["a".repeat(64)]]);
  directory.apply({ gonePats: ["p_1"] });
  expect(ties()).toEqual(before);
  directory.book.under("m_1", { key: "s_1", via: "session", scopes: [] });
  directory.apply({ gonePats: ["p_2"] });
  expect(ties()).toEqual(before);
  directory.withdraw("m_1", "s_1");
  const empty = ties();
  expect(empty).not.toEqual(before);
  // What begins while nobody can come to it ends with the next credential, too.
  directory.book.under("m_1", { key: "s_2", via: "session", scopes: [] });
  expect(ties()).toEqual(empty);
  directory.withdraw("m_1", "s_2");
  expect(ties()).not.toEqual(empty);
});

test("a token for one instance is as good as the tokens that were there: with one of them, what it opened is gone", () => {
  const inside = directory.byId("m_1" as PrincipalId) as Principal;
  directory.apply({ gonePats: ["p_2"] });
  expect([directory.isCurrent(inside), directory.byId("m_1" as PrincipalId)]).toEqual([false, inside]);
});

test("a credential that is no row is the same principal under its key until it is withdrawn, or the person changes", () => {
  const grant = { key: "g_1", via: "grant", scopes: ["mcp:read"] } as const;
  const made = directory.book.under("m_1", grant) as Principal;
  expect(made).toMatchObject({ id: "m_1", via: "grant", scopes: ["mcp:read"] });
  expect(directory.book.under("m_1", grant)).toBe(made);
  directory.withdraw("m_1", "g_1");
  expect([directory.isCurrent(made), changes]).toEqual([false, 1]);
  directory.withdraw("m_1", "g_1");
  expect(changes).toBe(1);
  const again = directory.book.under("m_1", grant) as Principal;
  directory.apply({ memberships: [{ ...member, role: "admin" }] });
  expect(directory.isCurrent(again)).toBe(false);
  expect(directory.book.under("m_1", grant)).toMatchObject({ roles: ["member", "team-admin"] });
  expect(directory.book.under("m_9", grant)).toBeUndefined();
});

test("what a token is limited to stands in its principal", () => {
  directory.apply({ pats: [{ ...patOf("p_5", "m_1"), scopes: ["mcp:read"], only: ["files"] }] });
  expect(find("p_5")).toMatchObject({ id: "m_1", scopes: ["mcp:read"], only: ["files"] });
  expect(find("p_1")?.only).toBeUndefined();
});

test("a user or a team that is removed takes memberships and tokens along, and its name is free again", () => {
  const [red, blue] = [find("p_1") as Principal, find("p_3") as Principal];
  directory.apply({ goneTeams: ["t_2"] });
  expect([directory.isCurrent(red), directory.isCurrent(blue), find("p_3"), changes]).toEqual([
    true,
    false,
    undefined,
    1,
  ]);
  expect([directory.book.teamOf("blue"), directory.book.membersIn("t_2")]).toEqual([undefined, []]);
  directory.apply({ goneUsers: ["u_1"] });
  expect([directory.isCurrent(red), directory.book.userNamed("ann"), directory.book.pats.size]).toEqual([
    false,
    undefined,
    0,
  ]);
});

test("people of the configuration stay, and nobody is local without a token", () => {
  expect(directory.byToken("a".repeat(64))).toMatchObject({ id: "old" });
  expect(directory.open).toBe(false);
  expect(directory.byId(localPrincipal.id)).toBeUndefined();
  expect(directory.isCurrent(localPrincipal)).toBe(false);
});

test("what is added changes no principal, and what is taken away changes that one alone", () => {
  const [red, blue] = [find("p_1") as Principal, find("p_3") as Principal];
  directory.apply({ pats: [patOf("p_4", "m_1")], users: [user] });
  expect([find("p_1"), changes]).toEqual([red, 0]);
  expect(directory.isCurrent(red)).toBe(true);
  directory.apply({ gonePats: ["p_1"] });
  expect([find("p_1"), directory.isCurrent(red), directory.isCurrent(blue), changes]).toEqual([
    undefined,
    false,
    true,
    1,
  ]);
  expect(directory.credentialsOf("m_1" as PrincipalId)).toEqual(["m_1", "hash of p_2", "hash of p_4"]);
});

test("other roles, a removed membership and a disabled user end what was there before", () => {
  const [red, blue] = [find("p_1") as Principal, find("p_3") as Principal];
  directory.apply({ memberships: [{ ...other, role: "member" }] });
  expect([directory.isCurrent(red), directory.isCurrent(blue)]).toEqual([true, false]);
  directory.apply({ goneMemberships: ["m_1"] });
  expect([directory.isCurrent(red), find("p_2"), directory.byId(red.id)]).toEqual([false, undefined, undefined]);
  directory.apply({ users: [{ ...user, status: "disabled" }] });
  expect([find("p_3"), changes]).toEqual([undefined, 3]);
});

test("a token that expires is refused at once, and what it opened ends within a second", async () => {
  const red = find("p_1") as Principal;
  await clock.advance(dayMs - 30_000);
  expect(find("p_1")).toBe(red);
  await clock.advance(30_000);
  expect(find("p_1")).toBeUndefined();
  await clock.advance(1_000);
  expect(directory.isCurrent(red)).toBe(false);
});

describe("access tokens of an app", () => {
  const hourMs = 3_600_000;
  const times = { createdAtMs: 0, usedAtMs: 0 };
  const grant = {
    id: "g_1",
    membershipId: "m_1",
    clientId: "c",
    clientName: "",
    payload: "",
    via: "local",
    sid: "",
    ...times,
  };
  const tokenOf = (hash: string, expiresAtMs: number): OAuthItemRow => ({
    ...{ kind: "AccessToken", hash, grantId: "g_1", lookup: null, scopes: "mcp:read", audience: "http://gateway/mcp" },
    ...{ payload: "", consumedAtMs: null, uses: 0, expiresAtMs },
  });
  let streamsEnded: number;
  let app: Principal;
  beforeEach(() => {
    streamsEnded = 0;
    directory.onExpiry?.(() => (streamsEnded += 1));
    const expiresAtMs = clock.now() + 180 * dayMs;
    const grants = [{ ...grant, scopes: "mcp:read", audience: "http://gateway/mcp", expiresAtMs }];
    directory.applyAccess({ grants, items: [tokenOf("first", clock.now() + hourMs)] });
    app = directory.byToken("first") as Principal;
  });

  test("end what streams they opened within a second, and who renews them comes as the same principal", async () => {
    await clock.advance(hourMs - 1_000);
    expect([directory.isOver?.(app), streamsEnded]).toEqual([false, 0]);
    await clock.advance(2_000);
    expect([directory.isOver?.(app), streamsEnded, directory.byToken("first")]).toEqual([true, 1, undefined]);
    expect([directory.isCurrent(app), changes]).toEqual([true, 0]);
    directory.applyAccess({ items: [tokenOf("second", clock.now() + hourMs)] });
    expect([directory.byToken("second"), directory.isOver?.(app)]).toEqual([app, false]);
  });

  test("end nothing where another was taken before they expired, and all of them is gone with the grant", async () => {
    directory.applyAccess({ items: [tokenOf("second", clock.now() + 2 * hourMs)] });
    await clock.advance(hourMs + 60_000);
    expect([directory.isOver?.(app), streamsEnded, directory.byToken("second")]).toEqual([false, 0, app]);
    directory.applyAccess({ goneGrants: ["g_1"] });
    expect([directory.isCurrent(app), directory.isOver?.(app), changes]).toEqual([false, true, 1]);
  });

  test("are watched by one timer, however many they are", async () => {
    const many = Array.from({ length: 1_000 }, (_, index) => tokenOf(`hash ${index}`, clock.now() + hourMs - index));
    const before = clock.waiting;
    directory.applyAccess({ items: many });
    expect(clock.waiting).toBe(before);
    await clock.advance(hourMs + 1_000);
    expect([directory.byToken("hash 0"), clock.waiting]).toEqual([undefined, before]);
  });
});

test("the use of a token is noted once an hour", async () => {
  for (let times = 0; times < 3; times += 1) find("p_1");
  const uses = directory.takeUses();
  expect(uses).toEqual([{ id: "p_1", usedAtMs: clock.now() - (clock.now() % 3_600_000) }]);
  find("p_1");
  expect(directory.takeUses()).toEqual([]);
  await clock.advance(3_600_000);
  find("p_1");
  expect(directory.takeUses()).toHaveLength(1);
});

test("rows that were read again replace what was thought to be there", () => {
  const red = find("p_1") as Principal;
  const rows = {
    users: [user],
    teams: [...directory.book.teams.values()],
    memberships: [other],
    pats: [],
    invites: [],
  };
  directory.apply(directory.book.differenceTo(rows));
  expect([directory.isCurrent(red), find("p_3")]).toEqual([false, undefined]);
  expect(directory.byId("m_2" as PrincipalId)).toMatchObject({ team: "blue" });
});
