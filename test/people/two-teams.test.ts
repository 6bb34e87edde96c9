import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { badServer } from "../harness/gateway.ts";
import { modernRpc, rpc, send, type RawAnswer } from "../harness/rpc.ts";
import { addCast, startTeamGateway, type Cast, type TeamGateway, type Told } from "../harness/team-gateway.ts";
import { until } from "../harness/until.ts";
import { everything } from "../protocol/clients.ts";
import { openSse } from "../protocol/sse-client.ts";

let team: TeamGateway;
let cast: Cast;
/** Of one person, who is in both teams. */
const both = { red: "", blue: "" };

/** More than a page of tools. */
const manyTools = ["--tools", "1100"];
const secretive = "zebra-post";

beforeAll(async () => {
  team = await startTeamGateway({
    own: { ...badServer("--behaviours=env,elicit,canary", ...manyTools), scope: "user" },
    common: { ...badServer("--tool-name", "wombat-counting"), scope: "shared" },
  });
  cast = await addCast(team);
  const { secret } = (await team.ask(cast.olga, "POST", "/api/teams/red/invites", { body: {} })).json;
  const { secret: other } = (await team.ask(cast.cid, "POST", "/api/teams/blue/invites", { body: {} })).json;
  const joined = (await team.ask("", "POST", "/api/invites/accept", { body: { secret, name: "both" } })).json;
  both.red = joined.made.token;
  both.blue = (await team.ask(both.red, "POST", "/api/invites/accept", { body: { secret: other } })).json.made.token;
  // What red alone has: a server that it shares, and one that never comes up.
  const servers = {
    [secretive]: badServer("--tool-name", "zebra-canary"),
    "zebra-down": badServer("--crash-at-start"),
  };
  for (const [slug, entry] of Object.entries(servers)) {
    const file = join(team.directory, `${slug}.json`);
    await writeFile(file, JSON.stringify({ entry, fields: [] }));
    await team.command("template", "add", slug, "--file", file, "--team", "red");
    const body = { template: slug, scope: "shared" };
    expect((await team.ask(cast.olga, "POST", "/api/teams/red/installations", { body })).status).toBe(200);
  }
  for (const token of [both.red, both.blue])
    await until(async () => (await team.ask(token, "POST", "/execute/own%3Aenv", { body: {} })).status === 200);
});
afterAll(async () => await team[Symbol.asyncDispose]());

const bearer = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` });

async function inSession(token: string, method: string, session: string): Promise<RawAnswer> {
  return await send(`${team.gateway.url}/mcp`, {
    method,
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-session-id": session,
      ...bearer(token),
    },
    ...(method === "POST" ? { body: '{"jsonrpc":"2.0","id":2,"method":"ping"}' } : {}),
  });
}

test("FAULT 94: a person's session in one team is nobody's with their token for the other", async () => {
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "t", version: "1" } };
  const made = await rpc(`${team.gateway.url}/mcp`, "initialize", params, bearer(both.red));
  const session = String(made.headers["mcp-session-id"]);
  for (const method of ["POST", "GET", "DELETE"]) {
    const [theirs, nobodys] = [
      await inSession(both.blue, method, session),
      await inSession(both.blue, method, crypto.randomUUID()),
    ];
    expect([method, theirs.status, theirs.text]).toEqual([method, 404, nobodys.text]);
  }
  expect((await inSession(both.red, "POST", session)).status).toBe(200);
  const stream = await openSse(`${team.gateway.url}/sse`, bearer(both.red));
  await stream.initialize();
  const message = { id: 7, method: "ping" };
  const foreign = await stream.post(message, bearer(both.blue));
  const nowhere = await send(`${team.gateway.url}/sse/messages?sessionId=${crypto.randomUUID()}`, {
    headers: { "content-type": "application/json", ...bearer(both.blue) },
    body: JSON.stringify({ jsonrpc: "2.0", ...message }),
  });
  expect([foreign.status, foreign.text]).toEqual([404, nowhere.text]);
  stream.close();
});

test("FAULT 59: a cursor that a person was given in one team is none in the other", async () => {
  const list = async (token: string, params: object): Promise<RawAnswer> =>
    await rpc(`${team.gateway.url}/mcp/server/own`, "tools/list", params, bearer(token));
  const cursor = await until(async () => (await list(both.red, {})).json.result?.nextCursor as string | undefined);
  await until(async () => (await list(both.blue, {})).json.result?.nextCursor as string | undefined);
  expect((await list(both.red, { cursor })).json.result.tools.length).toBeGreaterThan(0);
  const refused = await list(both.blue, { cursor });
  expect(refused.json.error).toEqual((await list(both.blue, { cursor: "bm90IG9uZQ" })).json.error);
  expect(refused.json.error).toBeDefined();
});

test("FAULT 48: a question that a call asks in one team is not answered with the token for the other", async () => {
  const ask = async (token: string, more: object = {}): Promise<RawAnswer> =>
    await modernRpc(
      `${team.gateway.url}/mcp`,
      "tools/call",
      { name: "execute_mcp_tool", arguments: { tool_path: "own:elicit", arguments: {} }, ...more },
      everything,
      bearer(token),
    );
  const { requestState, inputRequests } = (await ask(both.red)).json.result;
  const inputResponses = Object.fromEntries(
    Object.keys(inputRequests as object).map((key) => [key, { action: "accept", content: { name: "Ada" } }]),
  );
  const refused = await ask(both.blue, { requestState, inputResponses });
  expect(refused.json.error?.data?.code ?? refused.text).toContain("HANDLE_INVALID");
  expect(JSON.stringify((await ask(both.red, { requestState, inputResponses })).json.result)).toContain("Ada");
});

test("FAULT 94: what belongs to a person in one team is to them, in the other, as what never was", async () => {
  const { ask } = team;
  const { instances } = (await ask(both.red, "GET", "/api/instances")).json as { instances: { id: string }[] };
  const id = encodeURIComponent(instances.find(({ id: one }) => one.startsWith("own-red-"))?.id ?? "");
  const made = (await ask(both.red, "POST", `/api/instances/${id}/token`, { body: {} })).json as { token: string };
  const at = `${team.gateway.url}/i/${id}/mcp`;
  expect((await rpc(at, "tools/list", {}, bearer(made.token))).status).toBe(200);
  expect((await rpc(at, "tools/list", {}, bearer(both.blue))).status).toBe(401);
  const kept = await ask(both.red, "POST", "/api/searches", {
    body: { query: "wombats", tool: "common:wombat-counting" },
  });
  const calls = await until(async () => {
    const found = (await ask(both.red, "GET", "/api/calls")).json.calls as { id: string }[];
    return found.length > 0 && found;
  });
  const [token] = (await ask(both.red, "GET", "/api/me/tokens")).json.tokens as { id: string }[];
  const paths = [
    `/api/instances/${id}`,
    `/api/instances/${id}/logs`,
    `/api/instances/${id}/events`,
    `/api/instances/${id}/login`,
    `/api/instances/${id}/status`,
    `/api/calls/${String(calls[0]?.id)}`,
    `/api/me/tokens/${String(token?.id)}`,
  ];
  for (const path of paths) {
    const nowhere = path.replace(/\d{4,}|m_[0-9a-z]+|p_[0-9a-z]+/, (text) => text.replaceAll(/[0-9a-z]/g, "0"));
    expect([path, nowhere !== path]).toEqual([path, true]);
    const [foreign, none] = [await ask(both.blue, "GET", path), await ask(both.blue, "GET", nowhere)];
    expect([path, foreign.status, foreign.text]).toEqual([path, 404, none.text]);
  }
  expect(kept.status).toBeLessThan(300);
  expect((await ask(both.red, "GET", "/api/searches")).text).toContain("wombats");
  expect((await ask(both.blue, "GET", "/api/searches")).text).not.toContain("wombats");
});

test("FAULT 96: what a team shares is in no hint, list, count or figure of the other", async () => {
  const { ask } = team;
  await until(
    async () => (await ask(both.red, "POST", `/execute/${secretive}%3Azebra-canary`, { body: {} })).status === 200,
  );
  await until(async () => /zebra-down[^}]*exited with code/.test((await ask(both.red, "GET", "/api/servers")).text));
  const asked: readonly [string, string, object?][] = [
    ["POST", "/execute/zebra-pots%3Azebra-canary", {}],
    ["POST", `/execute/${secretive}%3Azebra-canari`, {}],
    ["POST", "/execute/zebra-canary", {}],
    ["POST", "/execute/zebra-canary", { _app_context: secretive }],
    ["GET", `/list/apps/${secretive}/tools`],
    ["GET", "/list/apps/zebra-pots/tools"],
    ["GET", `/api/servers/${secretive}`],
    ["GET", "/list/apps"],
    ["GET", "/namespaces"],
    ["GET", "/api/namespaces/stats"],
    ["GET", "/api/tools?search=zebra"],
    ["GET", `/api/tools?server=${secretive}`],
    ["GET", `/api/tools/${secretive}%3Azebra-canary`],
    ["GET", "/api/servers"],
    ["GET", "/api/instances"],
    ["GET", "/api/status"],
    ["GET", "/api/resources"],
    ["GET", "/api/prompts"],
    ["POST", "/api/search", { query: "zebra canary", explain: true }],
    ["POST", "/api/search", { query: "zebra", server: secretive }],
    ["GET", "/api/templates"],
    ["GET", "/api/usage?by=server"],
    ["GET", "/api/logs"],
  ];
  for (const [method, path, body] of asked) {
    const ask = async (of: (text: string) => string): Promise<Told> =>
      await team.ask(both.blue, method, of(path), {
        ...(body === undefined ? {} : { body: JSON.parse(of(JSON.stringify(body))) as object }),
      });
    const told = await ask((text) => text);
    const isNamed = /zebra/.test(path + JSON.stringify(body ?? {}));
    if (!isNamed) expect([path, told.status, told.text.includes("zebra")]).toEqual([path, 200, false]);
    else {
      // As likely as the other, and nobody's. An answer may repeat the words of the question; how long the search took
      // stands in it twice, and makes its tokens more or fewer.
      const none = await ask((text) => text.replaceAll("zebra", "okapi"));
      const timed = /\\?"search_time_ms\\?":[\d.]+|"answer_tokens":\d+/g;
      const plain = (text: string): string => text.replaceAll("okapi", "zebra").replaceAll(timed, "");
      expect([path, told.status, plain(told.text)]).toEqual([path, none.status, plain(none.text)]);
    }
  }
  for (const params of [{ query: "zebra canary" }, { query: "", server: secretive }, { query: "" }, {}]) {
    const call = { name: "discover_mcp_tools", arguments: params };
    const [blue, red] = await Promise.all(
      [both.blue, both.red].map(
        async (token) => await rpc(`${team.gateway.url}/mcp`, "tools/call", call, bearer(token)),
      ),
    );
    // The question itself may be repeated.
    const said = String(blue?.text).replaceAll(secretive, params.server === undefined ? secretive : "");
    expect([params, said.includes("zebra-")]).toEqual([params, false]);
    if (params.query !== "" || params.server !== undefined)
      expect([params, red?.text.includes("zebra")]).toEqual([params, true]);
  }
  const app = await ask(both.blue, "POST", "/execute/zebra-canary", {
    body: {},
    headers: { "x-app-context": secretive },
  });
  expect([app.status, app.text.includes("zebra-canary:")]).toEqual([404, false]);
  expect((await rpc(`${team.gateway.url}/mcp/server/${secretive}`, "tools/list", {}, bearer(both.blue))).text).toBe(
    (await rpc(`${team.gateway.url}/mcp/server/okapi-post`, "tools/list", {}, bearer(both.blue))).text
      .replaceAll("okapi-post", secretive)
      .replace(/"id":\d+/, (text) => `"id":${Number(text.slice(5)) - 1}`),
  );
});

test("FAULT 96: what a person learned and loaded in one team is not used for them in the other", async () => {
  const { ask } = team;
  const query = "how many marsupials are there";
  const learnedBy = async (token: string): Promise<number> => {
    const { json } = await ask(token, "POST", "/api/search", { body: { query, explain: true, limit: 50 } });
    const tools = json.queries[0].tools as { tool_path: string; explanation?: { learned: { likeness: number } } }[];
    return tools.find(({ tool_path: path }) => path === "common:wombat-counting")?.explanation?.learned.likeness ?? 0;
  };
  await until(async () => (await ask(both.red, "GET", "/api/tools?server=common")).text.includes("wombat-counting"));
  expect(await learnedBy(both.red)).toBe(0);
  const found = await ask(both.red, "POST", "/api/search", {
    body: { query: `${query} wombat counting`, learn: true },
  });
  expect(found.text).toContain("common:wombat-counting");
  expect((await ask(both.red, "POST", "/execute/common%3Awombat-counting", { body: {} })).status).toBe(200);
  await until(async () => (await learnedBy(both.red)) > 0);
  expect(await learnedBy(both.blue)).toBe(0);
  await ask(both.red, "GET", "/list/apps/common/tools");
  const isLoaded = async (token: string): Promise<boolean> =>
    ((await ask(token, "GET", "/namespaces")).json.namespaces as { name: string; loaded: boolean }[]).find(
      ({ name }) => name === "common",
    )?.loaded === true;
  expect([await isLoaded(both.red), await isLoaded(both.blue)]).toEqual([true, false]);
});
