import { expect, test } from "vitest";
import type { BrowserSessionRow, GrantRow, OAuthItemRow } from "../../access-rows.ts";
import { toldOf } from "./change-notices.ts";

const item = (kind: string): OAuthItemRow => ({
  ...{ kind, hash: "h", grantId: "g", lookup: null, scopes: "mcp:read", audience: "https://a", payload: "sealed" },
  ...{ consumedAtMs: null, uses: 0, expiresAtMs: 1 },
});
const session = { hash: "s", userId: "u" } as BrowserSessionRow;
const grant = { id: "g", payload: "sealed" } as GrantRow;
const asked = (writes: object, people: object = {}) => ({ writes, people, entries: [] });

test("others are told of what they have in memory, and of nothing that opens something", () => {
  const passwords = [{ userId: "u", hash: "scrypt", changedAtMs: 1 }];
  const setups = [{ hash: "x", userId: "u", expiresAtMs: 1 }];
  const writes = { passwords, setups, sessions: [session], grants: [grant], goneSessions: ["old"], goneGrants: [] };
  const [told] = toldOf("changeAccess", asked({ ...writes, items: [item("AccessToken"), item("RefreshToken")] }), {
    isDone: true,
  });
  expect(told).toMatchObject({ kind: "changeAccess", as: "change" });
  expect(JSON.parse(told?.detail ?? "")).toEqual({
    ...{ sessions: [session], grants: [grant], goneSessions: ["old"] },
    items: [{ ...item("AccessToken"), payload: "" }],
  });
});

test("a code that is used, a client that registers and what was not done are nobody else's business", () => {
  expect(toldOf("changeAccess", asked({ items: [item("Client")], goneItems: [] }), { isDone: true })).toEqual([]);
  expect(
    toldOf("changeAccess", asked({ goneItems: [{ kind: "AuthorizationCode", hash: "h" }] }), { isDone: true }),
  ).toEqual([]);
  expect(toldOf("changeAccess", asked({ sessions: [session] }), { isDone: false })).toEqual([]);
  expect(toldOf("auditAll", [], [])).toEqual([]);
});

test("people who come into being by logging in are told of before what they are logged in with", () => {
  const people = { users: [{ id: "u" }] };
  const told = toldOf("changeAccess", asked({ sessions: [session] }, people), { isDone: true });
  expect(told.map(({ kind, as }) => [kind, as])).toEqual([
    ["changePeople", "peopleChange"],
    ["changeAccess", "change"],
  ]);
  expect(JSON.parse(told[0]?.detail ?? "")).toEqual(people);
});

test("of servers of teams it is only told that they changed, because secrets are kept in one place", () => {
  expect(toldOf("changeInstalls", { writes: { secrets: [{ sealed: "x" }] } }, {})).toEqual([
    { kind: "changeInstalls", detail: "", as: "change" },
  ]);
});
