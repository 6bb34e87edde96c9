import { afterAll, beforeAll, expect, test } from "vitest";
import { badServer } from "../harness/gateway.ts";
import { post } from "../harness/rest.ts";
import { send } from "../harness/rpc.ts";
import { until } from "../harness/until.ts";
import { callbackUrl, connectApp } from "./app-client.ts";
import { openAll, type Credential } from "./opened-ways.ts";
import type { PageBrowser } from "./page-browser.ts";
import { startTeamWorld, type TeamWorld } from "./team-world.ts";

const server = { ...badServer("--era", "legacy", "--behaviours=pid,hang,elicit,in-flight"), scope: "user" };
let world: TeamWorld;
beforeAll(async () => {
  world = await startTeamWorld({
    servers: { own: server, asking: server },
  });
  await world.ask("user", "add", "ann", "--admin", "--team", "red");
});
afterAll(async () => await world[Symbol.asyncDispose]());

type Headers = Readonly<Record<string, string>>;

/** What somebody in a team comes with, and what takes that away. */
interface Case {
  readonly credential: Credential;
  take(): Promise<unknown>;
  /** Whether the person and their other tokens stay. */
  readonly isPersonKept: boolean;
}

interface Person {
  readonly name: string;
  readonly team: string;
  /** With this one, what happens at the server is looked at. */
  readonly kept: { readonly id: string; readonly headers: Headers };
  /** Of the server, for this person. */
  readonly instance: string;
}

/** An id that a command takes as it stands: one that begins with `-` would be an option. */
const plainId = /^[0-9a-z]+$/;

const bearer = (token: string): Headers => ({ authorization: `Bearer ${token}` });

async function addToken(name: string, team: string): Promise<{ readonly id: string; readonly headers: Headers }> {
  const { token, id } = (await world.ask("token", "new", "--user", name, "--team", team)).made;
  return { id, headers: bearer(token) };
}

async function addPerson(name: string): Promise<Person> {
  const team = `team-${name}`;
  await world.ask("team", "add", team);
  const { token, id } = (await world.ask("user", "add", name, "--team", team)).made as { token: string; id: string };
  const headers = bearer(token);
  await pidOf(headers);
  const listed = await send(`${world.url}/api/instances`, { method: "GET", headers });
  const own = listed.json.instances.find(({ server: slug }: { server: string }) => slug === "own");
  return { name, team, kept: { id, headers }, instance: own.id };
}

const everywhere = ({ instance }: Person, headers: Headers): Credential => ({
  ...{ url: world.url, headers, rest: { instance } },
  mcp: { path: "/mcp", sse: "/sse", isOfInstance: false },
});

async function withApp(person: Person): Promise<{ readonly headers: Headers; readonly clientId: string }> {
  const browser = await world.logIn(person.name, { stopAt: callbackUrl });
  const app = await connectApp(world.url, browser);
  return { headers: bearer(app.access_token), clientId: app.clientId };
}

async function endSessions(user: string): Promise<void> {
  const { sessions } = (await world.ask("session", "list", "--user", user)) as { sessions: { id: string }[] };
  for (const { id } of sessions) {
    expect(id).toMatch(plainId);
    await world.ask("session", "end", id, "--user", user);
  }
}

function cookieOf(browser: PageBrowser): Headers {
  const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
  return { cookie, "sec-fetch-site": "same-origin", origin: world.url };
}

/** A token of its own, and something that takes more away than that. */
const withToken =
  (take: (person: Person) => Promise<unknown>) =>
  async (person: Person): Promise<Case> => {
    const { headers } = await addToken(person.name, person.team);
    return { credential: everywhere(person, headers), take: async () => await take(person), isPersonKept: false };
  };

const cases: Readonly<Record<string, (person: Person) => Promise<Case>>> = {
  async "personal token"(person) {
    const { id, headers } = await addToken(person.name, person.team);
    const take = async (): Promise<unknown> => await world.ask("token", "revoke", id);
    return { credential: everywhere(person, headers), take, isPersonKept: true };
  },
  async grant(person) {
    const { headers } = await withApp(person);
    const { apps } = await world.ask("app", "list", "--user", person.name);
    expect(apps).toMatchObject([{ user: person.name, team: person.team, name: "Test app" }]);
    const take = async (): Promise<unknown> => await world.ask("app", "revoke", apps[0].id);
    return { credential: everywhere(person, headers), take, isPersonKept: true };
  },
  async "token of an instance"(person) {
    const path = `/api/instances/${encodeURIComponent(person.instance)}/token`;
    const { token } = (await post(world.url + path, {}, person.kept.headers)).json;
    const at = `/i/${encodeURIComponent(person.instance)}`;
    const credential = {
      ...{ url: world.url, headers: bearer(token) },
      mcp: { path: `${at}/mcp`, sse: `${at}/sse`, isOfInstance: true },
    };
    const headers = { ...person.kept.headers, "content-type": "application/json" };
    const take = async (): Promise<unknown> => await send(world.url + path, { method: "DELETE", headers });
    return { credential, take, isPersonKept: true };
  },
  async session(person) {
    const { rest, url } = everywhere(person, {});
    const credential = { url, rest, headers: cookieOf(await world.logIn(person.name)) };
    return { credential, take: async () => await endSessions(person.name), isPersonKept: true };
  },
  membership: withToken(async ({ team, name }) => await world.ask("team", "members", team, "--remove", name)),
  user: withToken(async ({ name }) => await world.ask("user", "disable", name)),
  team: withToken(async ({ team }) => await world.ask("team", "remove", team)),
  async client(person) {
    const { headers, clientId } = await withApp(person);
    expect(clientId).toMatch(plainId);
    const { clients } = await world.ask("client", "list");
    expect(clients).toContainEqual(expect.objectContaining({ id: clientId, apps: 1 }));
    const take = async (): Promise<unknown> => await world.ask("client", "rm", clientId);
    return { credential: everywhere(person, headers), take, isPersonKept: true };
  },
};

async function call(tool: string, headers: Headers): Promise<{ readonly status: number; readonly text: string }> {
  return await post(`${world.url}/execute/${encodeURIComponent(tool)}`, {}, headers);
}

async function pidOf(headers: Headers): Promise<number> {
  return await until(async () => Number(/pid\W+(\d+)/.exec((await call("own:pid", headers)).text)?.[1]) || undefined);
}

/** Beside those that ask for it. */
async function callsAtServers({ kept }: Person): Promise<number> {
  const told = ["own:in-flight", "asking:in-flight"].map(async (tool) => (await call(tool, kept.headers)).text);
  const counts = (await Promise.all(told)).map((text) => Number(/inFlight\W*(\d+)/.exec(text)?.[1]) - 1);
  return counts.reduce((sum, count) => sum + count);
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

test.each(Object.entries(cases))(
  "FAULT 98: with a %s that is taken away, its streams, calls, questions and processes end",
  async (what, make) => {
    const person = await addPerson(`p-${what.replaceAll(" ", "-")}`);
    const pid = await pidOf(person.kept.headers);
    const { credential, take, isPersonKept } = await make(person);
    const opened = await openAll(credential);
    const calls = Object.values(opened).reduce((sum, one) => sum + one.calls, 0);
    // The server has all of them: a call that is not there yet could not end.
    await until(async () => (await callsAtServers(person)) === calls);
    await take();
    await Promise.all(Object.values(opened).map(async ({ ended }) => await ended));
    if (isPersonKept) {
      await until(async () => (await callsAtServers(person)) === 0);
      expect(isRunning(pid)).toBe(true);
      await endSessions(person.name);
      await world.ask("token", "revoke", person.kept.id);
    }
    expect((await call("own:pid", person.kept.headers)).status).toBe(401);
    const { url, mcp, headers } = credential;
    const again = await post(`${url}${mcp === undefined ? "/execute/own%3Apid" : mcp.path}`, {}, headers);
    expect(again.status).toBe(401);
    await until(() => !isRunning(pid));
  },
);
