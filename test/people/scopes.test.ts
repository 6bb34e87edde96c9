import { request } from "node:http";
import { afterAll, beforeAll, expect, test } from "vitest";
import { badServer } from "../harness/gateway.ts";
import { modernRpc, rpc, type RawAnswer } from "../harness/rpc.ts";
import { addCast, startTeamGateway, type Cast, type TeamGateway, type Told } from "../harness/team-gateway.ts";
import { until } from "../harness/until.ts";

let team: TeamGateway;
let cast: Cast;
beforeAll(async () => {
  team = await startTeamGateway({
    own: { ...badServer("--behaviours=canary,env,hang,in-flight"), scope: "user" },
    other: { ...badServer("--tools", "2"), scope: "user" },
  });
  cast = await addCast(team);
});
afterAll(async () => await team[Symbol.asyncDispose]());

const bearer = (token: string) => ({ authorization: `Bearer ${token}`, accept: "application/json, text/event-stream" });

async function tokenOf(who: string, body: object): Promise<{ readonly id: string; readonly token: string }> {
  return (await team.ask(who, "POST", "/api/me/tokens", { body })).json;
}

const executeParams = { name: "execute_mcp_tool", arguments: { tool_path: "own:env", arguments: {} } };

test("FAULT 101: a call beyond the scope is 403 with insufficient_scope and all that it needs, in either era", async () => {
  const { token } = await tokenOf(cast.bob, { scopes: ["mcp:read"] });
  const url = `${team.gateway.url}/mcp`;
  const refused = (answer: RawAnswer): void => {
    expect([answer.status, answer.json.error.code]).toEqual([403, -31122]);
    expect(answer.headers["www-authenticate"]).toBe(
      'Bearer realm="toolyard", error="insufficient_scope", scope="mcp:read mcp:tools:execute", ' +
        `resource_metadata="${team.gateway.url}/.well-known/oauth-protected-resource/mcp"`,
    );
  };
  refused(await rpc(url, "tools/call", executeParams, bearer(token)));
  refused(await modernRpc(url, "tools/call", executeParams, {}, bearer(token)));
  // Nothing was started for it.
  const instances = (await team.ask(cast.bob, "GET", "/api/instances")).json.instances as { status: string }[];
  expect(instances.map(({ status }) => status)).not.toContain("online");
  const listed = await rpc(url, "tools/list", {}, bearer(token));
  expect(listed.json.result.tools.length).toBeGreaterThan(0);
  const found = { name: "discover_mcp_tools", arguments: { query: "environment" } };
  expect((await rpc(url, "tools/call", found, bearer(token))).json.result.isError).not.toBe(true);
  const more = await tokenOf(cast.bob, { scopes: ["mcp:tools:execute"] });
  expect((await rpc(url, "tools/call", executeParams, bearer(more.token))).status).toBe(200);
});

test("a token for single servers sees and calls these alone, however they are called", async () => {
  const { token } = await tokenOf(cast.bob, { only: ["other"] });
  const { url } = team.gateway;
  const slugs = ((await team.ask(token, "GET", "/api/servers")).json.servers as { slug: string }[]).map(
    (one) => one.slug,
  );
  expect(slugs).toEqual(["other"]);
  const both = (await team.ask(cast.bob, "GET", "/api/instances")).json.instances as { id: string; server: string }[];
  expect(both.map(({ server }) => server)).toEqual(["own", "other"]);
  const own = String(both[0]?.id);
  const listed = (await team.ask(token, "GET", "/api/instances")).json.instances as { server: string }[];
  expect(listed.map(({ server }) => server)).toEqual(["other"]);
  const attempts: Told[] = [
    await team.ask(token, "GET", `/api/instances/${own}`),
    await team.ask(token, "POST", `/api/instances/${own}/restart`, { body: {} }),
    await team.ask(token, "POST", "/api/servers/own/refresh", { body: {} }),
    await team.ask(token, "POST", "/execute/own%3Aenv", { body: {} }),
  ];
  expect(attempts.map(({ status }) => status)).toEqual([404, 404, 404, 404]);
  const called = await rpc(`${url}/mcp`, "tools/call", executeParams, bearer(token));
  expect(called.text).toMatch(/SERVER_UNKNOWN|TOOL_UNKNOWN/);
  // Views of the same person with and without the limit do not take each other's place.
  expect((await team.ask(cast.bob, "POST", "/execute/own%3Aenv", { body: {} })).status).toBe(200);
  expect((await team.ask(token, "POST", "/execute/own%3Aenv", { body: {} })).status).toBe(404);
  // An instance's token would reach beyond it, and so would another token.
  expect((await team.ask(token, "POST", "/api/me/tokens", { body: {} })).status).toBe(403);
});

/** A request that stays open; resolves to how it ended. */
async function open(token: string, method: string, path: string, body = ""): Promise<{ ended: Promise<string> }> {
  return await new Promise((resolve, reject) => {
    const headers = { ...bearer(token), "content-type": "application/json" };
    const sent = request(`${team.gateway.url}${path}`, { method, headers, agent: false }, (response) => {
      let text = "";
      response.on("data", (chunk: Buffer) => (text += chunk.toString()));
      resolve({
        ended: new Promise((done) => {
          response.on("close", () => done(text));
        }),
      });
    });
    sent.on("error", reject);
    sent.end(body);
    // A call that hangs has no head yet.
    if (method === "POST")
      resolve({
        ended: new Promise((done) => {
          sent.on("response", (response) => {
            let text = "";
            response.on("data", (chunk: Buffer) => (text += chunk.toString()));
            response.on("end", () => done(text));
          });
        }),
      });
  });
}

test("FAULT 98: a token that is revoked ends its stream and its running call, and those of the person's other tokens go on", async () => {
  const [gone, kept] = [await tokenOf(cast.olga, { name: "gone" }), await tokenOf(cast.olga, { name: "kept" })];
  const stream = await open(gone.token, "GET", "/api/events");
  const other = await open(kept.token, "GET", "/api/events");
  const hello = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "t", version: "1" } };
  const init = await rpc(`${team.gateway.url}/mcp`, "initialize", hello, bearer(gone.token));
  const session = String(init.headers["mcp-session-id"]);
  // With the session of another token of the same person nobody gets in: it would not end with that token.
  const foreign = await rpc(
    `${team.gateway.url}/mcp`,
    "ping",
    {},
    { ...bearer(kept.token), "mcp-session-id": session },
  );
  expect(foreign.status).toBe(404);
  const call = await open(gone.token, "POST", "/execute/own%3Ahang", JSON.stringify({}));
  const inFlight = async (): Promise<number> =>
    Number(
      /inFlight\W*(\d+)/.exec((await team.ask(kept.token, "POST", "/execute/own%3Ain-flight", { body: {} })).text)?.[1],
    );
  await until(async () => (await inFlight()) > 1);
  await team.ask(kept.token, "DELETE", `/api/me/tokens/${gone.id}`, { body: {} });
  expect(await call.ended).toContain("UNAUTHORIZED");
  await stream.ended;
  expect((await team.ask(gone.token, "GET", "/api/me")).status).toBe(401);
  expect((await team.ask(kept.token, "GET", "/api/me")).status).toBe(200);
  let hasEnded = false;
  void other.ended.then(() => (hasEnded = true));
  expect((await team.ask(kept.token, "GET", "/api/servers")).status).toBe(200);
  expect(hasEnded).toBe(false);
  await team.ask(kept.token, "DELETE", `/api/me/tokens/${kept.id}`, { body: {} });
  await other.ended;
});

test("calls and usage: everybody sees their own, those who run a team the team's, an admin all, and nobody what was said", async () => {
  for (const who of [cast.bob, cast.cid]) await team.ask(who, "POST", "/execute/own%3Aenv", { body: {} });
  const idOf = async (who: string): Promise<string> => (await team.ask(who, "GET", "/api/me")).json.id;
  const [bob, cid] = [await idOf(cast.bob), await idOf(cast.cid)];
  const seenBy = async (who: string, query = ""): Promise<Set<string>> => {
    const { json } = await team.ask(who, "GET", `/api/calls?limit=1000${query}`);
    return new Set((json.calls as { principal: string }[]).map(({ principal }) => principal));
  };
  await until(async () => {
    const seen = await seenBy(cast.ann);
    return seen.has(bob) && seen.has(cid);
  });
  expect(await seenBy(cast.bob)).toEqual(new Set([bob]));
  const byTom = await seenBy(cast.tom);
  expect([byTom.has(bob), byTom.has(cid)]).toEqual([true, false]);
  expect([...(await seenBy(cast.tom, "&team=blue")), ...(await seenBy(cast.tom, `&principal=${cid}`))]).toEqual([]);
  expect(await seenBy(cast.ann, "&team=blue")).toEqual(new Set([cid]));
  const one = (await team.ask(cast.bob, "GET", "/api/calls?limit=1")).json.calls[0].id as string;
  const asTom = await team.ask(cast.tom, "GET", `/api/calls/${one}`);
  expect([asTom.status, asTom.json.body]).toEqual([200, null]);
  expect((await team.ask(cast.cid, "GET", `/api/calls/${one}`)).status).toBe(404);
  const usedBy = async (who: string, query = ""): Promise<string[]> => {
    const { json } = await team.ask(who, "GET", `/api/usage?by=principal${query}`);
    return (json.usage as { group: { principal: string } }[]).map(({ group }) => group.principal).sort();
  };
  expect(await usedBy(cast.bob)).toEqual([bob]);
  expect(await usedBy(cast.cid)).toEqual([cid]);
  const used = await usedBy(cast.tom);
  expect([used.includes(bob), used.includes(cid)]).toEqual([true, false]);
  expect(await usedBy(cast.tom, "&team=blue")).toEqual([]);
  expect(await usedBy(cast.ann, "&team=blue")).toEqual([cid]);
  expect((await team.ask(cast.bob, "GET", `/api/usage?principal=${cid}`)).status).toBe(403);
});

test("calls of the last minutes are told to whoever made them, to who runs their team, and to an admin", async () => {
  const lately = async (who: string): Promise<number> => {
    const { minutes } = (await team.ask(who, "GET", "/api/usage/minutes")).json as { minutes: { calls: number }[] };
    return minutes.reduce((sum, { calls }) => sum + calls, 0);
  };
  const [bob, cid] = [await lately(cast.bob), await lately(cast.cid)];
  const [tom, ann] = [await lately(cast.tom), await lately(cast.ann)];
  expect([bob > 0, cid > 0]).toEqual([true, true]);
  expect(tom).toBeGreaterThanOrEqual(bob);
  expect(ann).toBeGreaterThanOrEqual(tom + cid);
});
