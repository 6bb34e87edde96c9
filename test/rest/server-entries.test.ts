import { readFile, writeFile } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { badServer, startGateway, type RunningGateway } from "../harness/gateway.ts";
import { admin, as, member } from "../harness/known-people.ts";
import { get, run } from "../harness/rest.ts";
import { send, type RawAnswer } from "../harness/rpc.ts";
import { addCast, startTeamGateway } from "../harness/team-gateway.ts";
import { until } from "../harness/until.ts";

const secret = "hunter2-hunter2-hunter2";
const written = `{
  // what we use
  "mcpServers": {
    "My Mail": {
      "command": ${JSON.stringify(process.execPath)},
      "args": ${JSON.stringify(badServer("--behaviours=env,canary").args)}, // of the test
      "env": { "API_TOKEN": "${secret}", "COLOUR": "blue" }
    },
    "other": ${JSON.stringify(badServer("--behaviours=canary"))},
    "wrong": { "command": 7 }
  },
  "toolyard": { "principals": ${JSON.stringify({ root: admin("root"), bob: member("bob") })} }
}
`;

let gateway: RunningGateway;
beforeAll(async () => {
  gateway = await startGateway({ config: written });
});
afterAll(async () => await gateway[Symbol.asyncDispose]());

const text = async (): Promise<string> => await readFile(gateway.configFile, "utf8");
const patch = async (slug: string, body: unknown, headers: object = {}, who = "root"): Promise<RawAnswer> =>
  await send(`${gateway.url}/api/servers/${slug}`, {
    method: "PATCH",
    headers: { "content-type": "application/merge-patch+json", ...as(who), ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
const entryOf = async (slug: string): Promise<RawAnswer> =>
  await get(`${gateway.url}/api/servers/${slug}/entry`, as("root"));
const variable = async (name: string): Promise<string> =>
  (await run(gateway.url, "My-Mail:env", { name }, as("root"))).text;

describe("PATCH of a server", () => {
  test("changes what is sent in the file, keeps secrets and comments, and is in force by itself", async () => {
    const { status, json } = await patch("My-Mail", { env: { COLOUR: "red" }, displayName: "Mail" });
    expect([status, json.key, json.entry.env, json.problem, json.warnings]).toEqual([
      200,
      "My Mail",
      { API_TOKEN: "(hidden)", COLOUR: "(hidden)" },
      null,
      [],
    ]);
    const now = await text();
    expect(now).toContain("// what we use");
    expect(now).toContain("// of the test");
    expect(now).toContain(`"env": { "API_TOKEN": "${secret}", "COLOUR": "red" }`);
    expect(await readFile(`${gateway.configFile}.bak`, "utf8")).toBe(written);
    await until(async () => (await variable("COLOUR")).includes("red"));
    const sent = await patch("My-Mail", (await entryOf("My-Mail")).json.entry);
    expect([sent.status, await text()]).toEqual([200, now]);
    expect((await entryOf("My-Mail")).text + sent.text).not.toContain(secret);
  });

  test("does not write a mark where a secret was", async () => {
    const before = await text();
    for (const body of [{ env: { OTHER: "(hidden)" } }, { env: { API_TOKEN: "Bearer [redacted]" } }]) {
      const { status, json } = await patch("My-Mail", body);
      expect([status, json.code]).toEqual([400, "PARAMS_INVALID"]);
    }
    expect(await text()).toBe(before);
  });

  test("is refused for the version that somebody else has changed, with the entry as it is", async () => {
    const { etag } = (await entryOf("other")).json;
    const mine = await patch("other", { category: "one" }, { "if-match": etag });
    expect(mine.status).toBe(200);
    expect(mine.json.etag).not.toBe(etag);
    const late = await patch("other", { category: "two" }, { "if-match": etag });
    expect([late.status, late.json.code, late.json.current.entry.category, late.json.current.etag]).toEqual([
      409,
      "CONFIG_CHANGED",
      "one",
      mine.json.etag,
    ]);
    // What else stands in the file is no reason.
    await writeFile(gateway.configFile, (await text()).replace("// what we use", "// what all use"));
    expect((await patch("other", { category: null }, { "if-match": late.json.current.etag })).status).toBe(200);
    expect(await text()).toContain("// what all use");
    expect(await text()).not.toContain("category");
  });

  test.each([
    [{ command: 7 }, "mcpServers.other.command"],
    [{ callTimeoutMs: -1 }, "mcpServers.other.callTimeoutMs"],
    [{ command: null }, "mcpServers.other"],
    [{ url: "http://127.0.0.1:9/" }, "either `command` or `url`"],
    [{ denyTools: ["x"] }, "did you mean"],
    ['{"env":{"__proto__":"x"}}', "__proto__"],
    ['{"constructor":{"prototype":{"admin":true}}}', "is not allowed"],
  ])("%j would make the entry wrong: it is not written", async (body, message) => {
    const before = await text();
    const { status, json } = await patch("other", body);
    expect([status, json.code]).toEqual([400, "CONFIG_INVALID"]);
    expect(json.detail).toContain(message);
    expect(await text()).toBe(before);
    expect((Object.prototype as { admin?: unknown }).admin).toBeUndefined();
  });

  test.each(["[]", '"x"', "7", "null", "{", ""])("of %j is no patch", async (body) => {
    const before = await text();
    const { status } = await patch("other", body);
    // Nothing at all is a patch that changes nothing.
    expect([status, await text()]).toEqual([body === "" ? 200 : 400, before]);
  });

  test("mends an entry that was wrong, and says what has no effect in it", async () => {
    const one = await patch("wrong", { category: "broken" });
    expect([one.status, one.json.problem]).toEqual([200, expect.stringContaining("command") as string]);
    const { command, args } = badServer("--behaviours=canary");
    const { status, json } = await patch("wrong", { command, args, role: "admin", teamId: "x" });
    expect([status, json.problem]).toEqual([200, null]);
    expect(json.warnings.join("\n")).toMatch(/role[^]*teamId/);
    await until(async () => (await run(gateway.url, "wrong:canary", {}, as("root"))).status === 200);
  });

  test("a variable that is not set yet is no mistake: the server waits for it", async () => {
    const { status, json } = await patch("other", { env: { REGION: "${NOT_SET_HERE}" } });
    expect([status, json.problem]).toEqual([200, expect.stringContaining("NOT_SET_HERE") as string]);
    expect((await patch("other", { env: null })).json.problem).toBeNull();
  });

  test("two at the same moment are both in the file", async () => {
    const names = Array.from({ length: 8 }, (_, at) => `V${at}`);
    const told = await Promise.all(names.map(async (name) => await patch("other", { env: { [name]: "x" } })));
    expect(told.map(({ status }) => status)).toEqual(names.map(() => 200));
    expect(Object.keys((await entryOf("other")).json.entry.env).sort()).toEqual(names);
    await patch("other", { env: null });
  });

  test("of a server that is not in the file is refused, and GET changes nothing", async () => {
    const before = await text();
    for (const slug of ["nobody", "__proto__", "..%2Fother", encodeURIComponent("<img src=x>")])
      expect([slug, (await patch(slug, { command: "x" })).json.code]).toEqual([slug, "SERVER_UNKNOWN"]);
    await get(`${gateway.url}/api/servers/other/entry?command=x`, as("root"));
    expect(await text()).toBe(before);
  });

  test("FAULT 91: is for admins alone, and stands in the audit", async () => {
    const before = await text();
    const { status, json } = await patch("other", { command: "bash", args: ["-c", "true"] }, {}, "bob");
    expect([status, json.code, await text()]).toEqual([403, "FORBIDDEN", before]);
    expect((await get(`${gateway.url}/api/servers/other/entry`, as("bob"))).status).toBe(403);
    const { entries } = (await get(`${gateway.url}/api/audit?action=config.server.change`, as("root"))).json;
    expect(entries.map(({ object, actor }: Record<string, string>) => `${actor} ${object}`)).toContain("root other");
  });
});

test("FAULT 91: with teams, only an admin of the gateway changes an entry of the file", async () => {
  await using team = await startTeamGateway();
  const cast = await addCast(team);
  const before = await readFile(team.gateway.configFile, "utf8");
  for (const who of ["olga", "tom", "bob", "cid"] as const)
    for (const [method, path] of [
      ["PATCH", "/api/servers/own"],
      ["PUT", "/api/tools/own%3Acanary/rule"],
      ["DELETE", "/api/tools/own%3Acanary/rule"],
      ["PATCH", "/api/tool-rules"],
    ] as const) {
      const { status, json } = await team.ask(cast[who], method, path, { body: { command: "bash" } });
      expect([who, path, status, json.code]).toEqual([who, path, 403, "FORBIDDEN"]);
    }
  expect(await readFile(team.gateway.configFile, "utf8")).toBe(before);
  const headers = await team.browser("ann");
  const changed = await team.ask("", "PATCH", "/api/servers/own", { body: { category: "ours" }, headers });
  expect([changed.status, changed.json.entry.category]).toEqual([200, "ours"]);
});

test("a gateway that asks nobody who they are has its file changed by nobody over REST", async () => {
  await using open = await startGateway({ config: { mcpServers: { one: badServer() } } });
  const answer = await send(`${open.url}/api/servers/one`, {
    method: "PATCH",
    headers: { "content-type": "application/json" },
    body: '{"category":"x"}',
  });
  expect([answer.status, answer.json.code]).toEqual([403, "FORBIDDEN"]);
});
