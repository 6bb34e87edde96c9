import { readFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startRegistry, type RegistryStandIn } from "../cli/manage/registry-stand-in.ts";
import { openShop, realServers, type Shop } from "../cli/manage/shop.ts";
import { badServer, startGateway, type RunningGateway } from "../harness/gateway.ts";
import { admin, as, member } from "../harness/known-people.ts";
import { get, post } from "../harness/rest.ts";
import type { RawAnswer } from "../harness/rpc.ts";
import { until } from "../harness/until.ts";

const far = {
  ...{ name: "io.github.acme/far-away", version: "1.2.0", description: "Everything that is far away" },
  remotes: [
    {
      ...{ type: "streamable-http", url: "https://far.example.com/mcp" },
      headers: [{ name: "X-Region", description: "where", isRequired: true, choices: ["eu", "us"] }],
    },
  ],
};
const near = {
  ...{ name: "io.github.acme/near-by", version: "3.0.0", description: "Nothing that is far away" },
  packages: [{ registryType: "oci", identifier: "acme/near-by", transport: { type: "stdio" } }],
};
const broken = { name: "io.github.acme/away-with-it", version: "1.0.0", packages: "none" };
const secret = "hunter2-hunter2-hunter2";

let shop: Shop;
let registry: RegistryStandIn;
let gateway: RunningGateway;
beforeAll(async () => {
  shop = await openShop();
  registry = await startRegistry([far, near, broken]);
  await shop.addProgram("npm", `echo '"2026.8.31"'`);
  // What npx would install is installed here.
  await shop.addProgram("npx", `[ "$1" = "-y" ] && exec '${process.execPath}' '${realServers.memory}'`);
  const config = {
    mcpServers: {
      git: badServer("--behaviours=canary"),
      waits: {
        ...badServer("--behaviours=canary,env"),
        env: { CANARY: "${CATALOG_TEST_KEY}", B: "${CATALOG_TEST_B:-b}" },
      },
      needless: badServer("--behaviours=canary"),
    },
    toolyard: { principals: { root: admin("root"), bob: member("bob") }, registryUrl: registry.url },
  };
  const { PATH = "" } = shop.environment;
  gateway = await startGateway({ config, env: { PATH, CATALOG_TEST_SET: "of-the-environment" } });
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await registry[Symbol.asyncDispose]();
  await shop[Symbol.asyncDispose]();
});

const ask = async (path: string, who = "root"): Promise<RawAnswer> => await get(`${gateway.url}${path}`, as(who));
const fileText = async (): Promise<string> => await readFile(gateway.configFile, "utf8");
const statusOf = async (server: string): Promise<string | undefined> =>
  ((await ask("/api/status")).json.servers as { server: string; status: string }[]).find((row) => row.server === server)
    ?.status;

async function patch(slug: string, values: object, who = "root"): Promise<{ status: number; json: any; text: string }> {
  const answer = await fetch(`${gateway.url}/api/servers/${slug}/variables`, {
    method: "PATCH",
    headers: { ...as(who), "content-type": "application/json" },
    body: JSON.stringify({ values }),
  });
  const text = await answer.text();
  return { status: answer.status, text, json: JSON.parse(text) };
}

describe("the catalog", () => {
  test("has the tested servers of the example, each with what it needs, and says which are there already", async () => {
    const { status, json } = await ask("/api/catalog");
    expect([status, json.servers.length]).toEqual([200, 24]);
    const named = (name: string) => json.servers.find((offer: { name: string }) => offer.name === name);
    expect(named("slack")).toMatchObject({
      target: "slack",
      command: "npx -y @modelcontextprotocol/server-slack",
      program: { name: "npx", isThere: true },
      mayAskForLogin: false,
      isConfigured: false,
      takes: [
        { name: "SLACK_BOT_TOKEN", isSecret: true, isRequired: true, isFile: false },
        { name: "SLACK_TEAM_ID", isSecret: false, isRequired: true },
      ],
    });
    expect(named("filesystem").takes).toMatchObject([{ name: "FILESYSTEM_FOLDER", isFile: true, isRequired: true }]);
    expect(named("memory").takes).toMatchObject([{ name: "MEMORY_FILE_PATH", isFile: true, isRequired: false }]);
    expect(named("git")).toMatchObject({ isConfigured: true, takes: [] });
    expect(json.servers.every((offer: { description: string }) => offer.description.length > 10)).toBe(true);
  });

  test("has those of the registry whose name has a text, and leaves out what cannot be read", async () => {
    const { status, json } = await ask("/api/catalog/registry?search=away");
    expect([status, json.servers]).toEqual([
      200,
      [
        expect.objectContaining({
          target: "io.github.acme/far-away",
          version: "1.2.0",
          command: "https://far.example.com/mcp",
          program: null,
          mayAskForLogin: true,
          takes: [expect.objectContaining({ name: "X-Region", isRequired: true, choices: ["eu", "us"] })],
        }),
      ],
    ]);
    const docker = (await ask("/api/catalog/registry?search=near")).json.servers[0];
    expect(docker).toMatchObject({
      program: { name: "docker" },
      command: expect.stringContaining("docker run") as string,
    });
    expect((await ask("/api/catalog/registry?search=")).json.code).toBe("PARAMS_INVALID");
  });

  test("is for admins alone", async () => {
    for (const path of ["/api/catalog", "/api/catalog/registry?search=away", "/api/servers/waits/variables"])
      expect((await ask(path, "bob")).json.code).toBe("FORBIDDEN");
    expect((await patch("waits", { CATALOG_TEST_KEY: secret }, "bob")).json.code).toBe("FORBIDDEN");
  });
});

describe("a tested server, with values", () => {
  test("is tried with its key, and added with a reference to it, pinned", async () => {
    const body = { target: "github", env: { GITHUB_PERSONAL_ACCESS_TOKEN: secret, REGION: "eu" } };
    const before = await fileText();
    const tried = await post(`${gateway.url}/api/servers/test`, body, as("root"));
    expect(tried.json).toMatchObject({ ok: true, name: "github" });
    expect(await fileText()).toBe(before);
    const added = await post(`${gateway.url}/api/servers`, body, as("root"));
    expect(added.json).toMatchObject({
      ok: true,
      text: expect.stringContaining("GITHUB_PERSONAL_ACCESS_TOKEN is kept encrypted") as string,
    });
    const { mcpServers } = JSON.parse(await fileText()) as { mcpServers: Record<string, object> };
    expect(mcpServers["github"]).toEqual({
      command: "npx",
      args: ["-y", "@modelcontextprotocol/server-github@2026.8.31"],
      env: { GITHUB_PERSONAL_ACCESS_TOKEN: "${GITHUB_PERSONAL_ACCESS_TOKEN}", REGION: "eu" },
    });
    for (const text of [tried.text, added.text, await fileText()]) expect(text).not.toContain(secret);
    await until(async () => (await statusOf("github")) === "online");
  });

  test("that does not answer is added all the same where that is wanted, and nothing of it is kept before", async () => {
    const body = { name: "mute", command: [process.execPath, "-e", "process.exit(3)"], env: { MUTE_TOKEN: secret } };
    const refused = await post(`${gateway.url}/api/servers`, body, as("root"));
    expect(refused.json).toMatchObject({ ok: false, facts: [] });
    expect(await fileText()).not.toContain("mute");
    expect((await post(`${gateway.url}/api/servers`, { ...body, test: false }, as("root"))).json.facts).toHaveLength(1);
    expect(await fileText()).toContain("${MUTE_TOKEN}");
    expect((await ask("/api/servers/mute/variables")).json.variables).toEqual([{ name: "MUTE_TOKEN", from: "kept" }]);
  });

  test("headers are for addresses, and a secret in one keeps its scheme", async () => {
    const remote = { name: "far", target: "http://127.0.0.1:9/mcp", test: false };
    const wrong = await post(`${gateway.url}/api/servers`, { ...remote, env: { A: "b" } }, as("root"));
    expect([wrong.status, wrong.json.code]).toEqual([400, "CONFIG_INVALID"]);
    const headers = { Authorization: `Bearer ${secret}`, "X-Team": "blue" };
    await post(`${gateway.url}/api/servers`, { ...remote, headers }, as("root"));
    const { mcpServers } = JSON.parse(await fileText()) as { mcpServers: Record<string, object> };
    expect(mcpServers["far"]).toMatchObject({ headers: { Authorization: "Bearer ${FAR_TOKEN}", "X-Team": "blue" } });
  });
});

describe("variables that are not set", () => {
  test("are listed without values, kept encrypted, and the server starts without a restart", async () => {
    expect((await ask("/api/servers/waits/variables")).json.variables).toEqual([
      { name: "CATALOG_TEST_KEY", from: "nowhere" },
      { name: "CATALOG_TEST_B", from: "default" },
    ]);
    expect((await ask("/api/servers/needless/variables")).json.variables).toEqual([]);
    expect((await ask("/api/servers/none/variables")).json.code).toBe("SERVER_UNKNOWN");
    expect(await statusOf("waits")).toBe("disabled");
    const kept = await patch("waits", { CATALOG_TEST_KEY: secret });
    expect([kept.status, kept.json.variables[0]]).toEqual([200, { name: "CATALOG_TEST_KEY", from: "kept" }]);
    await until(async () => (await statusOf("waits")) === "online");
    const files = await readdir(join(gateway.directory, "data", "tokens"));
    expect(files.some((name) => /^values_of_variables-\w+\.vault$/.test(name))).toBe(true);
    for (const path of ["/api/servers/waits/variables", "/api/config", "/api/servers/waits/settings"])
      expect((await ask(path)).text).not.toContain(secret);
    const { entries } = (await ask("/api/audit?action=config.variable.keep")).json;
    expect(entries).toEqual([expect.objectContaining({ actor: "root", object: "CATALOG_TEST_KEY", outcome: "ok" })]);
    expect(JSON.stringify(entries)).not.toContain(secret);
    expect((await patch("waits", { CATALOG_TEST_KEY: null })).json.variables[0].from).toBe("nowhere");
    await until(async () => (await statusOf("waits")) === "disabled");
  });

  test.each([
    [{ PATH: "/tmp" }, "refers to no such variable"],
    [{ TOOLYARD_KEY: "x" }, "refers to no such variable"],
    [{ CATALOG_TEST_KEY: "" }, "body.values.CATALOG_TEST_KEY"],
    [{ CATALOG_TEST_KEY: 7 }, "body.values.CATALOG_TEST_KEY"],
  ])("%j is refused, and nothing is kept", async (values, why) => {
    const { status, json } = await patch("waits", values);
    expect([status, json.code]).toEqual([400, "PARAMS_INVALID"]);
    expect(json.detail).toContain(why);
  });

  test("one that is set where the gateway was started is not kept: it would have no effect", async () => {
    const entry = { command: process.execPath, args: ["-v"], env: { A: "${CATALOG_TEST_SET}" }, enabled: false };
    await post(`${gateway.url}/api/servers`, { name: "given", entry, test: false }, as("root"));
    expect((await ask("/api/servers/given/variables")).json.variables).toEqual([
      { name: "CATALOG_TEST_SET", from: "environment" },
    ]);
    expect((await patch("given", { CATALOG_TEST_SET: "x" })).json.detail).toContain("takes precedence");
  });
});
