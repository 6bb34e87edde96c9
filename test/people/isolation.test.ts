import { Agent, request } from "node:http";
import { afterAll, beforeAll, expect, test } from "vitest";
import { badServer, startGateway, type RunningGateway } from "../harness/gateway.ts";
import { runCommand } from "../harness/command.ts";
import { createRandom } from "../harness/random.ts";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

const operations = 10_000;
/** Requests that are on their way at once. */
const workers = 24;
const colours = ["red", "blue"] as const;
type Colour = (typeof colours)[number];
/** In everything that a team gives itself: names, titles, labels, values, arguments. */
const canaryOf = (colour: Colour): string => `canary-${colour}-7f3a`;
const otherOf = (colour: Colour): Colour => (colour === "red" ? "blue" : "red");

interface Told {
  readonly status: number;
  readonly text: string;
}

const agent = new Agent({ keepAlive: true, maxSockets: workers });
let directory: string;
let gateway: RunningGateway;
let admin: string;

/** Tokens of a team's people: its owner, an admin, a member, and somebody who is in both teams. */
const tokens: Record<Colour, string[]> = { red: [], blue: [] };
/** Ids that there are or were, by kind, of each team: also those that were taken away. */
const ids: Record<Colour, Record<Kind, string[]>> = { red: emptyIds(), blue: emptyIds() };
const kinds = ["members", "tokens", "invites", "instances", "calls"] as const;
type Kind = (typeof kinds)[number];
/** Memberships of those who act: nobody of their own team takes them away. */
const actors = new Set<string>();

function emptyIds(): Record<Kind, string[]> {
  return { members: [], tokens: [], invites: [], instances: [], calls: [] };
}

// oxlint-disable-next-line eslint/max-params -- a request has these parts
async function ask(token: string, method: string, path: string, body?: unknown): Promise<Told> {
  const text = method === "GET" ? "" : JSON.stringify(body ?? {});
  const headers = {
    authorization: `Bearer ${token}`,
    ...(method === "GET" ? {} : { "content-type": "application/json", accept: "application/json" }),
    "content-length": String(text.length),
  };
  return await new Promise((resolve, reject) => {
    const sent = request(`${gateway.url}${path}`, { method, agent, headers }, (response) => {
      let answer = "";
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => (answer += chunk));
      response.on("end", () => resolve({ status: response.statusCode ?? 0, text: answer }));
    });
    sent.on("error", reject);
    sent.end(text);
  });
}

// oxlint-disable-next-line typescript/no-explicit-any -- tests look into whatever came back
const json = ({ text }: Told): any => JSON.parse(text);

async function add(name: string, colour: Colour, role: string): Promise<void> {
  const made = json(await ask(admin, "POST", "/api/users", { name, team: colour, role }));
  tokens[colour].push(made.made.token as string);
  actors.add(made.user.teams[0].membership as string);
}

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "toolyard-isolation-"));
  const values = (colour: Colour): object => ({ servers: { own: { env: { CANARY: canaryOf(colour) } } } });
  gateway = await startGateway({
    directory,
    args: ["--team"],
    config: {
      mcpServers: { own: { ...badServer("--behaviours=canary,env,echo"), scope: "user", requestLogging: "full" } },
      toolyard: {
        teams: { red: values("red"), blue: values("blue") },
        limits: { callsPerSecond: 100_000, concurrentCalls: 1_000 },
      },
    },
  });
  const where = ["--config", gateway.configFile, "--data-dir", join(directory, "data"), "--json"];
  const first = await runCommand(["user", "add", "root", "--admin", "--team", "operators", ...where]);
  admin = JSON.parse(first.stdout).made.token;
  for (const colour of colours) {
    await ask(admin, "POST", "/api/teams", { slug: colour, title: canaryOf(colour) });
    for (const role of ["owner", "admin", "member"]) await add(`${canaryOf(colour)}-${role}`, colour, role);
  }
  await add("both", "red", "member");
  const { secret } = json(await ask(tokens.blue[0] ?? "", "POST", "/api/teams/blue/invites", {}));
  const joined = json(await ask(tokens.red[3] ?? "", "POST", "/api/invites/accept", { secret }));
  tokens.blue.push(joined.made.token as string);
  actors.add(joined.membership as string);
});
afterAll(async () => {
  agent.destroy();
  await gateway[Symbol.asyncDispose]();
  await rm(directory, { recursive: true, force: true });
});

type Random = <Item>(items: readonly Item[]) => Item | undefined;

interface Step {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  /** What the answer tells of ids. */
  readonly learn?: (told: Told) => void;
}

/** What somebody of a team may think of: with ids of either team, and with such as there never were. */
function think(colour: Colour, pick: Random): Step {
  const canary = canaryOf(colour);
  const team = pick([colour, colour, otherOf(colour), "operators", "nix"]) ?? colour;
  const of = (kind: Kind): string => {
    const known = pick([colour, otherOf(colour)]) ?? colour;
    const choices = ids[known][kind].filter((id) => known !== colour || !actors.has(id));
    return encodeURIComponent(pick([...choices.slice(-50), `${kind[0] ?? ""}_0`]) ?? "nothing");
  };
  const learn =
    (kind: Kind, from: (value: ReturnType<typeof json>) => unknown[]) =>
    (told: Told): void => {
      if (told.status === 200) ids[colour][kind].push(...from(json(told)).map(String));
    };
  const list = (name: string, kind: Kind) => learn(kind, (value) => value[name].map((one: { id: string }) => one.id));
  const steps: (() => Step)[] = [
    () => ({ method: "GET", path: "/api/me" }),
    () => ({ method: "GET", path: pick(["/api/teams", `/api/teams/${team}`, "/api/users", "/api/status"]) ?? "" }),
    () => ({ method: "GET", path: `/api/teams/${team}/members`, learn: list("members", "members") }),
    () => ({ method: "GET", path: `/api/teams/${team}/members/${of("members")}` }),
    () => ({ method: "DELETE", path: `/api/teams/${team}/members/${of("members")}` }),
    () => ({ method: "PATCH", path: `/api/teams/${team}/members/${of("members")}`, body: { role: "member" } }),
    () => ({ method: "PATCH", path: `/api/teams/${team}`, body: { title: `${canary} title` } }),
    () => ({
      method: "POST",
      path: "/api/me/tokens",
      body: { name: canary, scopes: ["mcp:read"] },
      learn: learn("tokens", ({ id }) => [id]),
    }),
    () => ({ method: "DELETE", path: `/api/me/tokens/${of("tokens")}` }),
    () => ({ method: "GET", path: `/api/me/tokens/${of("tokens")}` }),
    () => ({
      method: "POST",
      path: `/api/teams/${team}/invites`,
      body: { about: canary },
      learn: learn("invites", ({ id }) => [id]),
    }),
    () => ({ method: "GET", path: `/api/teams/${team}/invites` }),
    () => ({ method: "DELETE", path: `/api/teams/${team}/invites/${of("invites")}` }),
    () => ({ method: "GET", path: "/api/instances", learn: list("instances", "instances") }),
    () => ({ method: "GET", path: `/api/instances/${of("instances")}` }),
    () => ({ method: "GET", path: `/api/instances/${of("instances")}/logs` }),
    () => ({ method: "POST", path: "/execute/own%3Aenv" }),
    () => ({ method: "POST", path: "/execute/own%3Aecho", body: { text: canary } }),
    () => ({ method: "POST", path: "/execute/own%3Aenvv" }),
    () => ({
      method: "GET",
      path: `/api/calls?limit=5${pick(["", `&team=${team}`]) ?? ""}`,
      learn: list("calls", "calls"),
    }),
    () => ({ method: "GET", path: `/api/calls/${of("calls")}` }),
    () => ({ method: "GET", path: `/api/calls?limit=5&instance=${of("instances")}` }),
    () => ({ method: "GET", path: `/api/usage?by=principal,instance,team${pick(["", `&team=${team}`]) ?? ""}` }),
    () => ({ method: "GET", path: `/api/usage/tokens?principal=${of("members")}` }),
    () => ({
      method: "GET",
      path: `/api/audit?limit=5${pick(["", `&team=${team}`, `&actor=${of("members")}`]) ?? ""}`,
    }),
    () => ({ method: "GET", path: `/api/logs?instance=${of("instances")}` }),
    () => ({ method: "POST", path: "/api/search", body: { query: pick(["canary", "environment", "echo"]) } }),
    () => ({ method: "GET", path: pick(["/api/tools", "/api/servers", "/list/apps", "/api/namespaces/stats"]) ?? "" }),
    () => ({
      method: "POST",
      path: "/mcp",
      body: { jsonrpc: "2.0", id: 1, method: pick(["tools/list", "resources/list", "ping"]), params: {} },
    }),
  ];
  return pick(steps)?.() ?? { method: "GET", path: "/api/me" };
}

test("FAULT 99: ten thousand random requests of two teams, one person in both: no canary reaches the other team", async () => {
  const random = createRandom(20_261_122);
  const pick: Random = (items) => items[Math.floor(random() * items.length)];
  const seen = { ok: 0, own: 0 };
  const leaks: string[] = [];
  let left = operations;
  async function work(): Promise<void> {
    while (left > 0) {
      left -= 1;
      const colour = pick(colours) ?? "red";
      const token = pick(tokens[colour]) ?? "";
      const { method, path, body, learn } = think(colour, pick);
      const told = await ask(token, method, path, body);
      if (told.status >= 500) leaks.push(`${told.status} ${method} ${path}: ${told.text.slice(0, 300)}`);
      if (told.text.includes(canaryOf(otherOf(colour))))
        leaks.push(`${colour}: ${method} ${path}: ${told.text.slice(0, 300)}`);
      if (told.status === 200) seen.ok += 1;
      if (told.text.includes(canaryOf(colour))) seen.own += 1;
      learn?.(told);
    }
  }
  await Promise.all(Array.from({ length: workers }, work));
  expect(leaks).toEqual([]);
  // Else it would find nothing because it asks for nothing.
  expect(seen.ok).toBeGreaterThan(operations / 3);
  expect(seen.own).toBeGreaterThan(operations / 20);
  for (const colour of colours)
    for (const kind of kinds) expect([colour, kind, ids[colour][kind].length > 0]).toEqual([colour, kind, true]);
  // What each team did was done by its own people, and to its own team.
  const members = async (colour: Colour): Promise<string[]> =>
    json(await ask(admin, "GET", `/api/teams/${colour}/members?limit=1000`)).members.map(
      ({ id }: { id: string }) => id,
    );
  for (const colour of colours) {
    const known = new Set([...(await members(colour)), ...ids[colour].members]);
    expect([...actors].filter((id) => known.has(id))).toHaveLength(4);
    const { entries } = json(await ask(admin, "GET", `/api/audit?team=${colour}&outcome=ok&limit=1000`));
    const strangers = (entries as { actor: string; action: string; via: string }[]).filter(
      ({ actor, action }) => action !== "user.add" && action !== "team.add" && !known.has(actor),
    );
    expect(strangers).toEqual([]);
  }
  expect(json(await ask(admin, "GET", "/api/audit/verify"))).toMatchObject({ isWhole: true });
}, 300_000);
