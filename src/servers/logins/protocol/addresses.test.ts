import { promisify } from "node:util";
import { expect, test } from "vitest";
import { addressRulesFor, createAddressRules, isLoopbackHost, isPublicAddress } from "./addresses.ts";

test.each([
  ["8.8.8.8", true],
  ["2606:4700:4700::1111", true],
  ["172.15.255.255", true],
  ["172.16.0.0", false],
  ["172.31.255.255", false],
  ["172.32.0.0", true],
  ["100.63.255.255", true],
  ["100.64.0.1", false],
  ["100.128.0.0", true],
  ["198.17.255.255", true],
  ["198.19.255.255", false],
  ["223.255.255.255", true],
  ["224.0.0.1", false],
  ["255.255.255.255", false],
  ["0.0.0.0", false],
  ["::1", false],
  ["fd12:3456::1", false],
  ["fe80::1", false],
  ["64:ff9b::a00:1", false],
  ["64:ff9b:1::a00:1", false],
  ["::a00:1", false],
  ["::ffff:0:a00:1", false],
  ["2002:a00:1::", false],
  ["2001:0:a00:1::", false],
  ["2001:200::1", true],
  ["fec0::1", false],
  ["100::1", false],
])("whether %s is in the public Internet: %s", (address, isPublic) => {
  expect(isPublicAddress(address)).toBe(isPublic);
});

test("a private IPv4 address is private in whatever way IPv6 writes it", () => {
  for (const address of ["::ffff:10.0.0.1", "::ffff:a00:1", "0:0:0:0:0:ffff:7f00:1"])
    expect([address, isPublicAddress(address)]).toEqual([address, false]);
  expect(isPublicAddress("::ffff:8.8.8.8")).toBe(true);
});

test("what is no address is not public", () => {
  for (const text of ["", "example.com", "1.2.3", "8.8.8.8.", "[::1]"]) expect(isPublicAddress(text)).toBe(false);
});

test("a public server may name no private host, by whatever form of its number", () => {
  const rules = createAddressRules("public");
  for (const host of ["127.0.0.1", "10.1.2.3", "[::1]", "[fd00::1]", "[::ffff:192.168.0.1]", "169.254.169.254"])
    expect(() => rules.checkHost(host)).toThrow(
      expect.objectContaining({ code: "LOGIN_FAILED", message: expect.stringContaining(host) as string }),
    );
  for (const host of ["8.8.8.8", "[2606:4700:4700::1111]", "login.example.com"])
    expect(() => rules.checkHost(host)).not.toThrow();
});

test("a private server may name its neighbours, but no metadata service of a cloud", () => {
  const rules = createAddressRules("private");
  for (const host of ["127.0.0.1", "10.1.2.3", "[::1]", "[fd00::1]", "8.8.8.8"])
    expect(() => rules.checkHost(host)).not.toThrow();
  for (const host of ["169.254.169.254", "[::ffff:169.254.169.254]", "[fe80::1]", "0.0.0.0", "224.0.0.1"])
    expect(() => rules.checkHost(host)).toThrow("is not in the public Internet");
});

test("how far a server may reach follows from its own address", async () => {
  await expect(addressRulesFor("http://127.0.0.1:9/mcp")).resolves.toMatchObject({ reach: "private" });
  await expect(addressRulesFor("http://[::1]:9/mcp")).resolves.toMatchObject({ reach: "private" });
  await expect(addressRulesFor("http://localhost/mcp")).resolves.toMatchObject({ reach: "private" });
  await expect(addressRulesFor("https://8.8.8.8/mcp")).resolves.toMatchObject({ reach: "public" });
});

test("a name is refused for what it resolves to, when it is checked and when a socket asks", async () => {
  const far = createAddressRules("public");
  await expect(far.checkName("localhost")).rejects.toMatchObject({ code: "LOGIN_FAILED" });
  await expect(promisify(far.lookup)("localhost", {})).rejects.toMatchObject({ code: "LOGIN_FAILED" });
  const near = createAddressRules("private");
  await expect(near.checkName("localhost")).resolves.toBeUndefined();
  const all = await new Promise((done) => {
    near.lookup("localhost", { all: true }, (error, addresses) => done(error ?? addresses));
  });
  expect(all).toContainEqual(expect.objectContaining({ address: expect.stringMatching(/^(127\.0\.0\.1|::1)$/) }));
});

test("only names and numbers of this machine are loopback", () => {
  for (const host of ["localhost", "127.0.0.1", "127.9.9.9", "[::1]"]) expect(isLoopbackHost(host)).toBe(true);
  for (const host of ["localhost.example.com", "127.0.0.1.example.com", "128.0.0.1", "example.com", "[::2]"])
    expect(isLoopbackHost(host)).toBe(false);
});
