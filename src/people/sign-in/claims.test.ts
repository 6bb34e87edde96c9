import { expect, test } from "vitest";
import type { ProviderSettings } from "../../config/rows/provider-rows.ts";
import { provenAt, toPerson } from "./claims.ts";

const claims = { name: "preferred_username", email: "email", groups: "groups" };

function read(all: Record<string, unknown>, names: Partial<typeof claims> = {}) {
  const settings = { claims: { ...claims, ...names } } as ProviderSettings;
  return toPerson("staff", { issuer: "https://sso.example.com", subject: "1", sid: "", all, signed: all }, settings);
}

test("an address counts where the provider has verified it, in small letters", () => {
  expect(read({ email: "Ann@Example.com", email_verified: true }).email).toBe("ann@example.com");
  expect(read({ email: "ann@example.com", email_verified: "true" }).email).toBe("ann@example.com");
  for (const verified of [false, "false", undefined, 1, null, {}])
    expect(read({ email: "ann@example.com", email_verified: verified }).email).toBeUndefined();
  for (const email of ["ann", "a b@example.com", "ann@x@example.com", "@example.com", 7, [], ""])
    expect(read({ email, email_verified: true }).email).toBeUndefined();
});

test("of an address in another claim, the provider has verified nothing unless it is the one in `email`", () => {
  const all = { upn: "Boss@Example.com", email_verified: true };
  expect(read(all, { email: "upn" })).toMatchObject({ email: undefined, label: "boss@example.com" });
  expect(read({ ...all, email: "eve@evil.test" }, { email: "upn" }).email).toBeUndefined();
  expect(read({ ...all, email: "boss@example.COM" }, { email: "upn" }).email).toBe("boss@example.com");
});

test("a name is the claim that is named, or the address, or what else there is", () => {
  expect(read({ preferred_username: " ann ", name: "Ann A." }).name).toBe("ann");
  expect(read({ email: "Ann@example.com", name: "Ann A." }).name).toBe("ann@example.com");
  expect(read({ name: "Ann A." }).name).toBe("Ann A.");
  expect(read({ nick: "annie" }, { name: "nick" }).name).toBe("annie");
  expect(read({}).name).toBe("user");
  expect(read({ preferred_username: "x".repeat(1_000) }).label).toHaveLength(200);
});

test("groups are a list or one text, also inside an object, and a claim whose name has dots comes first", () => {
  expect(read({ groups: ["a", "", 7, null, "b"] }).groups).toEqual(["a", "b"]);
  expect(read({ groups: "a" }).groups).toEqual(["a"]);
  expect(read({ realm_access: { roles: ["a"] } }, { groups: "realm_access.roles" }).groups).toEqual(["a"]);
  expect(read({ "https://x.test/groups": ["a"] }, { groups: "https://x.test/groups" }).groups).toEqual(["a"]);
  for (const groups of [{}, 7, null, undefined, [{}], [["a"]]]) expect(read({ groups }).groups).toEqual([]);
  for (const path of ["__proto__", "constructor.name", "groups.length", "toString"])
    expect(read({ groups: ["a"] }, { groups: path }).groups).toEqual([]);
});

test("a list that the provider left out for its length is not taken for none, and neither is an endless one", () => {
  const elsewhere = { _claim_names: { groups: "src1" }, _claim_sources: { src1: { endpoint: "https://x.test" } } };
  expect(() => read(elsewhere)).toThrow("leaves the groups out");
  expect(read({ ...elsewhere, roles: ["a"] }, { groups: "roles" }).groups).toEqual(["a"]);
  expect(() => read({ groups: Array.from({ length: 1_001 }, String) })).toThrow("more than 1000 groups");
});

test("a login is as old as the provider signed that it is, and too old for anything where it says nothing", () => {
  const now = 1_800_000_000_000;
  const ageS = (authTime: unknown): number => (now - provenAt({ signed: { auth_time: authTime } }, now)) / 1_000;
  expect(ageS(1_800_000_000)).toBe(0);
  expect(ageS(1_799_999_000)).toBe(1_000);
  expect(ageS(0)).toBe(1_800_000_000);
  // A clock that is a little ahead.
  expect(ageS(1_800_000_060)).toBe(0);
  for (const wrong of [undefined, null, "1800000000", 1_800_000_061, now, -1, Number.NaN, {}])
    expect([wrong, ageS(wrong)]).toEqual([wrong, 3_600]);
});
