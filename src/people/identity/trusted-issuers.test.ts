import { afterEach, beforeEach, expect, test } from "vitest";
import { startTokenIssuer, type TokenIssuer } from "../../../test/harness/token-issuer.ts";
import { systemClock } from "../../kernel/runtime/clock.ts";
import { claimAt } from "./foreign-tokens.ts";
import { checkSignedToken, isSignedToken, createTrustedIssuers } from "./trusted-issuers.ts";

let issuer: TokenIssuer;
beforeEach(async () => {
  issuer = await startTokenIssuer();
});
afterEach(async () => await issuer[Symbol.asyncDispose]());

const rules = { kinds: new Set(["at+jwt"]), algorithms: ["ES256"] };
const trust = (keyPauseMs: number) =>
  createTrustedIssuers({ issuers: [issuer.issuer], clock: systemClock, keyPauseMs });
const keyFetches = (): number => issuer.asked.filter((path) => path === "/keys").length;

test("a key that was made since is fetched, once, and the one before is good no more", async () => {
  const issuers = trust(0);
  const old = await issuer.sign({ sub: "one" });
  expect(await checkSignedToken(old, issuers, rules)).toMatchObject({ sub: "one", iss: issuer.issuer });
  await issuer.rotate();
  const renewed = await issuer.sign({ sub: "two" });
  expect(await checkSignedToken(renewed, issuers, rules)).toMatchObject({ sub: "two" });
  expect(keyFetches()).toBe(2);
  expect(await checkSignedToken(old, issuers, rules)).toBeUndefined();
});

test("keys are not fetched again within the pause, and metadata once", async () => {
  const issuers = trust(60_000);
  await checkSignedToken(await issuer.sign({ sub: "one" }), issuers, rules);
  for (let index = 0; index < 10; index += 1)
    expect(
      await checkSignedToken(await issuer.sign({ sub: "x" }, { kid: `no-${index}` }), issuers, rules),
    ).toBeUndefined();
  expect(keyFetches()).toBe(1);
  // The first of the three places does not have them.
  expect(issuer.asked.filter((path) => path.startsWith("/.well-known/"))).toHaveLength(2);
});

test("an issuer that is out of reach is a failure of ours, and nothing is asked for what is not a token of its own", async () => {
  const issuers = trust(0);
  issuer.isDown = true;
  expect(await checkSignedToken(await issuer.sign({ sub: "one" }, { typ: "JWT" }), issuers, rules)).toBeUndefined();
  expect(await checkSignedToken(await issuer.sign({ iss: "https://else.example" }), issuers, rules)).toBeUndefined();
  expect(issuer.asked).toEqual([]);
  await expect(checkSignedToken(await issuer.sign({ sub: "one" }), issuers, rules)).rejects.toThrow("metadata");
});

test("claims are found by their name first, and then by the path to them", () => {
  expect(claimAt({ "a.b": 1, a: { b: 2 } }, "a.b")).toBe(1);
  expect(claimAt({ a: { b: { c: 3 } } }, "a.b.c")).toBe(3);
  expect([claimAt({ a: "text" }, "a.b"), claimAt({}, "constructor.name")]).toEqual([undefined, undefined]);
  expect(["a.b.c", "a.b", "a..c", "ty_pat_1"].map(isSignedToken)).toEqual([true, false, false, false]);
});
