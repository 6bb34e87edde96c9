import { expect, test } from "vitest";
import type { CallContext } from "../../../kernel/call/call-context.ts";
import { toJsonBytes } from "../../../kernel/text/json-bytes.ts";
import { answersOf, unwrapState, wrapState } from "./roots.ts";

const roots = toJsonBytes({ roots: [{ uri: "file:///srv" }] });
const text = (members: ReturnType<typeof unwrapState>): Readonly<Record<string, unknown>> =>
  Object.fromEntries(members.map(([key, value]) => [key, JSON.parse(value.toString()) as unknown]));

function answering(responses: unknown, declared: object, ownRoots?: CallContext["ownRoots"]): CallContext {
  return {
    inputResponses: responses === undefined ? undefined : toJsonBytes(responses),
    client: { capabilities: declared },
    ownRoots,
  } as unknown as CallContext;
}

test("a wrapped state gives the server its own state, the client's answers, and the configured roots", () => {
  const state = wrapState(["r1", 'r"2'], "own");
  expect(text(unwrapState(state, toJsonBytes({ q: { action: "accept" } }), roots))).toEqual({
    inputResponses: {
      q: { action: "accept" },
      r1: { roots: [{ uri: "file:///srv" }] },
      'r"2': { roots: [{ uri: "file:///srv" }] },
    },
    requestState: "own",
  });
});

test("a server that gave no state gets none back", () => {
  expect(text(unwrapState(wrapState(["r1"], undefined), undefined, roots))).toEqual({
    inputResponses: { r1: { roots: [{ uri: "file:///srv" }] } },
  });
});

test.each([
  ["a server's own state", "plain", roots],
  ["a wrapped state where no roots are configured", wrapState(["r1"], "own"), undefined],
])("%s is passed on unchanged", (_what, state, configured) => {
  expect(text(unwrapState(state, toJsonBytes({ q: {} }), configured))).toEqual({
    inputResponses: { q: {} },
    requestState: state,
  });
});

test("answers about roots are kept from a server that may not have them, all others are passed on", () => {
  const given = { a: { roots: [] }, b: { action: "accept" }, c: { role: "assistant" } };
  const kept = answersOf(answering(given, {}));
  expect(JSON.parse(String(kept))).toEqual({ b: { action: "accept" }, c: { role: "assistant" } });
});

test("the same bytes are passed on where nothing has to be kept back", () => {
  const allowed = answering({ a: { roots: [] } }, { roots: {} });
  expect(answersOf(allowed)).toBe(allowed.inputResponses);
  const none = answering({ b: { action: "decline" } }, {});
  expect(answersOf(none)).toBe(none.inputResponses);
  expect(answersOf(answering(undefined, {}))).toBeUndefined();
});

test("a client's roots are kept back where the configuration lists other ones", () => {
  const kept = answersOf(answering({ a: { roots: [] } }, { roots: {} }, roots));
  expect(JSON.parse(String(kept))).toEqual({});
});
