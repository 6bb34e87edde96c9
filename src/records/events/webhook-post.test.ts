import { expect, test } from "vitest";
import { createWebhookAddresses } from "./webhook-post.ts";

const refusalOf = (url: string, ...allowed: string[]) => createWebhookAddresses(allowed).refusalOf(new URL(url));

/** What the socket gets when it asks for the address of a name. */
async function addressesOf(url: string, all: boolean, ...allowed: string[]) {
  const lookup = createWebhookAddresses(allowed).lookupFor(new URL(url));
  return await new Promise<{ error: string | undefined; address: unknown }>((done) => {
    lookup("localhost", { all, family: 4 }, (error, address) => done({ error: error?.message, address }));
  });
}

test.each([
  "https://127.0.0.1/",
  "https://2130706433/",
  "https://0x7f.1/",
  "https://[::1]/",
  "https://[::ffff:127.0.0.1]/",
  "https://[::ffff:a00:1]/",
  "https://169.254.169.254/latest/meta-data",
  "https://192.168.1.1:8443/",
  "https://[fd00::1]/",
])("a webhook at %s, in no public network however it is written, is refused", (url) => {
  expect(refusalOf(url)).toMatch(/ is not in the public Internet, and not among events\.webhookAddresses$/);
});

test("a public address may be sent to with encryption only", () => {
  expect(refusalOf("https://93.184.216.34/")).toBeUndefined();
  expect(refusalOf("https://[2606:4700::1111]/")).toBeUndefined();
  expect(refusalOf("http://93.184.216.34/")).toMatch(/^93\.184\.216\.34 is reached without encryption/);
  expect(refusalOf("http://[2606:4700::1111]/")).toMatch(/^\[2606:4700::1111\] is reached without encryption/);
});

test.each([
  ["http://10.1.2.3/", "10.1.2.3", "http://10.1.2.4/"],
  ["http://10.1.2.3/", "10.1.0.0/16", "http://10.2.0.1/"],
  ["http://[fd00::5]/", "fd00::/64", "http://[fd00:0:0:1::5]/"],
  ["http://[::1]/", "::1", "http://[::2]/"],
  ["http://[::ffff:10.1.2.3]/", "10.0.0.0/8", "http://[::ffff:11.1.2.3]/"],
  ["http://93.184.216.34/", "93.184.216.34/32", "http://93.184.216.35/"],
])("%s may be sent to, even without encryption, where %s is listed; %s may not", (url, range, beside) => {
  expect(refusalOf(url, "192.0.2.1", range)).toBeUndefined();
  expect(refusalOf(beside, "192.0.2.1", range)).toBeDefined();
});

test("a name is judged by the address that it has when the socket connects", async () => {
  expect(refusalOf("https://localhost/")).toBeUndefined();
  for (const all of [true, false]) {
    const { error } = await addressesOf("https://localhost/", all);
    expect(error).toMatch(/^localhost is not in the public Internet/);
  }
  expect((await addressesOf("http://localhost/", true)).error).toMatch(/^localhost is reached without encryption/);
});

test("a name whose address is listed resolves in the form that the socket asked for", async () => {
  const one = await addressesOf("http://localhost/", false, "127.0.0.0/8");
  expect(one).toEqual({ error: undefined, address: "127.0.0.1" });
  const all = await addressesOf("http://localhost/", true, "127.0.0.0/8");
  expect(all.address).toContainEqual({ address: "127.0.0.1", family: 4 });
});
