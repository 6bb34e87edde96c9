import { readFile, writeFile } from "node:fs/promises";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { badServer, startGateway, type RunningGateway } from "../harness/gateway.ts";
import { admin, as, member } from "../harness/known-people.ts";
import { get, untilOnline } from "../harness/rest.ts";
import { send, type RawAnswer } from "../harness/rpc.ts";
import { until } from "../harness/until.ts";

const hostile = `<img src=x onerror=alert(1)>`;
const written = `{
  // what we use
  "mcpServers": {
    "mail": {
      "command": ${JSON.stringify(process.execPath)},
      "args": ${JSON.stringify(badServer("--behaviours=canary,echo,fail", `--tool-name=${hostile}`).args)},
      "tools": {
        "deny": ["fai*", /* why */ "old"]
      }
    },
    "few": ${JSON.stringify({ ...badServer("--behaviours=canary,echo"), tools: { allow: ["canary"] } })}
  },
  "toolyard": { "principals": ${JSON.stringify({ root: admin("root"), bob: member("bob") })} }
}
`;

let gateway: RunningGateway;
beforeAll(async () => {
  gateway = await startGateway({ config: written });
  await untilOnline(gateway.url, as("root"));
});
afterAll(async () => await gateway[Symbol.asyncDispose]());

const text = async (): Promise<string> => await readFile(gateway.configFile, "utf8");
const urlOf = (path: string): string => `${gateway.url}/api/tools/${encodeURIComponent(path)}/rule`;
/** Each test begins with the file as it was, and with what it means in force. */
beforeEach(async () => {
  await writeFile(gateway.configFile, written);
  await until(async () => {
    const now = await paths();
    const own = [`mail:${hostile}`, "mail:canary", "mail:echo", "few:canary"];
    return now.length === own.length && own.every((path) => now.includes(path));
  });
});
const order = async (method: string, url: string, body: unknown = {}, headers: object = {}): Promise<RawAnswer> =>
  await send(url, {
    method,
    headers: { "content-type": "application/json", ...as("root"), ...headers },
    body: JSON.stringify(body),
  });
const put = async (path: string, body: unknown, headers = {}): Promise<RawAnswer> =>
  await order("PUT", urlOf(path), body, headers);
const shown = async (path: string): Promise<RawAnswer> => await get(urlOf(path), as("root"));
const paths = async (): Promise<readonly string[]> =>
  (await get(`${gateway.url}/api/tools`, as("root"))).json.tools.map((tool: { tool_path: string }) => tool.tool_path);

describe("the rule for a tool", () => {
  test("hides it, gives it another name and text, and gives everything back, in force each time", async () => {
    const set = await put("mail:echo", { name: "repeat", description: "Says it again." });
    expect([set.status, set.json]).toEqual([
      200,
      {
        server: "mail",
        tool: "echo",
        access: null,
        asks: null,
        name: "repeat",
        description: "Says it again.",
        phrases: null,
        isOffered: true,
        hiddenBy: [],
        etag: expect.stringMatching(/^"[\w-]{27}"$/) as string,
      },
    ]);
    await until(async () => (await paths()).includes("mail:repeat"));
    // By the name that it has now, and by its own.
    expect((await shown("mail:repeat")).json).toEqual(set.json);
    expect((await shown("mail:echo")).json).toEqual(set.json);
    const hidden = await put("mail:repeat", { access: "deny" });
    expect(hidden.json).toMatchObject({
      tool: "echo",
      name: null,
      isOffered: false,
      hiddenBy: [{ list: "tools.deny", pattern: "echo" }],
    });
    await until(async () => !(await paths()).some((path) => /^mail:(?:echo|repeat)$/.test(path)));
    expect(await text()).toContain('"deny": ["fai*", /* why */ "old", "echo"]');
    const gone = await order("DELETE", urlOf("mail:echo"));
    expect(gone.json).toMatchObject({ access: null, isOffered: true });
    await until(async () => (await paths()).includes("mail:echo"));
    expect(await text()).toBe(written);
    expect(await readFile(`${gateway.configFile}.bak`, "utf8")).toContain('"echo"]');
  });

  test("shows one that the entry's list of what is offered left out, and says what hides a tool", async () => {
    expect((await shown("few:echo")).json).toMatchObject({
      access: null,
      isOffered: false,
      hiddenBy: [{ list: "tools.allow", pattern: null }],
    });
    expect((await put("few:echo", { access: "allow" })).json).toMatchObject({ access: "allow", isOffered: true });
    await until(async () => (await paths()).includes("few:echo"));
    expect((await put("few:echo", { access: "deny" })).json).toMatchObject({ access: "deny", isOffered: false });
    // The list of what is offered still has it: whoever takes a rule out does not mean to hide anything.
    expect((await order("DELETE", urlOf("few:echo"))).json).toMatchObject({ access: "allow", isOffered: true });
    // A pattern hides it, and no rule of its own changes that.
    expect((await put("mail:fail", { access: "allow" })).json).toMatchObject({
      isOffered: false,
      hiddenBy: [{ list: "tools.deny", pattern: "fai*" }],
    });
    expect(await text()).toBe(written.replace('"allow":["canary"]', '"allow":["canary", "echo"]'));
  });

  test("is not written over one that somebody else has changed: both are shown", async () => {
    const { etag } = (await shown("mail:canary")).json;
    const mine = await put("mail:canary", { description: "mine" }, { "if-match": etag });
    expect(mine.status).toBe(200);
    // Rules for others are no reason.
    expect((await put("few:canary", { description: "another" })).status).toBe(200);
    const theirs = await put("mail:canary", { description: "theirs" }, { "if-match": etag });
    expect([theirs.status, theirs.json.code, theirs.json.current.description, theirs.json.current.etag]).toEqual([
      409,
      "CONFIG_CHANGED",
      "mine",
      mine.json.etag,
    ]);
    expect((await order("DELETE", urlOf("mail:canary"), {}, { "if-match": etag })).status).toBe(409);
    for (const path of ["mail:canary", "few:canary"]) expect((await order("DELETE", urlOf(path))).status).toBe(200);
    expect(JSON.parse((await text()).replaceAll(/\/\/.*|\/\*.*\*\//g, ""))).toEqual(
      JSON.parse(written.replaceAll(/\/\/.*|\/\*.*\*\//g, "")),
    );
  });

  test("changes many at once, or none of them", async () => {
    const url = `${gateway.url}/api/tool-rules`;
    const rules = { "mail:echo": { access: "deny" }, "mail:canary": { access: "deny", name: "c" }, "few:canary": {} };
    const { status, json } = await order("PATCH", url, { rules });
    expect([
      status,
      json.rules.map(({ server, tool, access }: Record<string, string>) => [server, tool, access]),
    ]).toEqual([
      200,
      [
        ["mail", "echo", "deny"],
        ["mail", "canary", "deny"],
        ["few", "canary", "allow"],
      ],
    ]);
    const listed = (await get(url, as("root"))).json.rules;
    expect(listed.map(({ server, tool }: Record<string, string>) => `${server}:${tool}`)).toEqual([
      ...["mail:fai*", "mail:old", "mail:echo", "mail:canary", "few:canary"],
    ]);
    const before = await text();
    const wrong = { ...rules, "mail:nothing": { access: "deny" }, "mail:echo": { access: null } };
    expect((await order("PATCH", url, { rules: wrong })).json.code).toBe("TOOL_UNKNOWN");
    expect(await text()).toBe(before);
    const back = { "mail:echo": { access: null }, "mail:canary": { access: null, name: null } };
    expect((await order("PATCH", url, { rules: back })).status).toBe(200);
    expect(await text()).toBe(written);
  });

  test("of one tool under two of its names is changed by both", async () => {
    await put("mail:echo", { name: "repeat" });
    await until(async () => (await paths()).includes("mail:repeat"));
    const rules = { "mail:repeat": { description: "Says it again." }, "mail:echo": { phrases: ["once more"] } };
    const { json } = await order("PATCH", `${gateway.url}/api/tool-rules`, { rules });
    expect(json.rules[0]).toMatchObject({ name: "repeat", description: "Says it again.", phrases: ["once more"] });
    expect(json.rules[1]).toEqual(json.rules[0]);
  });

  test("of a hidden tool whose own name another one was given is not guessed", async () => {
    for (const [path, name] of [
      ["mail:fail", "lose"],
      ["mail:echo", "fail"],
    ] as const)
      expect((await put(path, { name })).status).toBe(200);
    await until(async () => (await paths()).includes("mail:fail"));
    for (const answer of [await shown("mail:fail"), await put("mail:fail", { access: "deny" })])
      expect([answer.status, answer.json.code]).toEqual([409, "TOOL_AMBIGUOUS"]);
    expect((await order("DELETE", urlOf("mail:echo"))).json).toMatchObject({ tool: "echo", name: null });
  });

  test("takes a pattern and a tool that is gone out of the lists, by what stands in them", async () => {
    expect((await order("DELETE", urlOf("mail:fai*"))).status).toBe(200);
    expect((await order("DELETE", urlOf("mail:old"))).status).toBe(200);
    await until(async () => (await paths()).includes("mail:fail"));
    expect(await text()).not.toMatch(/fai\*|old/);
  });

  test("FAULT 35, FAULT 55: of a tool whose name is markup is one of that tool and no other", async () => {
    const path = `mail:${hostile}`;
    expect((await put(path, { access: "deny", description: hostile })).json).toMatchObject({
      tool: hostile,
      isOffered: false,
    });
    await until(async () => !(await paths()).includes(path));
    expect((await order("DELETE", urlOf(path))).json.isOffered).toBe(true);
  });

  test.each([
    ["mail:canary", { access: "hide" }, "PARAMS_INVALID"],
    ["mail:canary", { name: "" }, "PARAMS_INVALID"],
    ["mail:canary", { name: "x".repeat(201) }, "PARAMS_INVALID"],
    ["mail:canary", { phrases: "x" }, "PARAMS_INVALID"],
    ["mail:canary", { phrases: Array.from({ length: 7 }, () => "x") }, "PARAMS_INVALID"],
    ["mail:nothing", { access: "deny" }, "TOOL_UNKNOWN"],
    ["nobody:canary", { access: "deny" }, "TOOL_UNKNOWN"],
    ["mail:__proto__", { name: "x" }, "TOOL_UNKNOWN"],
    ["mail:constructor", { name: "x" }, "TOOL_UNKNOWN"],
    ["canary", { access: "deny" }, "TOOL_AMBIGUOUS"],
  ])("of %s as %j is refused", async (path, body, code) => {
    const before = await text();
    const { json } = await put(path, body);
    expect([json.code, await text()]).toEqual([code, before]);
  });

  test("is for admins alone, and stands in the audit", async () => {
    const before = await text();
    for (const [method, url] of [
      ["PUT", urlOf("mail:canary")],
      ["DELETE", urlOf("mail:canary")],
      ["PATCH", `${gateway.url}/api/tool-rules`],
    ] as const)
      expect((await order(method, url, { access: "deny", rules: {} }, as("bob"))).status).toBe(403);
    expect((await get(urlOf("mail:canary"), as("bob"))).status).toBe(403);
    expect((await get(`${gateway.url}/api/tool-rules`, as("bob"))).status).toBe(403);
    expect(await text()).toBe(before);
    const { entries } = (await get(`${gateway.url}/api/audit?action=config.tool.change`, as("root"))).json;
    expect(entries.map(({ object }: Record<string, string>) => object)).toContain("mail:fai*");
  });
});
