import { afterAll, beforeAll, expect, test } from "vitest";
import { badServer } from "../harness/gateway.ts";
import { modernRpc } from "../harness/rpc.ts";
import { until } from "../harness/until.ts";
import { everything } from "../protocol/clients.ts";
import { callbackUrl, connectApp } from "./app-client.ts";
import type { PageBrowser } from "./page-browser.ts";
import { startTeamWorld, type TeamWorld } from "./team-world.ts";

let world: TeamWorld;
beforeAll(async () => {
  world = await startTeamWorld({
    servers: { own: { ...badServer("--behaviours=pid,hang,elicit,in-flight"), scope: "user" } },
  });
  await world.ask("user", "add", "ann", "--admin", "--team", "red");
});
afterAll(async () => await world[Symbol.asyncDispose]());

type Headers = Readonly<Record<string, string>>;

/** Somebody who is in one team, with one credential, and what takes that away. */
interface Case {
  readonly headers: Headers;
  take(): Promise<unknown>;
}

interface Person {
  readonly name: string;
  readonly team: string;
  /** Revokes the token that came with the account. */
  withoutToken(): Promise<void>;
  readonly token: string;
}

async function addPerson(name: string): Promise<Person> {
  const team = `team-${name}`;
  await world.ask("team", "add", team);
  const { token, id } = (await world.ask("user", "add", name, "--team", team)).made as { token: string; id: string };
  return { name, team, token, withoutToken: async () => void (await world.ask("token", "revoke", id)) };
}

const bearer = (token: string): Headers => ({ authorization: `Bearer ${token}` });

async function withApp(person: Person): Promise<{ readonly headers: Headers; readonly clientId: string }> {
  const browser = await world.logIn(person.name, { stopAt: callbackUrl });
  await person.withoutToken();
  const app = await connectApp(world.url, browser);
  await endSessions(person.name);
  return { headers: bearer(app.access_token), clientId: app.clientId };
}

const sessionsOf = async (user: string): Promise<{ id: string }[]> =>
  (await world.ask("session", "list", "--user", user)).sessions;

async function endSessions(user: string): Promise<void> {
  for (const { id } of await sessionsOf(user)) await world.ask("session", "end", id, "--user", user);
}

function cookieOf(browser: PageBrowser): Headers {
  const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
  return { cookie, "sec-fetch-site": "same-origin", origin: world.url };
}

const cases: Readonly<Record<string, (person: Person) => Promise<Case>>> = {
  async token({ name, token }) {
    const { tokens } = await world.ask("token", "list", "--user", name);
    return await Promise.resolve({
      ...{ headers: bearer(token) },
      take: async () => await world.ask("token", "revoke", tokens[0].id),
    });
  },
  async grant(person) {
    const { headers } = await withApp(person);
    const { apps } = await world.ask("app", "list", "--user", person.name);
    expect(apps).toMatchObject([{ user: person.name, team: person.team, name: "Test app" }]);
    return { headers, take: async () => await world.ask("app", "revoke", apps[0].id) };
  },
  async session(person) {
    const browser = await world.logIn(person.name);
    await person.withoutToken();
    return { headers: cookieOf(browser), take: async () => await endSessions(person.name) };
  },
  membership: async ({ name, team, token }) =>
    await Promise.resolve({
      ...{ headers: bearer(token) },
      take: async () => await world.ask("team", "members", team, "--remove", name),
    }),
  user: async ({ name, token }) =>
    await Promise.resolve({
      ...{ headers: bearer(token) },
      take: async () => await world.ask("user", "disable", name),
    }),
  team: async ({ team, token }) =>
    await Promise.resolve({
      ...{ headers: bearer(token) },
      take: async () => await world.ask("team", "remove", team),
    }),
  async client(person) {
    const { headers, clientId } = await withApp(person);
    const { clients } = await world.ask("client", "list");
    expect(clients).toContainEqual(expect.objectContaining({ id: clientId, apps: 1 }));
    return { headers, take: async () => await world.ask("client", "rm", clientId) };
  },
};

async function call(tool: string, headers: Headers): Promise<{ readonly status: number; readonly text: string }> {
  const response = await fetch(`${world.url}/execute/own%3A${tool}`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: "{}",
  });
  return { status: response.status, text: await response.text() };
}

/** Resolves when the stream is open; `ended` when the gateway has ended it. */
async function openEvents(headers: Headers): Promise<{ readonly ended: Promise<void> }> {
  const response = await fetch(`${world.url}/api/events`, { headers });
  expect(response.status).toBe(200);
  const drain = async (): Promise<void> => {
    for await (const _chunk of response.body as unknown as AsyncIterable<Uint8Array>);
  };
  return { ended: drain().catch(() => undefined) };
}

async function ask(headers: Headers, more: Readonly<Record<string, unknown>> = {}) {
  const params = { name: "execute_mcp_tool", arguments: { tool_path: "own:elicit", arguments: {} }, ...more };
  return await modernRpc(`${world.url}/mcp`, "tools/call", params, everything, headers);
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

test.each(Object.keys(cases).filter((what) => what !== "session"))(
  "FAULT 98: with a %s that is taken away, its streams, calls, questions and processes end",
  async (what) => {
    const { headers, take } = await (cases[what] as (person: Person) => Promise<Case>)(await addPerson(`p-${what}`));
    const pid = await until(
      async () => Number(/pid\W+(\d+)/.exec((await call("pid", headers)).text)?.[1]) || undefined,
    );
    expect(isRunning(pid)).toBe(true);
    const stream = await openEvents(headers);
    const { requestState, resultType } = (await ask(headers)).json.result;
    expect(resultType).toBe("input_required");
    let hasEnded = false;
    const running = call("hang", headers).finally(() => (hasEnded = true));
    // The server has it, beside the one that asks and the question: a call that is not there yet could not end.
    await until(async () => Number(/inFlight\W*(\d+)/.exec((await call("in-flight", headers)).text)?.[1]) > 1);
    expect(hasEnded).toBe(false);
    await take();
    await stream.ended;
    expect((await running).status).toBe(401);
    expect((await call("pid", headers)).status).toBe(401);
    expect((await ask(headers, { requestState, inputResponses: {} })).status).toBe(401);
    await until(() => !isRunning(pid));
  },
);

test("FAULT 98: with a session that is taken away, what its pages have opened ends", async () => {
  const { headers, take } = await (cases["session"] as (person: Person) => Promise<Case>)(await addPerson("p-session"));
  const stream = await openEvents(headers);
  await take();
  await stream.ended;
  expect((await fetch(`${world.url}/api/me`, { headers })).status).toBe(401);
});
