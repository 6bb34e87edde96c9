import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { badServer } from "../harness/gateway.ts";
import { addCast, startTeamGateway, type Cast, type TeamGateway, type Told } from "../harness/team-gateway.ts";
import { until } from "../harness/until.ts";
import { openSse } from "../protocol/sse-client.ts";

let far: Server;
let team: TeamGateway;
let cast: Cast;

beforeAll(async () => {
  far = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => far.listen(0, "127.0.0.1", resolve));
  team = await startTeamGateway({ own: { ...badServer("--behaviours=env,hang,in-flight"), scope: "user" } });
  cast = await addCast(team);
});
afterAll(async () => {
  await team[Symbol.asyncDispose]();
  far.closeAllConnections();
  await new Promise((resolve) => far.close(resolve));
});

/** An MCP server that tells whoever calls it with which address and headers. */
async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString();
  const { method, id } = (text === "" ? {} : JSON.parse(text)) as { method?: string; id?: number };
  const results: Readonly<Record<string, object>> = {
    initialize: {
      ...{ protocolVersion: "2025-06-18", capabilities: { tools: {} } },
      serverInfo: { name: "far", version: "1" },
    },
    "tools/list": { tools: [{ name: "seen", inputSchema: { type: "object" } }] },
    "tools/call": { content: [{ type: "text", text: JSON.stringify([request.url, request.headers]) }] },
  };
  const result = results[method ?? ""];
  if (result === undefined) return void response.writeHead(id === undefined ? 202 : 404).end();
  response.writeHead(200, { "content-type": "application/json" });
  response.end(JSON.stringify({ jsonrpc: "2.0", id, result }));
}

const call = async (token: string, path: string): Promise<Told> =>
  await team.ask(token, "POST", `/execute/${encodeURIComponent(path)}`, { body: {} });

/** What a tool answers once its server runs. */
const called = async (token: string, path: string): Promise<string> =>
  await until(async () => {
    const { status, text } = await call(token, path);
    return status === 200 && text;
  });

describe("FAULT 98: an admin of a team who is made a member", () => {
  test("loses the call and the stream that were open as an admin, and goes on as a member with the same token", async () => {
    const { made } = await team.command("user", "add", "ted", "--team", "red", "--role", "admin");
    const ted = made.token as string;
    await called(ted, "own:env");
    const stream = await openSse(`${team.gateway.url}/sse`, { authorization: `Bearer ${ted}` });
    await stream.initialize();
    const running = call(ted, "own:hang");
    const inFlight = async (): Promise<number> =>
      Number(/inFlight\W*(\d+)/.exec(await called(ted, "own:in-flight"))?.[1]) - 1;
    await until(async () => (await inFlight()) === 1);
    const secret = { body: { value: "of-red" } };
    expect((await team.ask(ted, "PUT", "/api/teams/red/secrets/MINE", secret)).status).toBe(200);

    await team.command("team", "role", "red", "--user", "ted", "--role", "member");
    const { status, text } = await running;
    expect([status, text]).toEqual([401, expect.stringContaining("no longer valid")]);
    await until(() => stream.ended);
    await until(async () => (await inFlight()) === 0);
    const after = [
      await team.ask(ted, "PUT", "/api/teams/red/secrets/MINE", secret),
      await team.ask(ted, "DELETE", "/api/teams/red/secrets/MINE"),
      await team.ask(ted, "POST", "/api/teams/red/installations", { body: { template: "own", slug: "more" } }),
      await team.ask(ted, "GET", "/api/teams/red/secrets"),
    ];
    expect(after.map((told) => [told.status, told.json.code])).toEqual(after.map(() => [403, "FORBIDDEN"]));
    expect((await team.ask(ted, "GET", "/api/me")).json).toMatchObject({ roles: ["member"], via: "pat" });
  });
});

/** A template of an admin of the gateway, installed in red by the team's owner. */
async function install(slug: string, template: object, installed: object): Promise<void> {
  const headers = await team.browser("ann");
  const made = await team.ask("", "POST", "/api/templates", { body: { slug, ...template }, headers });
  const { status, text } = await team.ask(cast.olga, "POST", "/api/teams/red/installations", {
    body: { template: made.json?.id ?? "", slug, ...installed },
  });
  expect([status < 300, text]).toEqual([true, text]);
}

async function give(who: string, slug: string, values: object): Promise<unknown> {
  const tier = who === cast.bob ? "me" : "team";
  const path = `/api/teams/red/installations/${slug}/config/${tier}`;
  const { status, json } = await team.ask(who, "PATCH", path, { body: { values } });
  return status === 200 ? 200 : json.code;
}

describe("what is locked", () => {
  test("reaches a server with an address as it was locked, whatever letters a member or the team writes", async () => {
    const { port } = far.address() as AddressInfo;
    await install(
      "far",
      {
        entry: { url: `http://127.0.0.1:${port}/mcp?region=eu`, headers: { "X-Region": "eu" } },
        fields: [
          { path: "headers.X-Region", locked: true },
          { path: "headers.X-Plan" },
          { path: "query.region", tier: "template" },
          { path: "query.plan" },
        ],
      },
      { values: { "headers.X-Plan": "free", "query.plan": "free" }, locks: ["headers.x-plan", "query.plan"] },
    );
    for (const path of ["headers.X-Region", "headers.x-region", "query.region", "query.Region", "query.re%67ion"])
      for (const who of [cast.bob, cast.tom])
        expect([path, await give(who, "far", { [path]: "stolen" })]).toEqual([path, "VALUE_REFUSED"]);
    for (const path of ["headers.X-PLAN", "query.plan"])
      expect([path, await give(cast.bob, "far", { [path]: "stolen" })]).toEqual([path, "VALUE_REFUSED"]);
    for (const path of ["url", "headers", "query", "query.", "headers.x-region "])
      expect([path, await give(cast.bob, "far", { [path]: "stolen" })]).toEqual([path, "VALUE_REFUSED"]);
    const seen = await called(cast.bob, "far:seen");
    expect(seen).not.toContain("stolen");
    expect(seen).toContain("/mcp?region=eu&plan=free");
    expect([/x-region\W+eu/.test(seen), /x-plan\W+free/.test(seen)]).toEqual([true, true]);
  });

  test("reaches a program as it was locked, whatever arguments are appended", async () => {
    await install(
      "near",
      {
        entry: badServer("--behaviours=argv,env"),
        fields: [
          { path: "args.delay", flag: "--start-delay", tier: "template", default: "1" },
          { path: "args.log", flag: "--stderr-lines" },
          { path: "args" },
        ],
      },
      { values: { "args.log": "1" }, locks: ["args.log"] },
    );
    for (const args of [["--start-delay", "9"], ["--start-delay=9"], ["--start-d=9"], ["-startDelay=9"]])
      for (const who of [cast.bob, cast.tom])
        expect([args, await give(who, "near", { args })]).toEqual([args, "VALUE_REFUSED"]);
    expect(await give(cast.bob, "near", { args: ["--stderr-lines=9"] })).toBe("VALUE_REFUSED");
    // In a secret it is seen only where the arguments are put together.
    const hidden = { body: { value: "--start-delay=9" } };
    expect((await team.ask(cast.tom, "PUT", "/api/teams/red/secrets/HIDDEN", hidden)).status).toBe(200);
    expect(await give(cast.tom, "near", { args: ["${secret:HIDDEN}"] })).toBe(200);
    const told = await called(cast.bob, "near:argv");
    expect(JSON.parse(told)).toMatchObject({ success: true });
    expect([told.includes('--start-delay\\",\\"1'), told.includes("=9")]).toEqual([true, false]);
  });
});

test("a secret of another team is reached by nobody: not by its name, and not by a member's words", async () => {
  const of = async (who: string, slug: string, name: string, value: string): Promise<void> => {
    const { status } = await team.ask(who, "PUT", `/api/teams/${slug}/secrets/${name}`, { body: { value } });
    expect(status).toBe(200);
  };
  await of(cast.cid, "blue", "OFBLUE", "canary-of-blue");
  await of(cast.olga, "red", "OFRED", "canary-of-red");
  await install(
    "notes",
    { entry: badServer("--behaviours=env"), fields: [{ path: "env.TEAMS" }, { path: "env.MINE" }] },
    {},
  );
  for (const name of ["OFBLUE", "blue/OFBLUE", "blue.OFBLUE", "../blue/OFBLUE"]) {
    expect(await give(cast.tom, "notes", { "env.TEAMS": `\${secret:${name}}` })).toBe(200);
    const { text } = await until(async () => {
      const told = await call(cast.bob, "notes:env");
      return !told.text.includes("SERVER_STARTING") && told;
    });
    expect([name, text.includes("canary-of-blue")]).toEqual([name, false]);
  }
  expect(await give(cast.tom, "notes", { "env.TEAMS": "${secret:OFRED}" })).toBe(200);
  expect(await give(cast.bob, "notes", { "env.MINE": "see ${secret:OFRED}" })).toBe(200);
  const text = await until(async () => {
    const told = await call(cast.bob, "notes:env");
    return told.text.includes("see ${secret:OFRED}") && told.text;
  });
  expect([text.includes("canary-of-red"), text.includes("canary-of-blue")]).toEqual([true, false]);
});
