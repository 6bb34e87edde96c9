import { describe, expect, test } from "vitest";
import { createSealedStates } from "./sealed-state.ts";

const binding = { principal: "alice", request: "tools/call github:create_issue {}" };
const refused = expect.objectContaining({ code: "HANDLE_INVALID" });

describe("a sealed state", () => {
  test("comes back as it was, once", () => {
    const states = createSealedStates(1_000, () => 0);
    const state = 'any text: ä 🙂 "quotes" .dots.\n';
    const sealed = states.seal(state, binding);
    expect(sealed).toMatch(/^[\w.-]+$/);
    expect(states.open(sealed, binding)).toBe(state);
    expect(() => states.open(sealed, binding)).toThrowError(refused);
  });

  test("is good for nobody else, on no other request, at no other gateway, and not for ever", () => {
    let nowMs = 0;
    const states = createSealedStates(1_000, () => nowMs);
    const sealed = states.seal("state", binding);
    expect(() => states.open(sealed, { ...binding, principal: "bob" })).toThrowError(refused);
    expect(() => states.open(sealed, { ...binding, request: "tools/call other:tool {}" })).toThrowError(refused);
    expect(() => createSealedStates(1_000, () => 0).open(sealed, binding)).toThrowError(refused);
    nowMs = 1_001;
    expect(() => states.open(sealed, binding)).toThrowError(refused);
  });

  test("is refused when a single character of it was altered", () => {
    const states = createSealedStates(1_000, () => 0);
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
      expect(() => createSealedStates(1_000, () => 0).open(given, binding)).toThrowError(refused);
    },
  );
});
