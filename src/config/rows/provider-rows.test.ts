import { expect, test } from "vitest";
import { buildConfig } from "../load.ts";
import type { AuthSettings } from "../config.ts";

function load(provider: object, env: Record<string, string> = {}): AuthSettings["providers"] {
  const text = JSON.stringify({ toolyard: { auth: { providers: { staff: provider } } } }, undefined, 2);
  const homeDirectories = { config: "/config", data: "/data" };
  const where = { cwd: "/conf", env, flags: {}, homeDirectories, cores: 2 };
  return buildConfig({ file: "/conf/toolyard.json", text }, where).settings.auth.providers;
}

const right = { issuer: "https://sso.example.com/realms/staff", clientId: "toolyard" };

test("a provider needs an issuer and a client's name; everything else has a default", () => {
  const { staff } = load(right);
  expect(staff).toMatchObject({
    ...right,
    provision: "off",
    linkByEmail: false,
    groups: {},
    adminGroups: [],
    teams: {},
  });
  expect(staff?.claims).toEqual({ name: "preferred_username", email: "email", groups: "groups" });
  expect(staff?.scopes).toEqual(["openid", "profile", "email"]);
});

test("the client's secret is a variable, a file with an absolute path, or nothing", () => {
  const clientSecret = "${SECRET}";
  expect(load({ ...right, clientSecret }, { SECRET: "s3cret-of-ours" })["staff"]?.clientSecret).toBe("s3cret-of-ours");
  expect(() => load({ ...right, clientSecret })).toThrow("SECRET is not set");
  expect(load({ ...right, clientSecret: "file:/run/secret" })["staff"]?.clientSecret).toBe("file:/run/secret");
  expect(() => load({ ...right, clientSecret: "file:secret" })).toThrow("absolute path");
});

test("http is for providers on this machine", () => {
  for (const issuer of ["http://127.0.0.1:8080/realms/a", "http://localhost:9", "http://[::1]:9", "https://sso.test"])
    expect(load({ ...right, issuer })["staff"]?.issuer).toBe(issuer);
  const wrong = [
    "http://sso.example.com",
    "http://127.0.0.1.evil.test",
    "http://localhost.evil.test",
    "https://user:word@sso.example.com",
    "https://sso.example.com?x=1",
    "https://sso.example.com#x",
    "ftp://sso.example.com",
    "sso.example.com",
    "",
  ];
  for (const issuer of wrong) expect(() => load({ ...right, issuer })).toThrow("toolyard.auth.providers.staff");
});

test.each([
  [{ clientId: "toolyard" }, "issuer"],
  [{ issuer: "https://sso.example.com" }, "clientId"],
  [{ ...right, provision: "domains" }, "domains"],
  [{ ...right, provision: "groups" }, "groups"],
  [{ ...right, provision: "everybody" }, "provision"],
  [{ ...right, groups: { a: { red: "king" } } }, "groups"],
  [{ ...right, groups: { a: { "Not a name": "member" } } }, "groups"],
  [{ ...right, teams: { red: "gateway" } }, "teams"],
])("%j is refused with the place of what is wrong", (provider, member) => {
  expect(() => load(provider)).toThrow(`providers.staff.${member}`);
});

test("names of providers stand in addresses, and are so", () => {
  const load2 = (name: string): unknown => {
    const text = JSON.stringify({ toolyard: { auth: { providers: { [name]: right } } } });
    const where = { cwd: "/c", env: {}, flags: {}, homeDirectories: { config: "/c", data: "/d" }, cores: 2 };
    return buildConfig({ file: "/c/toolyard.json", text }, where);
  };
  expect(load2("git-hub2")).toBeDefined();
  for (const name of ["Staff", "a/b", "..", "a b", "-a", "x".repeat(41)])
    expect(() => load2(name)).toThrow("lower-case letters");
});
