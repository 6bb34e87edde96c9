import { Agent, request } from "node:http";
import { badServer, startGateway, type RunningGateway } from "../harness/gateway.ts";
import { runCommand } from "../harness/command.ts";
import { createRandom } from "../harness/random.ts";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Requests that are on their way at once. */
const workers = 24;
const colours = ["red", "blue"] as const;
type Colour = (typeof colours)[number];
/** In everything that a team gives itself: names, titles, labels, values, arguments. */
const canaryOf = (colour: Colour): string => `canary-${colour}-7f3a`;
const otherOf = (colour: Colour): Colour => (colour === "red" ? "blue" : "red");
/**
 * What tells of a team: its mark, and its name where records say whose they are. The mark alone is not enough, because
 * it is a value of servers, which is written into no log.
 */
const signOf: Readonly<Record<Colour, RegExp>> = {
  red: /canary-red-7f3a|"team":"red"|"instance":"[^"]*-red-/,
  blue: /canary-blue-7f3a|"team":"blue"|"instance":"[^"]*-blue-/,
};

interface Told {
  readonly status: number;
  readonly text: string;
}

export interface IsolationRun {
  /** What one team was shown of the other. */
  readonly leaks: readonly string[];
  /** Answers that say that something of ours went wrong. */
  readonly failures: readonly string[];
  readonly ok: number;
  /** Answers in which a team saw what is its own: else it would find nothing because it asks for nothing. */
  readonly own: number;
  /** Kinds of ids that a team never learned of. */
  readonly unseen: readonly string[];
}

/** A gateway with two teams, in which whatever they give themselves has their mark. */
export interface IsolationWorld extends AsyncDisposable {
  /** Random requests of people of both teams, with ids of either. */
  run(operations: number, seed: number): Promise<IsolationRun>;
  /** What the audit says that somebody did to a team without being in it; and whether the audit is whole. */
  audit(): Promise<{ readonly strangers: readonly unknown[]; readonly isWhole: boolean }>;
}

export interface IsolationOptions {
  /** Of an empty PostgreSQL; undefined for SQLite. */
  readonly database?: string | undefined;
}

export async function startIsolation({ database }: IsolationOptions = {}): Promise<IsolationWorld> {
  const directory = await mkdtemp(join(tmpdir(), "toolyard-isolation-"));
  const agent = new Agent({ keepAlive: true, maxSockets: workers });
  const known = createKnown();
  const gateway = await startTwoTeams(directory, database);
  const ask: Ask = async (asked) => await send(gateway.url, agent, asked);
  const admin = await addPeople(gateway, ask, known);

  async function run(operations: number, seed: number): Promise<IsolationRun> {
    const random = createRandom(seed);
    const pick: Random = (items) => items[Math.floor(random() * items.length)];
    const [leaks, failures]: [string[], string[]] = [[], []];
    let [left, ok, own] = [operations, 0, 0];
    async function work(): Promise<void> {
      while (left > 0) {
        left -= 1;
        const colour = pick(colours) ?? "red";
        const { learn, ...step } = think(known, colour, pick);
        const told = await ask({ ...step, token: pick(known.tokens[colour]) ?? "" });
        const what = `${step.method} ${step.path}: ${told.text.slice(0, 300)}`;
        // Each change of values starts servers anew, also under a call; and a database may have enough to do.
        const isExpected = /"SERVER_STARTING"| was stopped"| are busy"/.test(told.text);
        if (told.status >= 500 && !isExpected) failures.push(`${told.status} ${what}`);
        if (signOf[otherOf(colour)].test(told.text)) leaks.push(`${colour}: ${what}`);
        if (told.status === 200 || told.status === 201) ok += 1;
        if (told.text.includes(canaryOf(colour))) own += 1;
        learn?.(told);
      }
    }
    await Promise.all(Array.from({ length: workers }, work));
    const unseen = colours.flatMap((colour) =>
      kinds.filter((kind) => known.ids[colour][kind].length === 0).map((kind) => `${kind} of ${colour}`),
    );
    return { leaks, failures, ok, own, unseen };
  }

  async function strangersOf(colour: Colour): Promise<readonly unknown[]> {
    const get = async (path: string) => json(await ask({ token: admin, method: "GET", path }));
    const { members } = await get(`/api/teams/${colour}/members?limit=1000`);
    const own = new Set<string>([...members.map(({ id }: { id: string }) => id), ...known.ids[colour].members]);
    if ([...known.actors].filter((id) => own.has(id)).length !== 4) return [`actors of ${colour} are gone`];
    const { entries } = await get(`/api/audit?team=${colour}&outcome=ok&limit=1000`);
    return (entries as { actor: string; action: string }[]).filter(
      ({ actor, action }) =>
        !own.has(actor) && !["user.add", "team.add", "template.add", "install", "secret.set"].includes(action),
    );
  }

  return {
    run,
    async audit() {
      const { isWhole } = json(await ask({ token: admin, method: "GET", path: "/api/audit/verify" }));
      return { strangers: [...(await strangersOf("red")), ...(await strangersOf("blue"))], isWhole };
    },
    async [Symbol.asyncDispose]() {
      agent.destroy();
      await gateway[Symbol.asyncDispose]();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

interface Known {
  /** Tokens of a team's people: its owner, an admin, a member, and somebody who is in both teams. */
  readonly tokens: Record<Colour, string[]>;
  /** Ids that there are or were, by kind, of each team: also those that were taken away. */
  readonly ids: Record<Colour, Record<Kind, string[]>>;
  /** Memberships of those who act: nobody of their own team takes them away. */
  readonly actors: Set<string>;
}

const kinds = ["members", "tokens", "invites", "instances", "calls", "installations"] as const;
type Kind = (typeof kinds)[number];

function createKnown(): Known {
  const empty = (): Record<Kind, string[]> => ({
    ...{ members: [], tokens: [], invites: [] },
    ...{ instances: [], calls: [], installations: [] },
  });
  return { tokens: { red: [], blue: [] }, ids: { red: empty(), blue: empty() }, actors: new Set() };
}

interface Asked {
  readonly token: string;
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
}

type Ask = (asked: Asked) => Promise<Told>;

async function send(url: string, agent: Agent, { token, method, path, body }: Asked): Promise<Told> {
  const text = method === "GET" ? "" : JSON.stringify(body ?? {});
  const headers = {
    authorization: `Bearer ${token}`,
    ...(method === "GET" ? {} : { "content-type": "application/json", accept: "application/json" }),
    "content-length": String(Buffer.byteLength(text)),
  };
  return await new Promise((resolve, reject) => {
    const sent = request(`${url}${path}`, { method, agent, headers }, (response) => {
      let answer = "";
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => (answer += chunk));
      response.on("end", () => resolve({ status: response.statusCode ?? 0, text: answer }));
    });
    sent.on("error", reject);
    sent.end(text);
  });
}

// oxlint-disable-next-line typescript/no-explicit-any -- whoever asks looks into whatever came back
const json = ({ text }: Told): any => JSON.parse(text);

async function startTwoTeams(directory: string, database: string | undefined): Promise<RunningGateway> {
  const values = (colour: Colour): object => ({ servers: { own: { env: { CANARY: canaryOf(colour) } } } });
  return await startGateway({
    directory,
    args: ["--team"],
    env: { TOOLYARD_KEY: Buffer.alloc(32, 3).toString("base64") },
    config: {
      mcpServers: { own: { ...badServer("--behaviours=canary,env,echo"), scope: "user", requestLogging: "full" } },
      toolyard: {
        ...(database === undefined ? {} : { database }),
        teams: { red: values("red"), blue: values("blue") },
        limits: { callsPerSecond: 100_000, concurrentCalls: 1_000 },
      },
    },
  });
}

/** Two teams with four people each, one of them in both, and a server that both installed. Gives an admin's token. */
async function addPeople(gateway: RunningGateway, ask: Ask, known: Known): Promise<string> {
  const where = ["--config", gateway.configFile, "--data-dir", join(gateway.directory, "data"), "--json"];
  const first = await runCommand(["user", "add", "root", "--admin", "--team", "operators", ...where]);
  const admin = JSON.parse(first.stdout).made.token as string;

  async function must(token: string, path: string, body: unknown, method = "POST") {
    const told = await ask({ token, method, path, body });
    if (told.status >= 300) throw new Error(`${path}: ${told.text}`);
    return json(told);
  }

  async function add(name: string, colour: Colour, role: string): Promise<void> {
    const made = await must(admin, "/api/users", { name, team: colour, role });
    known.tokens[colour].push(made.made.token as string);
    known.actors.add(made.user.teams[0].membership as string);
  }

  const fields = [
    { path: "env.CANARY", tier: "team", type: "string" },
    { path: "env.KEY", tier: "user", type: "secret" },
  ];
  const entry = { ...badServer("--behaviours=canary,env"), scope: "user", requestLogging: "full" };
  const template = await must(admin, "/api/templates", { slug: "mail", entry, fields });
  for (const colour of colours) {
    await must(admin, "/api/teams", { slug: colour, title: canaryOf(colour) });
    for (const role of ["owner", "admin", "member"]) await add(`${canaryOf(colour)}-${role}`, colour, role);
    const [owner = ""] = known.tokens[colour];
    const given = {
      template: template.id,
      slug: "mail",
      name: canaryOf(colour),
      values: { "env.CANARY": canaryOf(colour) },
    };
    const shared = { ...given, slug: "common", scope: "shared" };
    for (const one of [given, shared]) {
      const made = await must(owner, `/api/teams/${colour}/installations`, one);
      known.ids[colour].installations.push(made.id as string);
    }
    await must(owner, `/api/teams/${colour}/secrets/${canaryOf(colour)}`, { value: canaryOf(colour) }, "PUT");
  }
  await add("both", "red", "member");
  const { secret } = await must(known.tokens.blue[0] ?? "", "/api/teams/blue/invites", {});
  const joined = await must(known.tokens.red[3] ?? "", "/api/invites/accept", { secret });
  known.tokens.blue.push(joined.made.token as string);
  known.actors.add(joined.membership as string);
  return admin;
}

type Random = <Item>(items: readonly Item[]) => Item | undefined;

interface Step {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  /** What the answer tells of ids. */
  readonly learn?: (told: Told) => void;
}

/** What somebody of a team may think of: with ids of either team, and with such as there never were. */
function think({ ids, actors }: Known, colour: Colour, pick: Random): Step {
  const canary = canaryOf(colour);
  const team = pick([colour, colour, otherOf(colour), "operators", "nix"]) ?? colour;
  const of = (kind: Kind): string => {
    const known = pick([colour, otherOf(colour)]) ?? colour;
    const choices = ids[known][kind].filter((id) => known !== colour || !actors.has(id));
    return encodeURIComponent(pick([...choices.slice(-50), `${kind[0] ?? ""}_0`]) ?? "nothing");
  };
  const isSeldom = pick([true, ...Array.from({ length: 19 }, () => false)]) === true;
  const installed = (): string => pick(["mail", "common", of("installations")]) ?? "mail";
  const learn =
    (kind: Kind, from: (value: ReturnType<typeof json>) => unknown[]) =>
    (told: Told): void => {
      if (told.status === 200 || told.status === 201) ids[colour][kind].push(...from(json(told)).map(String));
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
    () => ({ method: "GET", path: `/api/instances/${of("instances")}/${pick(["logs", "events"]) ?? ""}` }),
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
    () => ({ method: "GET", path: `/api/teams/${team}/installations`, learn: list("installations", "installations") }),
    () => ({ method: "GET", path: `/api/teams/${team}/installations/${installed()}` }),
    () => ({
      method: "PATCH",
      path: `/api/teams/${team}/installations/${installed()}`,
      body: { name: `${canary} again` },
    }),
    () => ({ method: "GET", path: `/api/teams/${team}/installations/${installed()}/config/${pick(["team", "me"])}` }),
    // Seldom: each change of values starts servers anew.
    () => ({
      method: isSeldom ? "PATCH" : "GET",
      path: `/api/teams/${team}/installations/${installed()}/config/team`,
      body: { values: { "env.CANARY": `${canary} of the team` } },
    }),
    () => ({
      method: isSeldom ? "PATCH" : "GET",
      path: `/api/teams/${team}/installations/${installed()}/config/me`,
      body: { values: { "env.KEY": canary } },
    }),
    () => ({ method: "GET", path: `/api/teams/${team}/installations/${installed()}/instances` }),
    () => ({ method: "GET", path: `/api/teams/${team}/installations/${installed()}/members/${of("members")}/config` }),
    () => ({ method: "GET", path: `/api/teams/${team}/secrets` }),
    () => ({ method: "PUT", path: `/api/teams/${team}/secrets/${canary}`, body: { value: canary } }),
    () => ({ method: "GET", path: `/api/templates${pick(["", `?team=${team}`]) ?? ""}` }),
    () => ({ method: "POST", path: "/api/templates", body: { slug: "own", team, entry: { url: 7 } } }),
    () => ({ method: "POST", path: "/execute/common%3Aenv" }),
    () => ({ method: "POST", path: "/execute/mail%3Aenv" }),
    () => ({ method: "POST", path: "/execute/mail%3Acanary" }),
    () => ({ method: "GET", path: `/api/calls?limit=5&installation=${of("installations")}` }),
    () => ({ method: "GET", path: `/api/usage?by=installation&installation=${of("installations")}` }),
  ];
  return pick(steps)?.() ?? { method: "GET", path: "/api/me" };
}
