import { once } from "node:events";
import { request, type ClientRequest, type IncomingMessage, type OutgoingHttpHeaders } from "node:http";
import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runCommand } from "../harness/command.ts";
import { badServer, badServerFile } from "../harness/gateway.ts";
import { addCast, startTeamGateway, type Cast, type TeamGateway } from "../harness/team-gateway.ts";
import { until } from "../harness/until.ts";
import { send } from "../harness/rpc.ts";
import { openSse } from "../protocol/sse-client.ts";

let team: TeamGateway;
let cast: Cast;
beforeAll(async () => {
  team = await startTeamGateway({ own: { ...badServer("--behaviours=env"), scope: "user" } });
  cast = await addCast(team);
  // What is loaded at the first request is there from now on, so that nothing is waited for below.
  await until(async () => (await team.ask(cast.ann, "POST", "/execute/own%3Aenv", { body: {} })).status === 200);
});
afterAll(async () => await team[Symbol.asyncDispose]());

interface Answer {
  readonly status: number;
  readonly text: string;
  readonly challenge: string | undefined;
}

/** A request whose sender has been let in, and whose body has not arrived. */
interface Begun {
  finish(): Promise<Answer>;
}

/** The gateway asks for the body once it has the head, in the same turn in which it lets its sender in. */
async function begin(who: string | OutgoingHttpHeaders, method: string, url: string, body: object): Promise<Begun> {
  const text = JSON.stringify(body);
  const headers = {
    ...(typeof who === "string" ? { authorization: `Bearer ${who}` } : who),
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    "content-length": String(Buffer.byteLength(text)),
    expect: "100-continue",
    // The only revision that has batches.
    ...(Array.isArray(body) ? { "mcp-protocol-version": "2025-03-26" } : {}),
  };
  const sent: ClientRequest = request(url, { method, headers, agent: false });
  const answered = new Promise<Answer>((resolve, reject) => {
    sent.on("response", (response: IncomingMessage) => {
      let answer = "";
      response.on("data", (chunk: Buffer) => (answer += chunk.toString()));
      response.on("end", () =>
        resolve({ status: response.statusCode ?? 0, text: answer, challenge: response.headers["www-authenticate"] }),
      );
    });
    sent.on("error", reject);
  });
  sent.flushHeaders();
  await once(sent, "continue");
  return {
    async finish() {
      sent.end(text);
      return await answered;
    },
  };
}

const execution = { tool_path: "own:env", arguments: {} };
const call = {
  jsonrpc: "2.0",
  id: 1,
  method: "tools/call",
  params: { name: "execute_mcp_tool", arguments: execution },
};
const program = { slug: "evil", entry: { url: "https://mcp.example.com/mcp" }, fields: [] };
const requests: Readonly<Record<string, readonly [method: string, path: string, body: object]>> = {
  "a call over MCP": ["POST", "/mcp", call],
  "calls in a batch": ["POST", "/mcp", [call, { ...call, id: 2 }]],
  "a call over REST": ["POST", "/execute/own%3Aenv", {}],
  "a change over REST": ["POST", "/api/templates", program],
};

let made = 0;

/** An admin of the gateway, with a token of their own. */
async function addAdmin(): Promise<{ readonly name: string; readonly token: string }> {
  const name = `admin-${(made += 1)}`;
  const { token } = (await team.command("user", "add", name, "--admin", "--team", "red")).made as { token: string };
  await until(async () => (await team.ask(token, "POST", "/execute/own%3Aenv", { body: {} })).status === 200);
  return { name, token };
}

const losses: Readonly<Record<string, (name: string) => Promise<unknown>>> = {
  disabled: async (name) => await team.command("user", "disable", name),
  "taken out of the team": async (name) => await team.command("team", "members", "red", "--remove", name),
  "made an ordinary user": async (name) => await team.command("user", "role", name, "--role", "user"),
};

describe.each(Object.keys(requests))("%s whose body comes late", (what) => {
  const [method, path, body] = requests[what] ?? ["", "", {}];

  test("is carried out for whoever is still here", async () => {
    const { token, name } = await addAdmin();
    const begun = await begin(
      token,
      method,
      `${team.gateway.url}${path}`,
      "slug" in body ? { ...body, slug: name } : body,
    );
    // Somebody else loses something meanwhile.
    await team.command("user", "disable", (await addAdmin()).name);
    expect((await begun.finish()).status).toBe(200);
  });

  test.each(Object.keys(losses))("FAULT 98: is refused for an admin who was %s meanwhile", async (how) => {
    const { name, token } = await addAdmin();
    const begun = await begin(token, method, `${team.gateway.url}${path}`, body);
    await losses[how]?.(name);
    const { status, text, challenge } = await begun.finish();
    expect([status, text]).toEqual([401, expect.stringContaining("no longer valid")]);
    expect(challenge).toContain("resource_metadata=");
    const { templates } = (await team.ask(cast.ann, "GET", "/api/templates")).json as { templates: { slug: string }[] };
    expect(templates.map(({ slug }) => slug)).not.toContain("evil");
  });
});

test("FAULT 98: a message of HTTP+SSE whose body comes late is refused with the stream that has ended", async () => {
  const { name, token } = await addAdmin();
  const stream = await openSse(`${team.gateway.url}/sse`, { authorization: `Bearer ${token}` });
  await stream.initialize();
  const begun = await begin(token, "POST", stream.messagesUrl, call);
  await team.command("user", "disable", name);
  await until(() => stream.ended);
  expect((await begun.finish()).status).toBeGreaterThanOrEqual(400);
});

test("a change in the owner's browser whose body comes late is carried out, whoever lost something meanwhile", async () => {
  const { gateway } = team;
  const place = ["--config", gateway.configFile, "--data-dir", join(gateway.directory, "data")];
  const [, code] = (await runCommand(["open", "--print", ...place])).stdout.trim().split("#code=");
  const login = await send(`${gateway.url}/api/session`, {
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ code }),
  });
  const cookie = String(login.headers["set-cookie"]).split(";", 1)[0] ?? "";
  const proof = { cookie, "toolyard-key": String(login.json.key) };
  const begun = await begin(proof, "POST", `${gateway.url}/api/searches`, { query: "environment", tool: "own:env" });
  await team.command("user", "disable", (await addAdmin()).name);
  const { status, text } = await begun.finish();
  expect([status, JSON.parse(text)]).toEqual([201, expect.objectContaining({ tool: "own:env" })]);
});

/** Comes up when there is a file `open`, and says with a file `begun` that somebody waits for it. */
const waiting = `
  const { existsSync, writeFileSync } = require("node:fs");
  const [, folder] = process.argv;
  writeFileSync(folder + "/begun", "");
  const look = () => (existsSync(folder + "/open") ? import(${JSON.stringify(badServerFile)}) : setTimeout(look, 20));
  look();
`;

test("FAULT 98: a call over REST that waits for its server is not made with a token that was revoked meanwhile", async () => {
  const folder = await mkdtemp(join(tmpdir(), "toolyard-waiting-"));
  const args = ["-e", waiting, folder, "--behaviours=env"];
  await using world = await startTeamGateway({ slow: { command: process.execPath, args, scope: "user" } });
  const { token } = (await world.command("user", "add", "ann", "--admin", "--team", "red")).made as { token: string };
  const other = (await world.command("token", "new", "--user", "ann", "--team", "red")).made as {
    id: string;
    token: string;
  };
  const called = world.ask(other.token, "POST", "/execute/slow%3Aenv", { body: {} });
  await until(() => existsSync(join(folder, "begun")));
  await world.command("token", "revoke", other.id);
  await writeFile(join(folder, "open"), "");
  expect((await called).status).toBe(401);
  // Nobody else's token is worse for it.
  expect((await world.ask(token, "POST", "/execute/slow%3Aenv", { body: {} })).status).toBe(200);
  await rm(folder, { recursive: true });
});
