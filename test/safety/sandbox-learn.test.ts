import { readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { openLearnedNames, readLearnings } from "../../src/servers/sandbox/learned-names.ts";
import { runCommand } from "../harness/command.ts";
import { get, post } from "../harness/rest.ts";
import { until } from "../harness/until.ts";
import { openInside, type Inside } from "./inside.ts";

const preload = fileURLToPath(new URL("../harness/named-hosts.mjs", import.meta.url));
const address = "93.184.216.35";

let inside: Inside;
let web: Server;
let env: Readonly<Record<string, string>>;

beforeAll(async () => {
  web = createServer((request, response) => response.end(`http for ${request.headers.host}`));
  await new Promise<void>((resolve) => web.listen(0, "127.0.0.1", resolve));
  const { port } = web.address() as AddressInfo;
  const names = ["api.example.com", "cdn.example.com", "other.example.com"];
  env = {
    NODE_OPTIONS: `--import ${preload}`,
    TOOLYARD_TEST_HOSTS: JSON.stringify({
      ...Object.fromEntries(names.map((name) => [name, address])),
      "db.internal": "127.0.0.1",
    }),
    TOOLYARD_TEST_ROUTES: JSON.stringify({ [address]: port }),
  };
});
afterEach(async () => await inside?.[Symbol.asyncDispose]());
afterAll(() => web.close());

async function open(network: unknown): Promise<void> {
  inside = await openInside({ sandbox: network === undefined ? true : { network }, env });
}

const fetched = (host: string) =>
  `return await fetch("http://${host}/").then((r) => r.text(), (e) => e.cause?.code ?? String(e))`;
const facts = async () => JSON.parse((await get(`${inside.gateway.url}/api/servers/inside`)).text).sandbox;
const written = (): unknown =>
  JSON.parse(readFileSync(join(inside.directory, "toolyard.json"), "utf8")).mcpServers.inside.sandbox;

async function command(...words: string[]) {
  const options = ["--config", join(inside.directory, "toolyard.json"), "--data-dir", join(inside.directory, "data")];
  return await runCommand(["sandbox", ...words, ...options], { HOME: inside.home });
}

describe("`sandbox learn`", () => {
  test("notes the hosts that a server reaches, also over a restart, and makes them its list", async () => {
    await open(undefined);
    // Before it is wanted nothing is noted.
    expect(await inside.run(fetched("other.example.com"))).toBe("http for other.example.com");
    const begun = await command("learn", "inside");
    expect(begun.stdout).toContain("The hosts that inside reaches are noted until");
    expect(begun.code).toBe(0);
    expect(await inside.run(fetched("api.example.com"))).toBe("http for api.example.com");
    await inside.run(fetched("api.example.com"));
    // What it cannot reach is none of its hosts.
    await inside.run(fetched("missing.example.com"));
    await until(async () => (await facts()).learning.network.length === 1);
    await inside.again();
    expect(await inside.run(fetched("cdn.example.com"))).toBe("http for cdn.example.com");
    await until(async () => (await facts()).learning.network.length === 2);
    expect((await facts()).learning).toMatchObject({
      network: ["api.example.com", "cdn.example.com"],
      isOver: false,
      isFull: false,
    });
    const shown = await command("learn", "inside");
    expect(shown.stdout).toContain('"sandbox": { "network": ["api.example.com","cdn.example.com"] }');
    // Only a person's yes or --keep writes.
    expect(written()).toBe(true);
    expect((await command("explain", "inside")).stdout).toContain("  cdn.example.com");
    const kept = await command("learn", "inside", "--keep");
    expect(kept.code).toBe(0);
    expect(written()).toEqual({ network: ["api.example.com", "cdn.example.com"] });
    expect(await inside.run(fetched("api.example.com"))).toBe("http for api.example.com");
    expect(await inside.run(fetched("other.example.com"))).toBe("ENOTFOUND");
    const audit = await get(`${inside.gateway.url}/api/servers/inside`);
    expect(JSON.parse(audit.text).sandbox.learning).toBeNull();
  });

  test("a private host is noted with its port, which is what allows it", async () => {
    const { port } = web.address() as AddressInfo;
    await open(["*", `db.internal:${port}`]);
    await command("learn", "inside", "--for", "30m");
    expect(await inside.run(fetched(`db.internal:${port}`))).toContain("http for");
    await until(async () => (await facts()).learning.network.length === 1);
    expect((await facts()).learning.network).toEqual([`db.internal:${port}`]);
  });

  test("begins again with --for, and writes nothing where nothing was noted", async () => {
    await open(undefined);
    await command("learn", "inside", "--for", "30m");
    await inside.run(fetched("api.example.com"));
    await until(async () => (await facts()).learning.network.length === 1);
    await command("learn", "inside", "--for", "2h");
    expect((await facts()).learning.network).toEqual([]);
    const { since, until: end } = (await facts()).learning;
    expect(Date.parse(end) - Date.parse(since)).toBe(2 * 3_600_000);
    const kept = await command("learn", "inside", "--keep");
    expect(kept.stderr).toContain("no host was noted that inside reached");
    expect(kept.code).not.toBe(0);
    expect(written()).toBe(true);
    for (const wrong of ["0m", "2", "1 d", "99999d"])
      expect((await command("learn", "inside", "--for", wrong)).code, wrong).not.toBe(0);
  });

  test.each([
    ["no sandbox", false, /runs without a sandbox/],
    ["the network of this machine", { network: "host" }, /shares the network/],
    ["no network", { network: [] }, /may reach no host/],
  ])("is refused for a server with %s", async (_, sandbox, why) => {
    inside = await openInside({ sandbox, env });
    const refused = await command("learn", "inside");
    expect(refused.stderr).toMatch(why);
    expect(refused.code).not.toBe(0);
  });
});

describe("hosts that a server was kept from", () => {
  test("say what allows them, and are allowed by one order", async () => {
    await open(["api.example.com"]);
    expect(await inside.run(fetched("other.example.com"))).toBe("ENOTFOUND");
    await until(async () => (await facts()).denied.length === 1);
    expect((await facts()).denied).toMatchObject([{ host: "other.example.com", allowedBy: "other.example.com" }]);
    const allowed = await command("allow", "inside", "other.example.com");
    expect(allowed.stdout).toContain("inside may reach other.example.com");
    expect(written()).toEqual({ network: ["api.example.com", "other.example.com"] });
    expect(await inside.run(fetched("other.example.com"))).toBe("http for other.example.com");
    expect((await command("allow", "inside", "http://x/")).code).not.toBe(0);
    expect((await command("allow", "inside", "other.example.com")).stdout).toContain("already");
  });

  test("are allowed by those who run the gateway alone", async () => {
    await open(["api.example.com"]);
    for (const [path, body] of [
      ["learn", {}],
      ["allow", { host: "other.example.com" }],
    ] as const)
      expect((await post(`${inside.gateway.url}/api/servers/inside/sandbox/${path}`, body)).status).toBe(403);
    expect(written()).toEqual({ network: ["api.example.com"] });
  });
});

describe("what is noted is bounded:", () => {
  const clock = { now: () => 1_000 };

  test("hosts of one server, and servers", async () => {
    let saved: unknown;
    const names = await openLearnedNames({ load: async () => undefined, save: (value) => (saved = value) }, clock);
    names.note("one", "early.test");
    expect(saved).toBeUndefined();
    names.begin("one", 1);
    for (let n = 0; n < 300; n += 1) names.note("one", `n${n}.test`);
    expect(names.of("one")).toMatchObject({ isFull: true });
    expect(names.of("one")?.network).toHaveLength(200);
    for (let n = 0; n < 1_500; n += 1) names.begin(`s${n}`, 60_000);
    expect(names.of("one")).toBeUndefined();
    expect(names.of("s500")).toBeDefined();
    expect(Object.keys(readLearnings(saved))).toHaveLength(1_000);
  });

  test("and after its time nothing is noted", async () => {
    let now = 0;
    const names = await openLearnedNames({ load: async () => undefined, save: () => undefined }, { now: () => now });
    names.begin("one", 60_000);
    names.note("one", "a.test");
    now = 60_000;
    names.note("one", "b.test");
    expect(names.of("one")?.network).toEqual(["a.test"]);
  });

  test.each([
    ["nothing", undefined],
    ["a list", []],
    ["another format", { format: 2, servers: {} }],
    [
      "servers that are none",
      { format: 1, servers: { one: 5, two: { sinceMs: "x" }, three: { sinceMs: 1, untilMs: 1e300 } } },
    ],
  ])("%s in the file is no learning", (_, kept) => expect(readLearnings(kept)).toEqual({}));

  test("names in the file that a configuration could not have are left out", () => {
    const learning = { sinceMs: 1, untilMs: 2, network: ["a.test", "no name", "a.test:x", 7, "b.test:8443"] };
    expect(readLearnings({ format: 1, servers: { one: learning } })["one"]?.network).toEqual(["a.test", "b.test:8443"]);
  });
});
