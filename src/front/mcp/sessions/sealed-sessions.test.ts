import { expect, test } from "vitest";
import { createManualClock } from "../../../../test/harness/manual-clock.ts";
import { localPrincipal, type Principal } from "../../../kernel/principal.ts";
import type { ClaimStore } from "../../../store/shared.ts";
import { createSealedSessions } from "./sealed-sessions.ts";
import { createSession, type Session } from "./session.ts";

const [key, otherKey] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
const bob: Principal = { ...localPrincipal, via: "pat", credential: "one" };
const facts = {
  ...{ revision: "2025-11-25", capabilities: { roots: {}, sampling: {} } },
  ...{ clientName: "Tester ä", connectedId: "c-1" },
};
const use = { principal: bob, endpointPath: "/mcp" };

/** A database in memory, which tells its gateways of sessions that ended. */
function openClaims() {
  const kept = new Set<string>();
  const listeners = new Set<(ids: readonly string[] | undefined) => void>();
  const state = { isAway: false, asked: 0 };
  const claims: ClaimStore = {
    async claim({ ids }) {
      state.asked += 1;
      await Promise.resolve();
      if (state.isAway) throw new Error("away");
      const fresh = ids.filter((id) => !kept.has(id));
      for (const id of fresh) kept.add(id);
      return fresh;
    },
    async claimed({ ids }) {
      if (state.isAway) throw new Error("away");
      return ids.filter((id) => kept.has(id));
    },
    onEnded(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
  return { claims, kept, state, tell: (ids?: readonly string[]) => listeners.forEach((one) => one(ids)) };
}

function open(
  keys: readonly Buffer[] = [key],
  { claims }: Pick<ReturnType<typeof openClaims>, "claims"> = openClaims(),
) {
  const clock = createManualClock();
  const ended: Session[] = [];
  const end = (session: Session): void => {
    ended.push(session);
    session.close("ended");
  };
  return { sealed: createSealedSessions({ keys: () => keys, claims, end, clock }), clock, ended };
}

const sessionOf = (connectedId: string): Session =>
  createSession({
    ...{ principal: bob, endpointPath: "/mcp", revision: "2025-11-25", capabilities: {}, nowMs: 0 },
    sealed: { id: `id of ${connectedId}`, connectedId },
  });

test("an id opens at a gateway with the same key, and keeps what the client declared", () => {
  const id = open().sealed.seal(facts, use) ?? "";
  expect(id).toMatch(/^[\x21-\x7e]+$/);
  expect(open().sealed.open(id, use)).toEqual(facts);
  const nameless = { ...facts, clientName: undefined };
  expect(open().sealed.open(open().sealed.seal(nameless, use) ?? "", use)).toEqual(nameless);
});

test("while the key is changed, ids of both keys open, and new ones are sealed with the new key", () => {
  const before = open([key]).sealed.seal(facts, use) ?? "";
  const after = open([otherKey, key]).sealed.seal(facts, use) ?? "";
  for (const id of [before, after]) expect(open([otherKey, key]).sealed.open(id, use)).toEqual(facts);
  expect(open([key]).sealed.open(after, use)).toBeUndefined();
  expect(open([otherKey]).sealed.open(before, use)).toBeUndefined();
});

test("it opens for no one else, with no other credential, and at no other endpoint", () => {
  const { sealed } = open();
  const id = sealed.seal(facts, use) ?? "";
  const others: readonly Partial<Principal>[] = [
    { id: "eve" as Principal["id"] },
    { credential: "two" },
    { via: "grant" },
    { profile: "narrow" },
    { only: ["files"] },
  ];
  for (const other of others)
    expect(sealed.open(id, { ...use, principal: { ...bob, ...other } }), JSON.stringify(other)).toBeUndefined();
  expect(sealed.open(id, { ...use, endpointPath: "/mcp/flat" })).toBeUndefined();
});

test("rights may change: what the session may do comes from the request", () => {
  const { sealed } = open();
  const id = sealed.seal(facts, use) ?? "";
  expect(sealed.open(id, { ...use, principal: { ...bob, roles: [], scopes: ["mcp:read"] } })).toEqual(facts);
});

test("each character is sealed, and so is each member of its content", () => {
  const { sealed } = open();
  const id = sealed.seal(facts, use) ?? "";
  for (let at = 0; at < id.length; at += 1) {
    const altered = `${id.slice(0, at)}${id[at] === "A" ? "B" : "A"}${id.slice(at + 1)}`;
    expect(sealed.open(altered, use), `character ${at}`).toBeUndefined();
  }
  const [mark, payload = "", sign] = id.split(".");
  const content = JSON.parse(Buffer.from(payload, "base64url").toString("utf8")) as Record<string, unknown>;
  expect(Object.keys(content).toSorted()).toEqual(["c", "e", "i", "k", "n", "p", "r", "t"]);
  for (const member of Object.keys(content)) {
    const other = Buffer.from(JSON.stringify({ ...content, [member]: "other" })).toString("base64url");
    expect(sealed.open(`${mark}.${other}.${sign}`, use), member).toBeUndefined();
  }
  for (const odd of ["", ".", "..", "tys1..", `${id}.`, `${id}=`, ` ${id}`, "x".repeat(100_000), `tys1.${payload}.`])
    expect(sealed.open(odd, use), odd.slice(0, 20)).toBeUndefined();
});

test("it is good for seven days", async () => {
  const { sealed, clock } = open();
  const id = sealed.seal(facts, use) ?? "";
  await clock.advance(7 * 24 * 3_600_000);
  expect(sealed.open(id, use)).toEqual(facts);
  await clock.advance(1);
  expect(sealed.open(id, use)).toBeUndefined();
});

test("a client that declares more than fits gets no id of this kind", () => {
  const { sealed } = open();
  const capabilities = { experimental: { notes: "x".repeat(2_500) } };
  expect(sealed.seal({ ...facts, capabilities }, use)).toBeUndefined();
  const most = sealed.seal({ ...facts, capabilities: { experimental: { notes: "x".repeat(1_500) } } }, use);
  expect(most?.length).toBeLessThanOrEqual(3_072);
});

test("one that its client ended is ended at the others, and cannot be begun again", async () => {
  const common = openClaims();
  const [here, there] = [open([key], common), open([key], common)];
  const [own, theirs] = [sessionOf("c-1"), sessionOf("c-1")];
  here.sealed.follow(own);
  there.sealed.follow(theirs);
  expect(await there.sealed.isEnded(facts)).toBe(false);
  here.sealed.tellEnd(own);
  expect(await here.sealed.isEnded(facts)).toBe(true);
  expect(await there.sealed.isEnded(facts)).toBe(true);
  common.tell(["c-1", "unknown"]);
  expect(there.ended).toEqual([theirs]);
});

test("after a gap in what was told, all that are held are looked up", async () => {
  const common = openClaims();
  const { sealed, ended } = open([key], common);
  const sessions = Array.from({ length: 1_200 }, (_one, at) => sessionOf(`c-${at}`));
  for (const session of sessions) sealed.follow(session);
  common.kept.add("c-7").add("c-1100");
  common.tell();
  await settle();
  expect(ended.map(({ connected }) => connected.id)).toEqual(["c-7", "c-1100"]);
});

test("while the database is away an end counts here, and is told later; many are told together", async () => {
  const common = openClaims();
  const { sealed, clock } = open([key], common);
  common.state.isAway = true;
  for (let at = 0; at < 300; at += 1) {
    const session = sessionOf(`c-${at}`);
    sealed.follow(session);
    sealed.tellEnd(session);
  }
  await settle();
  expect(await sealed.isEnded({ ...facts, connectedId: "c-299" })).toBe(true);
  expect(await sealed.isEnded({ ...facts, connectedId: "c-300" })).toBe(false);
  common.state.isAway = false;
  await clock.advance(5_000);
  await settle();
  expect(common.kept.size).toBe(300);
  expect(common.state.asked).toBeLessThan(5);
});

/** Until what was asked of the database in memory is answered. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
}
