import { expect, test } from "vitest";
import { createManualClock } from "../../../../test/harness/manual-clock.ts";
import type { MembershipRow, TeamRow, UserRow } from "../../../store/people-rows.ts";
import { createExternalTokenCache, type ForeignToken } from "./external-token-cache.ts";
import { createExternalTokens } from "../external-tokens.ts";
import { createMemberIndex } from "./member-index.ts";

const common = { createdAtMs: 0, revision: 1 };
const user: UserRow = { id: "u_1", name: "ann", role: "user", status: "active", ...common };
const team: TeamRow = { id: "t_1", slug: "red", title: "", limits: {}, ...common };
const row: MembershipRow = { id: "m_1", teamId: "t_1", userId: "u_1", role: "member", ...common };
const token: ForeignToken = {
  ...{ membershipId: "m_1", key: "app", scopes: ["mcp:read"], audience: "http://gateway/mcp" },
  ...{ goodUntilMs: 1_000, expiresAtMs: 60_000 },
};

function open() {
  const book = createMemberIndex();
  book.apply({ users: [user], teams: [team], memberships: [row] });
  return { book, foreign: createExternalTokenCache(book) };
}

test("a token that was checked is known for a while, and the app is the same with the next one", () => {
  const { foreign } = open();
  const first = foreign.put("hash 1", token);
  expect(first).toMatchObject({ id: "m_1", via: "jwt", scopes: ["mcp:read"], audience: "http://gateway/mcp" });
  expect([foreign.byToken("hash 1", 999), foreign.byToken("hash 1", 1_000)]).toEqual([first, undefined]);
  expect(foreign.put("hash 2", { ...token, goodUntilMs: 90_000, expiresAtMs: 120_000 })).toBe(first);
  expect([foreign.nextExpiryMs(), foreign.forget(60_000), foreign.isOver(first!, 60_000)]).toEqual([
    120_000,
    false,
    false,
  ]);
  expect([foreign.forget(120_000), foreign.isOver(first!, 120_000)]).toEqual([true, true]);
});

test("a token that is good no more takes along what it opened, and an app that stays away is forgotten after a day", () => {
  const { book, foreign } = open();
  const first = foreign.put("hash 1", token)!;
  expect([foreign.reject("hash 2", 1), book.isCurrent(first)]).toEqual([false, true]);
  expect([foreign.reject("hash 1", 1), book.isCurrent(first), foreign.byToken("hash 1", 1)]).toEqual([
    true,
    false,
    undefined,
  ]);
  const again = foreign.put("hash 1", token)!;
  foreign.forget(60_000);
  expect(book.isCurrent(again)).toBe(true);
  foreign.forget(60_000 + 86_400_000);
  expect([book.isCurrent(again), book.members.get("m_1")?.credentials.size]).toEqual([false, 0]);
});

test("an app that has another token for the same goes on with it, for as long as that one is good", () => {
  const { book, foreign } = open();
  const first = foreign.put("hash 1", { ...token, expiresAtMs: 90_000 })!;
  foreign.put("hash 2", token);
  expect([foreign.reject("hash 1", 1), book.isCurrent(first), foreign.byToken("hash 1", 1)]).toEqual([
    false,
    true,
    undefined,
  ]);
  expect([foreign.byToken("hash 2", 1), foreign.isOver(first, 59_999), foreign.isOver(first, 60_000)]).toEqual([
    first,
    false,
    true,
  ]);
  foreign.put("hash 3", { ...token, expiresAtMs: 90_000 });
  expect([foreign.reject("hash 3", 60_000), book.isCurrent(first)]).toEqual([true, false]);
});

test("what an app has in one team of a person ends without the other team's", () => {
  const { book, foreign } = open();
  book.apply({
    teams: [{ ...team, id: "t_2", slug: "blue" }],
    memberships: [{ ...row, id: "m_2", teamId: "t_2" }],
  });
  const red = foreign.put("hash 1", token)!;
  const blue = foreign.put("hash 2", { ...token, membershipId: "m_2" })!;
  expect([foreign.reject("hash 1", 1), book.isCurrent(red), book.isCurrent(blue)]).toEqual([true, false, true]);
  expect([foreign.byToken("hash 2", 1), foreign.isOver(blue, 1)]).toEqual([blue, false]);
  expect([foreign.reject("hash 2", 1), book.isCurrent(blue)]).toEqual([true, false]);
});

test("however many tokens and apps there are, the oldest make room, and whoever is disabled does not come in", () => {
  const { book, foreign } = open();
  const first = foreign.put("hash 0", { ...token, key: "app 0" })!;
  for (let index = 1; index <= 20_000; index += 1) foreign.put(`hash ${index}`, { ...token, key: `app ${index}` });
  expect([foreign.byToken("hash 0", 1), foreign.byToken("hash 10000", 1)]).toEqual([undefined, undefined]);
  expect(foreign.byToken("hash 10001", 1)?.id).toBe("m_1");
  expect([book.isCurrent(first), book.members.get("m_1")?.credentials.size]).toEqual([false, 20_000]);
  book.apply({ users: [{ ...user, status: "disabled" }] });
  expect([foreign.put("hash 1", token), foreign.byToken("hash 20000", 1)]).toEqual([undefined, undefined]);
});

/** Another server whose answers come when they are given, by the token. */
function openDoor() {
  const { book } = open();
  const clock = createManualClock();
  const asked: string[] = [];
  const answers = new Map<string, (found: ForeignToken | undefined) => void>();
  const check = async (text: string) => {
    asked.push(text);
    return await new Promise<ForeignToken | undefined>((resolve) => answers.set(text, resolve));
  };
  const nothing = (): void => undefined;
  const door = createExternalTokens({ book, check, clock, onToken: nothing, onTaken: nothing });
  const find = async (text: string) => await door.find(text, `hash of ${text}`);
  const answer = (text: string, found: ForeignToken | undefined): void => answers.get(text)?.(found);
  return { find, answer, asked, clock };
}

test("no token of the gateway's own is told to another server", async () => {
  const { find, asked } = openDoor();
  expect([await find("ty_pat_revoked"), await find("ty_inst_0"), asked]).toEqual([undefined, undefined, []]);
});

test("a token that is worth nothing is asked about once in two seconds", async () => {
  const { find, answer, asked, clock } = openDoor();
  const first = find("made up");
  answer("made up", undefined);
  expect([await first, await find("made up"), asked.length]).toEqual([undefined, undefined, 1]);
  await clock.advance(2_000);
  const again = find("made up");
  answer("made up", token);
  expect([(await again)?.id, asked.length]).toEqual(["m_1", 2]);
});

test("made-up tokens are checked 64 at a time, and one that was good is checked beside them", async () => {
  const { find, answer, asked, clock } = openDoor();
  const first = find("good");
  answer("good", token);
  expect((await first)?.id).toBe("m_1");
  const names = Array.from({ length: 64 }, (_, index) => `made up ${index}`);
  // The same token again waits for the same check, and does not wait without end either.
  const waiting = [...names.map(find), ...Array.from({ length: 436 }, async () => await find("made up 0"))];
  const busy = { code: "DIRECTORY_UNAVAILABLE" };
  await expect(find("one more")).rejects.toMatchObject(busy);
  await expect(find("made up 0")).rejects.toMatchObject(busy);
  expect(asked).toEqual(["good", ...names]);
  await clock.advance(1_000);
  const again = find("good");
  answer("good", { ...token, goodUntilMs: 2_000 });
  expect((await again)?.id).toBe("m_1");
  for (const name of names) answer(name, undefined);
  expect(new Set(await Promise.all(waiting))).toEqual(new Set([undefined]));
  const later = find("one more");
  answer("one more", undefined);
  expect(await later).toBeUndefined();
});
