import { randomBytes } from "node:crypto";
import { describe, expect, test } from "vitest";
import { createSealedStates } from "./sealed-state.ts";

const binding = { principal: "alice", request: "tools/call github:create_issue {}" };
const refused = expect.objectContaining({ code: "HANDLE_INVALID" });

const key = randomBytes(32);
const statesAt = (now: () => number, keys: readonly Buffer[] = [key]) =>
  createSealedStates({ lifetimeMs: 1_000, now, keys: () => keys });

describe("a sealed state", () => {
  test("comes back as it was, once", () => {
    const states = statesAt(() => 0);
    const state = 'any text: ä 🙂 "quotes" .dots.\n';
    const sealed = states.seal(state, binding);
    expect(sealed).toMatch(/^[\w.-]+$/);
    expect(states.open(sealed, binding)).toBe(state);
    expect(() => states.open(sealed, binding)).toThrowError(refused);
  });

  test("is good for nobody else, on no other request, at no other gateway, and not for ever", () => {
    let nowMs = 0;
    const states = statesAt(() => nowMs);
    const sealed = states.seal("state", binding);
    expect(() => states.open(sealed, { ...binding, principal: "bob" })).toThrowError(refused);
    expect(() => states.open(sealed, { ...binding, request: "tools/call other:tool {}" })).toThrowError(refused);
    expect(() => statesAt(() => 0, [randomBytes(32)]).open(sealed, binding)).toThrowError(refused);
    nowMs = 1_001;
    expect(() => states.open(sealed, binding)).toThrowError(refused);
  });

  test("is refused when a single character of it was altered", () => {
    const states = statesAt(() => 0);
    const sealed = states.seal("state", binding);
    // The last character carries bits that Base64 ignores: whoever changes only those has changed nothing.
    for (let at = 0; at < sealed.length - 1; at += 1) {
      const altered = `${sealed.slice(0, at)}${sealed[at] === "A" ? "B" : "A"}${sealed.slice(at + 1)}`;
      expect(() => states.open(altered, binding), `character ${at}`).toThrowError(refused);
    }
    expect(states.open(sealed, binding)).toBe("state");
  });

  test.each(["", ".", "..", "...", "ty1..", "ty1.e30.", "ty2.a.b", "ty1.a.b.c", "x".repeat(100_000)])(
    "%.20j is none",
    (given) => {
      expect(() => statesAt(() => 0).open(given, binding)).toThrowError(refused);
    },
  );

  test("of another gateway with the same key is good once over both, also while the key is changed", async () => {
    const claimed = new Set<string>();
    const other = randomBytes(32);
    const states = [[key], [other, key]].map((keys) =>
      createSealedStates({
        ...{ lifetimeMs: 1_000, now: () => 0, keys: () => keys },
        claim: async (id) => !claimed.has(id) && claimed.add(id) !== undefined,
      }),
    );
    const sealed = states[0]?.seal("state", binding) ?? "";
    const told = await Promise.allSettled(states.map(async (one) => await one.open(sealed, binding)));
    expect(told.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
    expect(told.find(({ status }) => status === "rejected")).toMatchObject({ reason: { code: "HANDLE_INVALID" } });
    expect(() => statesAt(() => 0, [other]).open(sealed, binding)).toThrowError(refused);
  });

  test("that cannot be claimed because the database is away can be used when it is back", async () => {
    let isAway = true;
    const states = createSealedStates({
      ...{ lifetimeMs: 1_000, now: () => 0, keys: () => [key] },
      claim: async () => {
        if (isAway) throw new Error("away");
        return true;
      },
    });
    const sealed = states.seal("state", binding);
    await expect(states.open(sealed, binding)).rejects.toThrow("away");
    isAway = false;
    expect(await states.open(sealed, binding)).toBe("state");
  });
});
