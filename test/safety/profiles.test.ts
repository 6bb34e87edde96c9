import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { runCommand } from "../harness/command.ts";
import { badServer, startGateway, type RunningGateway } from "../harness/gateway.ts";
import { get } from "../harness/rest.ts";
import { modernRpc, rpc, send } from "../harness/rpc.ts";
import { until } from "../harness/until.ts";
import { openSession } from "../protocol/stream.ts";
import { openDefined, type Defined } from "./defined.ts";

let git: Defined;
let mail: Defined;
let gateway: RunningGateway;

// oxlint-disable-next-line typescript/no-explicit-any -- tests look into whatever came back
type Any = any;

const hashOf = (token: string): string => `sha256:${createHash("sha256").update(token).digest("hex")}`;
const bearer = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` });

const choosing = { inputSchema: { type: "object", properties: { action: { enum: ["list", "delete"] } } } };
const work = { servers: ["git", "docs"], tools: ["git:*", "docs:echo"], effects: ["read", "unknown"] };

beforeEach(async () => {
  [git, mail] = await Promise.all([openDefined(), openDefined()]);
  git.list([
    { name: "get_commit", description: "Shows one commit" },
    { name: "delete_branch", description: "Deletes a branch" },
    { name: "list_rows", ...choosing },
  ]);
  mail.list([
    { name: "get_commit_mail", description: "Shows the mail about one commit" },
    { name: "get_letter", description: "Shows a letter" },
  ]);
});
afterEach(async () => {
  await gateway[Symbol.asyncDispose]();
  await git[Symbol.asyncDispose]();
  await mail[Symbol.asyncDispose]();
});

function configWith(profiles: object, more: object = {}): object {
  const defined = (one: Defined): object => ({ ...one.entry, definitions: "note" });
  const mcpServers = { git: defined(git), mail: defined(mail), docs: badServer("--resources") };
  return { mcpServers, toolyard: { approvals: { holdMs: 0 }, profiles, ...more } };
}

async function start(profiles: object, more: object = {}, headers: Record<string, string> = {}): Promise<void> {
  gateway = await startGateway({ config: configWith(profiles, more), directory: git.directory });
  await until(async () => {
    const { text } = await send(`${gateway.url}/api/tools?limit=100`, { method: "GET", headers });
    return ["git:get_commit", "mail:get_letter", "docs:"].every((name) => text.includes(name));
  });
}

const ask = async (path: string, method: string, params: object = {}, headers = {}): Promise<string> =>
  (await rpc(`${gateway.url}${path}`, method, params, headers)).text;
const called = async (path: string, name: string, given: object = {}, headers = {}): Promise<string> =>
  await ask(path, "tools/call", { name, arguments: given }, headers);
const executed = async (path: string, toolPath: string, given: object = {}, headers = {}): Promise<string> =>
  await called(path, "execute_mcp_tool", { tool_path: toolPath, arguments: given }, headers);
const listed = async (path: string, headers = {}): Promise<string[]> => {
  const { json } = await rpc(`${gateway.url}${path}`, "tools/list", {}, headers);
  return (json.result.tools as { name: string }[]).map(({ name }) => name).toSorted();
};

/** Nothing of the server mail, or of a tool that the profile leaves out. */
const hidden = /mail|letter|delete_branch/;

describe("at the path of a profile", () => {
  test("four tools: search, lists, instructions and calls know only what it has, and how much is hidden", async () => {
    await start({ work });
    for (const method of [rpc as typeof modernRpc, modernRpc]) {
      const post = async (name: string, params: Record<string, unknown> = {}): Promise<string> =>
        (await method(`${gateway.url}/mcp/p/work`, name, params)).text;
      expect(await post("tools/list")).not.toMatch(hidden);
      expect(await post("resources/list")).toMatch(/toolyard:\/\/docs/);
      for (const query of ["commit mail", "letter", "delete a branch"]) {
        const found = await post("tools/call", { name: "discover_mcp_tools", arguments: { query } });
        const {
          tools,
          total_found: total,
          outside,
          unavailable,
        } = JSON.parse(JSON.parse(found.replace(/^(?:event.*\n|data: )*/, "")).result.content[0].text as string);
        expect(JSON.stringify(tools)).not.toMatch(hidden);
        expect([total <= 3, unavailable]).toEqual([true, undefined]);
        expect(outside).toMatch(/^\d+ tools are outside profile work$/);
      }
      const servers = await post("tools/call", { name: "discover_mcp_tools", arguments: {} });
      expect(servers).toContain("outside profile work");
      expect(servers.replaceAll("outside profile work", "")).not.toMatch(hidden);
    }
    const session = await rpc(`${gateway.url}/mcp/p/work`, "initialize", {
      protocolVersion: "2025-11-25",
      capabilities: {},
      clientInfo: { name: "raw", version: "1" },
    });
    expect(session.json.result.instructions).toContain("git");
    expect(session.json.result.instructions).not.toMatch(hidden);
    expect(await executed("/mcp/p/work", "git:get_commit")).toContain("ran get_commit");
    for (const name of ["mail:get_letter", "mail-get_letter", "get_letter", "mail__get_letter", "git:delete_branch"])
      expect([name, await executed("/mcp/p/work", name)]).toEqual([name, expect.stringContaining("in profile work")]);
    expect([mail.ran("get_letter"), git.ran("delete_branch")]).toEqual([0, 0]);
    // Everything is as it was at the path of everything.
    expect(await executed("/mcp", "mail:get_letter")).toContain("ran get_letter");
    const whole = await called("/mcp", "discover_mcp_tools", { query: "letter" });
    expect(whole).toContain("mail:get_letter");
    expect(whole).not.toContain("outside");
  });

  test("a call whose arguments do what its effects leave out is refused, by name of the profile", async () => {
    await start({ work }, { policy: { ask: [] } });
    expect(await executed("/mcp/p/work", "git:list_rows", { action: "list" })).toContain("ran list_rows");
    const refused = await executed("/mcp/p/work", "git:list_rows", { action: "delete" });
    expect(refused).toMatch(/POLICY_DENIED.*outside profile work/);
    // At the endpoint of one server, also a tool that is in no list.
    for (const name of ["purge_all", "delete_branch"])
      expect(await called("/mcp/p/work/server/git", name)).toMatch(/profile work/);
    expect([git.ran("list_rows"), git.ran("purge_all"), git.ran("delete_branch")]).toEqual([1, 0, 0]);
  });

  test.each([
    ["/flat", "git-get_commit", "mail-get_letter"],
    ["/namespaces", "git__get_commit", "mail__get_letter"],
  ])("and %s behind it, lists and calls are the profile's", async (exposure, inside, outside) => {
    await start({ work });
    const path = `/mcp/p/work${exposure}`;
    await called(path, "git", {});
    const names = await listed(path);
    expect(names.join(" ")).not.toMatch(hidden);
    expect(await called(path, inside)).toContain("ran get_commit");
    expect(await called(path, outside)).toContain("profile work");
    expect(mail.ran("get_letter")).toBe(0);
  });

  test("of one server, a hidden one is not there, whichever way it is asked for", async () => {
    await start({ work });
    expect(await listed("/mcp/p/work/server/git")).toEqual(["get_commit", "list_rows"]);
    for (const method of ["initialize", "tools/list", "tools/call", "resources/list", "ping"]) {
      const text = await ask("/mcp/p/work/server/mail", method, { name: "get_letter", arguments: {} });
      expect([method, /SERVER_UNKNOWN|there is no server|"result":\{\}/.test(text)]).toEqual([method, true]);
    }
    expect(await ask("/mcp/p/work/server/mail", "tools/list")).toContain("in profile work");
  });

  test("resources of hidden servers are in no list and are not read, by any of their addresses", async () => {
    await start({ mailbox: { servers: ["mail"] } });
    const { result } = (await rpc(`${gateway.url}/mcp`, "resources/list")).json;
    const own = "bad://text";
    const native = (result.resources as { uri: string }[]).map(({ uri }) => uri);
    expect(native.length).toBeGreaterThan(0);
    expect(await ask("/mcp/p/mailbox", "resources/list")).toContain('"resources":[]');
    for (const uri of [own, `docs|${own}`, ...native]) {
      expect(await ask("/mcp/p/mailbox", "resources/read", { uri })).toContain("in profile mailbox");
      expect(await called("/mcp/p/mailbox", "read_mcp_resource", { uri })).toContain("in profile mailbox");
      expect(await ask("/mcp", "resources/read", { uri })).toContain('"contents"');
    }
    expect(await called("/mcp/p/mailbox", "list_mcp_resources", { server: "docs" })).toContain("in profile mailbox");
  });

  test("shows what the profile says, and pins what it says", async () => {
    await start({
      small: { servers: ["git"], exposure: "flat" },
      pinned: { pin: ["git:get_commit", "mail:get_letter"], servers: ["git"] },
    });
    expect(await listed("/mcp/p/small")).toEqual(["git-delete_branch", "git-get_commit", "git-list_rows"]);
    expect(await listed("/mcp/p/pinned")).toContain("get_commit");
    expect(await listed("/mcp/p/pinned")).not.toContain("get_letter");
    expect(await called("/mcp/p/pinned", "get_commit")).toContain("ran get_commit");
    expect(await listed("/mcp")).not.toContain("get_commit");
  });
});

test("no spelling of a path leads out of a profile, and an unknown profile is said to be none", async () => {
  await start({ work });
  const status = async (path: string): Promise<number> =>
    (await send(`${gateway.url}/`, { method: "GET", headers: {} })) &&
    (
      await new Promise<{ status: number; text: string }>((resolve, reject) => {
        // Node's URL would tidy the path before it is sent.
        import("node:http")
          .then(({ request }) => {
            const { hostname, port } = new URL(gateway.url);
            const asking = request(
              { hostname, port, path, method: "POST", headers: { "content-type": "application/json" } },
              (answer) => {
                let text = "";
                answer.on("data", (chunk: Buffer) => (text += chunk.toString()));
                answer.on("end", () => resolve({ status: answer.statusCode ?? 0, text }));
              },
            );
            asking.on("error", reject);
            const call = {
              ...{ jsonrpc: "2.0", id: 1, method: "tools/call" },
              params: { name: "execute_mcp_tool", arguments: { tool_path: "mail:get_letter" } },
            };
            asking.end(JSON.stringify(call));
          })
          .catch(reject);
      })
    ).status;
  for (const path of [
    ...["/mcp/p/work/..", "/mcp/p/work/%2e%2e", "/mcp/p/work/%2E%2E/meta", "/mcp/p/work/../../mcp", "/mcp/p/../mcp"],
    ...["/mcp/p/work%2f..%2f..", "/mcp/p/work/", "/mcp/p//work", "/mcp//p/work", "/mcp/p/WORK", "/mcp/p/wor%6b"],
    ...["/mcp/p/work;/../meta", "/mcp/p/work?x=/../..", "/mcp/p/work#/mcp", "/mcp/p/work/p/work", "/mcp/p/__proto__"],
    ...[
      "/mcp/p/work/i/mail/mcp",
      "/mcp/p/",
      "/mcp/p",
      "/sse/p/work/messages",
      "/mcp/p/constructor",
      "/mcp/p/work\\..\\",
    ],
  ])
    expect([path, (await status(path)) === 200 ? mail.ran("get_letter") : 0]).toEqual([path, 0]);
  expect(mail.ran("get_letter")).toBe(0);
  const unknown = await rpc(`${gateway.url}/mcp/p/other`, "tools/list");
  expect([unknown.status, unknown.text]).toEqual([404, expect.stringContaining("there is no profile")]);
  expect((await get(`${gateway.url}/api/tools?profile=other`)).json).toMatchObject({ code: "PROFILE_UNKNOWN" });
});

describe("a token of a profile", () => {
  const auth = { tokenHashes: [hashOf("whole")] };
  const own = bearer("narrow");

  test.each([true, false])("cannot leave it, whether the gateway needs tokens (%s) or not", async (isClosed) => {
    const profiles = { work: { ...work, tokenHashes: [hashOf("narrow")] }, home: { servers: ["mail"] } };
    await start(profiles, isClosed ? { auth } : {}, bearer("whole"));
    for (const path of ["/mcp", "/mcp/meta", "/mcp/p/work"]) {
      expect(await executed(path, "git:get_commit", {}, own)).toContain("ran get_commit");
      expect(await executed(path, "mail:get_letter", {}, own)).toContain("in profile work");
    }
    expect((await listed("/mcp/flat", own)).join(" ")).not.toMatch(hidden);
    expect(await ask("/mcp/server/mail", "tools/list", {}, own)).toContain("in profile work");
    const other = await rpc(`${gateway.url}/mcp/p/home`, "tools/list", {}, own);
    expect([other.status, other.text]).toEqual([403, expect.stringContaining("profile work alone")]);
    // REST shows the same, and nothing that is about the gateway.
    const rest = async (path: string, method = "GET", body?: object): Promise<{ status: number; text: string }> =>
      await send(`${gateway.url}${path}`, {
        method,
        headers: { ...own, ...(body === undefined ? {} : { "content-type": "application/json" }) },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
    for (const path of [
      ...[
        "/api/tools",
        "/api/tools?query=envelope",
        "/api/servers",
        "/api/instances",
        "/api/profiles",
        "/api/resources",
      ],
      ...["/api/namespaces", "/apps", "/api/prompts", "/api/tools/mail:get_letter", "/api/servers/mail"],
      ...["/api/instances/mail", "/api/policy/explain?tool=mail:get_letter", "/api/tools?profile=home"],
    ]) {
      const { status, text } = await rest(path);
      const said = status === 200 ? text : "";
      expect([path, hidden.exec(said)?.[0]]).toEqual([path, undefined]);
    }
    expect((await rest("/api/search", "POST", { query: "letter", as: "local" })).text).not.toMatch(/get_letter/);
    const runs = await rest("/execute/mail:get_letter", "POST", {});
    expect(runs.status).toBeGreaterThanOrEqual(400);
    for (const path of ["/api/config", "/api/calls", "/api/pins", "/api/events", "/api/status", "/api/grants"])
      expect([path, (await rest(path)).status]).toEqual([path, 403]);
    expect((await rest("/api/instances/git/token", "POST", {})).status).toBe(403);
    expect(mail.ran("get_letter")).toBe(0);
  });

  test("that is taken out of the file ends what was opened with it", async () => {
    const tokens = { tokenHashes: [hashOf("narrow")] };
    await start({ work: { ...work, ...tokens } }, { auth }, bearer("whole"));
    const session = await openSession(`${gateway.url}/mcp`, { headers: own });
    const stream = await session.listen();
    writeFileSync(gateway.configFile, JSON.stringify(configWith({ work }, { auth })));
    await until(() => stream.ended);
    expect((await rpc(`${gateway.url}/mcp`, "tools/list", {}, own)).status).toBe(401);
  });
});

test("a changed profile is told to open sessions, which then have the new one; one that is gone has nothing", async () => {
  await start({ work, still: { servers: ["git"] } });
  const [session, other] = await Promise.all([
    openSession(`${gateway.url}/mcp/p/work/flat`),
    openSession(`${gateway.url}/mcp/p/still/flat`),
  ]);
  const [stream, quiet] = await Promise.all([session.listen(), other.listen()]);
  const toolsOf = async (id: number): Promise<string> => {
    const answer = await session.call(id, "tools/list");
    return JSON.stringify(await answer.next((message) => message.id === id));
  };
  expect(await toolsOf(1)).not.toMatch(hidden);
  writeFileSync(
    gateway.configFile,
    JSON.stringify(configWith({ work: { servers: ["mail"] }, still: { servers: ["git"] } })),
  );
  for (const kind of ["tools", "resources"])
    await stream.next(({ method }) => method === `notifications/${kind}/list_changed`);
  const now = await toolsOf(2);
  expect(now).toContain("mail-get_letter");
  expect(now).not.toContain("git-");
  writeFileSync(gateway.configFile, JSON.stringify(configWith({ still: { servers: ["git"] } })));
  await until(async () => (await ask("/mcp/p/work/flat", "tools/list")).includes("there is no profile"));
  const last = await session.call(3, "tools/list");
  await until(() => last.ended);
  expect([last.status, JSON.stringify(last.messages)]).toEqual([404, expect.stringContaining("there is no profile")]);
  expect(quiet.messages.filter(({ method }: Any) => method !== undefined)).toEqual([]);
});

test("a server that is not in the file is a warning with its place, and a wrong profile is none", async () => {
  await start({ work: { servers: ["git", "gitt"] } });
  const check = async (profiles: object): Promise<{ code: number | null; stderr: string; stdout: string }> => {
    const file = join(mail.directory, "checked.json");
    writeFileSync(file, JSON.stringify(configWith(profiles), undefined, 1));
    return await runCommand(["config", "check", "--config", file]);
  };
  const warned = await check({ work: { servers: ["git", "gitt"] } });
  expect(`${warned.stdout}${warned.stderr}`).toMatch(
    /checked\.json:\d+:\d+: toolyard\.profiles\.work\.servers\[1\]: there is no server "gitt" now.*git/,
  );
  for (const wrong of [
    { "a/b": {} },
    { work: { effects: ["reed"] } },
    { work: { exposure: "server" } },
    { work: { server: ["git"] } },
  ]) {
    const { code, stderr, stdout } = await check(wrong);
    expect([code === 0, /profiles/.test(`${stdout}${stderr}`)]).toEqual([false, true]);
  }
});

test("commands and REST list what each has, and what it costs; connecting writes the path, and a token where one is needed", async () => {
  await start({ work, all: {} }, { auth: { tokenHashes: [hashOf("whole")] } }, bearer("whole"));
  const place = ["--config", gateway.configFile, "--data-dir", join(git.directory, "data")];
  const { stdout } = await runCommand(["profiles", "--json", ...place]);
  const [one, all] = (JSON.parse(stdout) as { profiles: Any[] }).profiles;
  expect(one).toMatchObject({
    name: "work",
    path: "/mcp/p/work",
    servers: ["git", "docs"],
    effects: ["read", "unknown"],
  });
  expect(one.tools).toBeLessThan(all.tools);
  expect(one.tools + one.outside).toBe(all.tools);
  expect(one.tokens).toBeGreaterThan(100);
  const plain = await runCommand(["profiles", ...place]);
  expect(plain.stdout).toMatch(/^work +git, docs/m);
  const tools = await runCommand(["tools", "--profile", "work", "--json", ...place]);
  expect(tools.stdout).toContain("git:get_commit");
  expect(tools.stdout).not.toMatch(hidden);
  const found = await runCommand(["search", "letter", "--profile", "work", "--json", ...place]);
  expect(found.stdout).not.toMatch(/get_letter/);

  const addressed = configWith({ work, all: {} }, { auth: { tokenHashes: [hashOf("whole")] }, publicUrl: gateway.url });
  writeFileSync(gateway.configFile, JSON.stringify(addressed));
  const home = { HOME: mail.directory, XDG_CONFIG_HOME: join(mail.directory, ".config") };
  const connected = await runCommand(["connect", "cursor", "--profile", "work", "--yes", ...place], home);
  expect(connected.stderr).not.toContain("CONFIG");
  const written = JSON.parse(readFileSync(join(mail.directory, ".cursor", "mcp.json"), "utf8")) as Any;
  const { url, headers } = written.mcpServers.toolyard;
  expect(url).toMatch(/\/mcp\/p\/work$/);
  const token = String(headers.Authorization).replace("Bearer ", "");
  const config = JSON.parse(readFileSync(gateway.configFile, "utf8")) as Any;
  expect(config.toolyard.profiles.work.tokenHashes).toEqual([hashOf(token)]);
  await until(async () => (await executed("/mcp", "git:get_commit", {}, bearer(token))).includes("ran get_commit"));
  expect(await executed("/mcp", "mail:get_letter", {}, bearer(token))).toContain("in profile work");
  const missing = await runCommand(["connect", "cursor", "--profile", "wrok", "--yes", ...place], home);
  expect([missing.code === 0, missing.stderr]).toEqual([false, expect.stringContaining("no profile")]);
  const command = await runCommand(["connect", "cursor", "--profile", "work", "--stdio", "--dry-run", ...place], home);
  expect(`${command.stdout}${command.stderr}`).toMatch(/stdio[^]*--profile[^]*work/);
});

test("a client may have a profile by its name at the path of everything, and by another name it has everything", async () => {
  await start({ work: { ...work, clients: ["mine", "group-*"] } });
  const info = (name: string): object => ({ "io.modelcontextprotocol/clientInfo": { name, version: "1" } });
  const letter = { name: "execute_mcp_tool", arguments: { tool_path: "mail:get_letter" } };
  const modern = async (name: string, path = "/mcp"): Promise<string> =>
    (await modernRpc(`${gateway.url}${path}`, "tools/call", { ...letter, _meta: info(name) })).text;
  expect(await modern("mine")).toContain("in profile work");
  expect(await modern("group-one (via mcp-remote 0.1.29)")).toContain("in profile work");
  expect(await modern("other")).toContain("ran get_letter");
  const session = await openSession(`${gateway.url}/mcp`, { client: "mine" });
  for (const id of [1, 2]) {
    const answer = await session.call(id, "tools/call", letter);
    expect(JSON.stringify(await answer.next((message) => message.id === id))).toContain("in profile work");
  }
  await session.end();
  expect(mail.ran("get_letter")).toBe(1);
});

test("over stdio a client has its profile as well", async () => {
  await start({ work });
  const asked = [
    {
      method: "initialize",
      params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "x", version: "1" } },
    },
    { method: "tools/call", params: { name: "execute_mcp_tool", arguments: { tool_path: "mail:get_letter" } } },
    { method: "tools/call", params: { name: "execute_mcp_tool", arguments: { tool_path: "git:get_commit" } } },
  ].map((one, id) => JSON.stringify({ jsonrpc: "2.0", id, ...one }));
  const place = ["--config", gateway.configFile, "--data-dir", join(git.directory, "data")];
  const { stdout } = await runCommand(["stdio", "--profile", "work", ...place], {}, `${asked.join("\n")}\n`);
  expect(stdout).toContain("in profile work");
  expect(mail.ran("get_letter")).toBe(0);
});
