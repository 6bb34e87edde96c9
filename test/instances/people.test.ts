import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createToken } from "../../src/people/identity/token.ts";
import { badServer, startGateway, type RunningGateway } from "../harness/gateway.ts";
import { get, post } from "../harness/rest.ts";
import { modernRpc, rpc, send } from "../harness/rpc.ts";
import { until } from "../harness/until.ts";
import { aliveIn, discover, standingOf, startsIn } from "./observing.ts";

let directory: string;
let pids: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "toolyard-people-"));
  pids = join(directory, "pids");
});
afterEach(async () => await rm(directory, { recursive: true, force: true }));

const alice = createToken();
const bob = createToken();
const carol = createToken();
const bearer = ({ token }: { readonly token: string }) => ({ authorization: `Bearer ${token}` });

/** One server per person, that says who it runs for and needs a value; one that all share. */
function config(over: { readonly alice?: object | undefined; readonly servers?: object } = {}): object {
  const secret = (value: string): object => ({ servers: { own: { env: { SECRET: value } } } });
  return {
    mcpServers: {
      own: {
        ...badServer("--write-pid", pids, "--resources", "--prompts"),
        scope: "user",
        env: { SECRET: "template", COLOUR: "template" },
        required: { user: ["env.SECRET"] },
      },
      all: { ...badServer("--tools", "2"), scope: "shared" },
      ...over.servers,
    },
    toolyard: {
      teams: { acme: { servers: { own: { env: { COLOUR: "team" } } } } },
      principals: {
        ...("alice" in over && over.alice === undefined
          ? {}
          : { alice: { team: "acme", tokenHash: alice.hash, ...secret("canary-of-alice"), ...over.alice } }),
        bob: { team: "acme", tokenHash: bob.hash, ...secret("canary-of-bob") },
        carol: { tokenHash: carol.hash },
      },
    },
  };
}

async function call(
  gateway: RunningGateway,
  who: { readonly token: string },
  tool: string,
  args: object = {},
): Promise<{ readonly isError?: boolean; readonly content: { readonly text: string }[] }> {
  const answer = await rpc(
    `${gateway.url}/mcp`,
    "tools/call",
    { name: "execute_mcp_tool", arguments: { tool_path: tool, arguments: args } },
    bearer(who),
  );
  return answer.json.result;
}

/** The text of a call's first block, once the server has come up. */
async function textOf(
  gateway: RunningGateway,
  who: { readonly token: string },
  tool: string,
  args: object = {},
): Promise<string> {
  return await until(async () => {
    const result = await call(gateway, who, tool, args);
    return result.isError !== true && result.content[0]?.text;
  });
}

describe("each person's own servers", () => {
  test("configuration is merged template < team < user, in a process of its own", async () => {
    await using gateway = await startGateway({ config: config(), directory });
    const alices = JSON.parse(await textOf(gateway, alice, "own:env"));
    expect(alices).toMatchObject({ SECRET: "canary-of-alice", COLOUR: "team" });
    const bobs = JSON.parse(await textOf(gateway, bob, "own:env"));
    expect(bobs).toMatchObject({ SECRET: "canary-of-bob", COLOUR: "team" });
    expect(startsIn(pids)).toHaveLength(2);
    expect(await textOf(gateway, alice, "own:pid")).not.toBe(await textOf(gateway, bob, "own:pid"));
    expect(await textOf(gateway, alice, "all:tool-1")).toBe(await textOf(gateway, bob, "all:tool-1"));
  });

  test("arguments refer to the server's own variables, with the value that each person gives", async () => {
    const { command, args } = badServer("--write-pid", pids, "--require-auth", "${SECRET} ${COLOUR:-none}");
    const env = { SECRET: "template", NONE: null };
    // A whole command line, as some write it.
    const line = [command, ...args].map((word) => `"${word}"`).join(" ");
    const own = {
      command: line,
      scope: "user",
      env,
      required: { user: ["env.SECRET"] },
      optional: { team: ["env.COLOUR"] },
    };
    await using gateway = await startGateway({
      config: config({ servers: { own, alone: { ...own, required: null } } }),
      directory,
    });
    expect(await textOf(gateway, alice, "own:argv")).toContain("canary-of-alice team");
    expect(await textOf(gateway, bob, "own:argv")).toContain("canary-of-bob team");
    expect(await textOf(gateway, bob, "alone:argv")).toContain("template none");
  });

  test("a value that is missing is told, with what to do, and nothing is started", async () => {
    await using gateway = await startGateway({ config: config(), directory });
    const standing = await standingOf(gateway.url, "own", bearer(carol));
    expect(standing).toMatchObject({
      status: "awaiting_user_config",
      tools: 0,
      reason: "missing: env.SECRET",
      action: expect.stringContaining("fill them in") as string,
    });
    const answer = await rpc(`${gateway.url}/mcp/server/own`, "tools/list", {}, bearer(carol));
    expect(answer.text).not.toContain("canary-of");
    expect(startsIn(pids)).toEqual([]);
  });

  test("FAULT 97: what a stateful server is told by one is not known to another", async () => {
    await using gateway = await startGateway({ config: config(), directory });
    await textOf(gateway, alice, "own:remember", { value: "a secret" });
    expect(await textOf(gateway, bob, "own:recall")).not.toContain("a secret");
    expect(await textOf(gateway, alice, "own:recall")).toContain("a secret");
  });
});

describe("FAULT 96: nothing of one person's is seen by another", () => {
  let gateway: RunningGateway;
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "toolyard-sees-"));
    pids = join(folder, "pids");
    const only = {
      ...badServer("--tool-name", "zebra-canary", "--resources", "--prompts", "--skills", "--behaviours", "all"),
      scope: "user",
      required: { user: ["env.ZEBRA"] },
    };
    const given = config({ servers: { only } }) as {
      toolyard: { principals: { alice: { servers: Record<string, object> } } };
    };
    given.toolyard.principals.alice.servers["only"] = { env: { ZEBRA: "1" } };
    gateway = await startGateway({ config: given, directory: folder });
    await until(async () => (await standingOf(gateway.url, "only", bearer(alice))).status === "online");
  });
  afterAll(async () => {
    await gateway[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  });

  test.each<[string, object]>([
    ["tools/list", {}],
    ["resources/list", {}],
    ["resources/templates/list", {}],
    ["prompts/list", {}],
    ["skills/list", {}],
  ])("%s in every exposure", async (method, params) => {
    for (const path of ["/mcp", "/mcp/flat", "/mcp/server/only"]) {
      const theirs = await rpc(`${gateway.url}${path}`, method, params, bearer(bob));
      expect(theirs.text).not.toContain("zebra");
      expect(theirs.text).not.toMatch(/(?:toolyard|skill):\/\/(?:only|acme)/);
      expect(JSON.stringify(theirs.json)).not.toMatch(/"only[-:|]/);
    }
    const own = await rpc(`${gateway.url}/mcp/flat`, method, params, bearer(alice));
    expect(JSON.stringify(own.json)).toContain("only");
  });

  test("search, counts and suggestions", async () => {
    const found = await discover(gateway.url, { query: "zebra canary" }, bearer(bob));
    expect(JSON.stringify(found.tools)).not.toContain("zebra");
    const listed = await discover(gateway.url, { query: "" }, bearer(bob));
    expect(listed.servers.find((entry: { server: string }) => entry.server === "only")).toMatchObject({
      tools: 0,
      status: "awaiting_user_config",
    });
    const [query, skill] = ["gives money back", "skill://only/acme/refunds/SKILL.md"];
    expect(JSON.stringify(await discover(gateway.url, { query }, bearer(bob)))).not.toContain("refunds");
    expect((await discover(gateway.url, { query }, bearer(alice))).skills[0].uri).toBe(skill);
    const near = await call(gateway, bob, "only:zebra-canari");
    expect(near.isError).toBe(true);
    expect(near.content[0]?.text).not.toContain("zebra-canary");
    expect((await discover(gateway.url, { query: "zebra canary" }, bearer(alice))).tools[0].tool_path).toBe(
      "only:zebra-canary",
    );
  });

  test("calls, reads, prompts and completions by name are refused like what does not exist", async () => {
    const requests: [string, object][] = [
      ["tools/call", { name: "only-zebra-canary", arguments: {} }],
      ["resources/read", { uri: "toolyard://only/bad%3A%2F%2Ftext" }],
      ["resources/read", { uri: "skill://only/acme/refunds/SKILL.md" }],
      ["skills/get", { uri: "skill://only/acme/refunds/SKILL.md" }],
      ["resources/directory/read", { uri: "skill://only/acme/refunds" }],
      ["prompts/get", { name: "only-greet" }],
      [
        "completion/complete",
        { ref: { type: "ref/prompt", name: "only-greet" }, argument: { name: "name", value: "a" } },
      ],
    ];
    for (const [method, params] of requests) {
      const answer = await rpc(`${gateway.url}/mcp`, method, params, bearer(bob));
      expect(answer.json.error !== undefined || answer.json.result.isError === true).toBe(true);
    }
  });
});

describe("FAULT 94: what belongs to one person is nothing to another", () => {
  test("a session, its stream and its deletion", async () => {
    await using gateway = await startGateway({ config: config(), directory });
    const body = JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "initialize",
      params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "t", version: "1" } },
    });
    const made = await send(`${gateway.url}/mcp`, {
      headers: { "content-type": "application/json", ...bearer(alice) },
      body,
    });
    const id = String(made.headers["mcp-session-id"]);
    const random = crypto.randomUUID();
    for (const method of ["POST", "GET", "DELETE"]) {
      const ask = async (session: string) => {
        const headers = {
          "content-type": "application/json",
          accept: "application/json, text/event-stream",
          "mcp-session-id": session,
          ...bearer(bob),
        };
        return await send(`${gateway.url}/mcp`, {
          method,
          headers,
          ...(method === "POST" ? { body: '{"jsonrpc":"2.0","id":2,"method":"ping"}' } : {}),
        });
      };
      const [theirs, nobodys] = [await ask(id), await ask(random)];
      expect(theirs.status).toBe(404);
      expect(theirs.text).toBe(nobodys.text);
    }
    const own = await send(`${gateway.url}/mcp`, {
      headers: { "content-type": "application/json", "mcp-session-id": id, ...bearer(alice) },
      body: '{"jsonrpc":"2.0","id":2,"method":"ping"}',
    });
    expect(own.status).toBe(200);
  });

  test("FAULT 95: fields that claim to be somebody change nothing", async () => {
    await using gateway = await startGateway({ config: config(), directory });
    await textOf(gateway, alice, "own:pid");
    const claim = {
      userId: "alice",
      teamId: "acme",
      role: "admin",
      isAdmin: true,
      owner: "alice",
      scopes: ["*"],
      principal: "alice",
    };
    const answer = await rpc(
      `${gateway.url}/mcp`,
      "tools/call",
      {
        name: "execute_mcp_tool",
        arguments: { tool_path: "own:env", arguments: {}, ...claim },
        ...claim,
        _meta: claim,
      },
      bearer(carol),
    );
    expect(answer.text).not.toContain("canary-of-alice");
  });
});

describe("FAULT 98: what is taken away ends within a second", () => {
  /** An event stream that says when it ends. */
  function listen(
    gateway: RunningGateway,
    who: { readonly token: string },
  ): { readonly opened: Promise<unknown>; readonly closed: Promise<void> } {
    let open: (value: unknown) => void = () => undefined;
    let close: () => void = () => undefined;
    const opened = new Promise((resolve) => (open = resolve));
    const closed = new Promise<void>((resolve) => (close = resolve));
    const meta = {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientInfo": { name: "t", version: "1" },
      "io.modelcontextprotocol/clientCapabilities": {},
    };
    const stream = request(
      `${gateway.url}/mcp`,
      {
        method: "POST",
        agent: false,
        headers: {
          "content-type": "application/json",
          accept: "text/event-stream",
          "mcp-protocol-version": "2026-07-28",
          "mcp-method": "subscriptions/listen",
          ...bearer(who),
        },
      },
      (response) => {
        response.once("data", open);
        response.resume();
        response.on("close", close);
      },
    );
    stream.on("error", close);
    stream.end(
      JSON.stringify({
        jsonrpc: "2.0",
        id: 1,
        method: "subscriptions/listen",
        params: { notifications: { resourcesListChanged: true }, _meta: meta },
      }),
    );
    return { opened, closed };
  }

  test.each<[string, () => object]>([
    ["a person who was removed", () => config({ alice: undefined })],
    ["a token that was rotated", () => config({ alice: { tokenHash: createToken().hash } })],
    ["a role that was lowered", () => config({ alice: { roles: ["guest"] } })],
  ])("%s", async (what, next) => {
    await using gateway = await startGateway({ config: config(), directory });
    await textOf(gateway, alice, "own:pid");
    await textOf(gateway, bob, "own:pid");
    const [alicesPid = 0, bobsPid = 0] = startsIn(pids);
    const streams = [listen(gateway, alice), listen(gateway, bob)] as const;
    await Promise.all(streams.map(({ opened }) => opened));
    let bobsClosed = false;
    void streams[1].closed.then(() => (bobsClosed = true));
    const hanging = rpc(
      `${gateway.url}/mcp`,
      "tools/call",
      { name: "execute_mcp_tool", arguments: { tool_path: "own:hang", arguments: {} } },
      bearer(alice),
    );
    await writeFile(gateway.configFile, JSON.stringify(next()));
    await streams[0].closed;
    expect((await hanging).json.error ?? (await hanging).json.result).toBeDefined();
    const after = await rpc(`${gateway.url}/mcp`, "tools/list", {}, bearer(alice));
    if (what !== "a role that was lowered") {
      expect(after.status).toBe(401);
      await until(() => !aliveIn(pids).includes(alicesPid));
    } else expect(after.status).toBe(200);
    expect(bobsClosed).toBe(false);
    expect(aliveIn(pids)).toContain(bobsPid);
    expect(await textOf(gateway, bob, "own:pid")).toContain(String(bobsPid));
  });
});

test("a person's own tools are there at the first request after a restart, from disk", async () => {
  const config = {
    mcpServers: { own: { ...badServer("--behaviours=canary"), scope: "user" } },
    toolyard: { principals: { alice: { tokenHash: alice.hash } } },
  };
  const directory = await mkdtemp(join(tmpdir(), "toolyard-first-"));
  try {
    await using first = await startGateway({ config, directory });
    await textOf(first, alice, "own:canary");
    await first.stop();
    await using second = await startGateway({ config, directory });
    const { tools } = (await rpc(`${second.url}/mcp/flat`, "tools/list", {}, bearer(alice))).json.result;
    expect(tools).toHaveLength(1);
    await second.stop();
    await using third = await startGateway({ config, directory });
    expect((await get(`${third.url}/api/tools`, bearer(alice))).text).toContain("own:canary");
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
});

test("FAULT 98: an instance's token falls with the token that it was made with, also when the person comes back", async () => {
  const configOf = (hash: string | undefined): object => ({
    mcpServers: { own: { ...badServer("--behaviours=canary"), scope: "user" } },
    toolyard: {
      principals: { bob: { tokenHash: bob.hash }, ...(hash === undefined ? {} : { alice: { tokenHash: hash } }) },
    },
  });
  await using gateway = await startGateway({ config: configOf(alice.hash) });
  await textOf(gateway, alice, "own:canary");
  const { instances } = (await get(`${gateway.url}/api/instances`, bearer(alice))).json;
  const made = (await post(`${gateway.url}/api/instances/${instances[0].id}/token`, {}, bearer(alice))).json;
  const status = async (): Promise<number> =>
    (await rpc(gateway.url + made.endpoint, "tools/list", {}, { authorization: `bearer ${made.token}` })).status;
  expect(await status()).toBe(200);
  const another = createToken();
  for (const hash of [another.hash, undefined, another.hash]) {
    await writeFile(gateway.configFile, JSON.stringify(configOf(hash)));
    const expected = hash === undefined ? 401 : 200;
    await until(async () => (await rpc(`${gateway.url}/mcp`, "tools/list", {}, bearer(another))).status === expected);
    expect(await status()).toBe(401);
  }
});

describe("FAULT 100: only the exact token of a person is one", () => {
  let gateway: RunningGateway;
  beforeAll(
    async () =>
      void (gateway = await startGateway({
        config: { mcpServers: {}, toolyard: { principals: { alice: { tokenHash: alice.hash } } } },
      })),
  );
  afterAll(async () => await gateway[Symbol.asyncDispose]());

  const body = '{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}';
  const { token } = alice;

  test.each<[string, Record<string, string | readonly string[]>, string?]>([
    ["none", {}],
    ["empty", { authorization: "Bearer " }],
    ["garbage", { authorization: "Bearer garbage" }],
    ["another one", { authorization: `Bearer ${createToken().token}` }],
    ["a character less", { authorization: `Bearer ${token.slice(0, -1)}` }],
    ["a character more", { authorization: `Bearer ${token}0` }],
    ["in upper case", { authorization: `Bearer ${token.toUpperCase()}` }],
    ["its hash", { authorization: `Bearer ${alice.hash}` }],
    ["its bare hash", { authorization: `Bearer ${alice.hash.slice(7)}` }],
    ["two spaces", { authorization: `Bearer  ${token}` }],
    ["a tab", { authorization: `Bearer\t${token}` }],
    ["Basic", { authorization: `Basic ${Buffer.from(`alice:${token}`).toString("base64")}` }],
    ["no scheme", { authorization: token }],
    ["two headers", { authorization: [`Bearer ${token}`, `Bearer ${token}`] }],
    ["two in one", { authorization: `Bearer ${token}, Bearer ${token}` }],
    ["in the query", {}, `?token=${token}&access_token=${token}`],
    ["in a cookie", { cookie: `token=${token}; Authorization=Bearer ${token}` }],
    ["in another header", { "x-authorization": `Bearer ${token}`, "proxy-authorization": `Bearer ${token}` }],
    [
      "an unsigned JWT",
      {
        authorization: `Bearer ${[{ alg: "none" }, { sub: "alice" }].map((part) => Buffer.from(JSON.stringify(part)).toString("base64url")).join(".")}.`,
      },
    ],
    ["10 KB", { authorization: `Bearer ${"a".repeat(10_000)}` }],
  ])("%s", async (_name, headers, query = "") => {
    const answer = await send(`${gateway.url}/mcp${query}`, {
      headers: { "content-type": "application/json", ...headers },
      body,
    });
    expect(answer.status).toBe(401);
    expect(answer.headers["www-authenticate"]).toMatch(/^Bearer .*resource_metadata="/);
    expect(answer.text).not.toContain(token);
  });

  test.each(["Bearer", "bearer", "BEARER", "bEaReR"])("the right one counts, with the scheme `%s`", async (scheme) => {
    const authorization = `${scheme} ${token}`;
    const headers = { "content-type": "application/json", authorization };
    expect((await send(`${gateway.url}/mcp`, { headers, body })).status).toBe(200);
    expect((await modernRpc(`${gateway.url}/mcp`, "tools/list", {}, {}, { authorization })).status).toBe(200);
    expect((await get(`${gateway.url}/api/servers`, { authorization })).status).toBe(200);
  });
});
