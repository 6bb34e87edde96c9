import { mkdtemp, rm } from "node:fs/promises";
import { Agent, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { badServer, startGateway, type RunningGateway } from "../harness/gateway.ts";
import { runCommand } from "../harness/command.ts";
import { createRandom } from "../harness/random.ts";
import { lostOf, openSessions } from "./isolation-lasting.ts";
import {
  canaryOf,
  colours,
  createKnown,
  json,
  kinds,
  otherOf,
  think,
  type Ask,
  type Asked,
  type Colour,
  type Known,
  type Random,
  type Told,
} from "./isolation-steps.ts";
import { createPageBrowser } from "./page-browser.ts";

/** Requests that are on their way at once. */
const workers = 24;
/**
 * What tells of a team: its mark, and its name where records say whose they are (the last one is that of a CSV). The
 * mark alone is not enough, because it is a value of servers, which is written into no log.
 */
const signOf: Readonly<Record<Colour, RegExp>> = {
  red: /canary-red-7f3a|"team":"red"|"instance":"[^"]*-red-|(?:^|,)red(?:,|\r?$)/m,
  blue: /canary-blue-7f3a|"team":"blue"|"instance":"[^"]*-blue-|(?:^|,)blue(?:,|\r?$)/m,
};
/** What shows somebody who is in both teams, and asks with a browser, all of their teams. */
const ofAllTeams: readonly string[] = ["/api/me", "/api/session", "/api/teams"];

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

export interface IsolationAudit {
  /** What the audit says that somebody did to a team without being in it. */
  readonly strangers: readonly unknown[];
  /** Tokens, browsers and sessions that are no good any more, although nobody of their own team took them away. */
  readonly lost: readonly string[];
  readonly isWhole: boolean;
}

/** A gateway with two teams, in which whatever they give themselves has their mark. */
export interface IsolationWorld extends AsyncDisposable {
  /** Random requests of people of both teams, with ids of either. */
  run(operations: number, seed: number): Promise<IsolationRun>;
  /** What is left behind. */
  audit(): Promise<IsolationAudit>;
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
  const opened = await openSessions(ask, known);

  async function run(operations: number, seed: number): Promise<IsolationRun> {
    const random = createRandom(seed);
    const pick: Random = (items) => items[Math.floor(random() * items.length)];
    const [leaks, failures]: [string[], string[]] = [[], []];
    let [left, ok, own] = [operations, 0, 0];
    async function work(): Promise<void> {
      while (left > 0) {
        left -= 1;
        const colour = pick(colours) ?? "red";
        const { learn, headers, ...step } = think(known, colour, pick);
        const credential = pick(known.credentials[colour]);
        const told = await ask({ ...step, headers: { ...headers, ...credential?.headers } });
        const what = `${step.method} ${step.path}: ${told.text.slice(0, 300)}`;
        // Each change of values starts servers anew, also under a call; and a database may have enough to do.
        const isExpected = /"SERVER_STARTING"| was stopped"| are busy"/.test(told.text);
        if (told.status >= 500 && !isExpected) failures.push(`${told.status} ${what}`);
        const isOfAll = credential?.isOfBoth === true && ofAllTeams.includes(step.path);
        if (!isOfAll && signOf[otherOf(colour)].test(told.text)) leaks.push(`${colour}: ${what}`);
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

  return {
    run,
    async audit() {
      const { isWhole } = json(await ask(asking(admin, "GET", "/api/audit/verify")));
      const strangers = await Promise.all(
        colours.map(async (colour) => await strangersOf({ ask, admin, known }, colour)),
      );
      return { strangers: strangers.flat(), lost: await lostOf(ask, known, opened), isWhole };
    },
    async [Symbol.asyncDispose]() {
      agent.destroy();
      await gateway[Symbol.asyncDispose]();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

const bearer = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` });
const asking = (token: string, method: string, path: string): Asked => ({ method, path, headers: bearer(token) });

async function send(url: string, agent: Agent, { method, path, headers: given, body }: Asked): Promise<Told> {
  const text = method === "GET" ? "" : JSON.stringify(body ?? {});
  const headers = {
    ...given,
    ...(method === "GET" ? {} : { "content-type": "application/json", accept: "application/json" }),
    "content-length": String(Buffer.byteLength(text)),
  };
  return await new Promise((resolve, reject) => {
    const sent = request(`${url}${path}`, { method, agent, headers }, (response) => {
      let answer = "";
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => (answer += chunk));
      response.on("end", () => {
        const session = response.headers["mcp-session-id"];
        const status = response.statusCode ?? 0;
        resolve({ status, text: answer, session: typeof session === "string" ? session : undefined });
      });
    });
    sent.on("error", reject);
    sent.end(text);
  });
}

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
  const command = async (...words: string[]) => {
    const where = ["--config", gateway.configFile, "--data-dir", join(gateway.directory, "data"), "--json"];
    return JSON.parse((await runCommand([...words, ...where])).stdout);
  };
  const admin = (await command("user", "add", "root", "--admin", "--team", "operators")).made.token as string;

  async function must(token: string, path: string, body: unknown, method = "POST") {
    const told = await ask({ ...asking(token, method, path), body });
    if (told.status >= 300) throw new Error(`${path}: ${told.text}`);
    return json(told);
  }

  async function add(name: string, colour: Colour, role: string): Promise<string> {
    const made = await must(admin, "/api/users", { name, team: colour, role });
    known.credentials[colour].push({ headers: bearer(made.made.token as string), isOfBoth: false });
    known.lasting.add(made.user.teams[0].membership as string);
    return made.made.token as string;
  }

  const fields = [
    { path: "env.CANARY", tier: "team", type: "string" },
    { path: "env.KEY", tier: "user", type: "secret" },
  ];
  const entry = { ...badServer("--behaviours=canary,env"), scope: "user", requestLogging: "full" };
  // A program takes a login of the last minutes, and no token.
  const { link } = await command("user", "link", "root");
  const browser = createPageBrowser();
  await browser.submit(await browser.open(`${gateway.url}/setup`), {
    code: link.split("#")[1],
    password,
    again: password,
  });
  const headers = { cookie: `ty_session=${browser.cookies.get("ty_session") ?? ""}` };
  const told = await ask({ method: "POST", path: "/api/templates", headers, body: { slug: "mail", entry, fields } });
  if (told.status >= 300) throw new Error(told.text);
  const template = json(told);
  const owners: Record<Colour, string> = { red: "", blue: "" };
  for (const colour of colours) {
    await must(admin, "/api/teams", { slug: colour, title: canaryOf(colour) });
    const [owner = ""] = await inTurn(["owner", "admin", "member"], async (role) => {
      return await add(`${canaryOf(colour)}-${role}`, colour, role);
    });
    owners[colour] = owner;
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
  const both = await add("both", "red", "member");
  const { secret } = await must(owners.blue, "/api/teams/blue/invites", {});
  const joined = await must(both, "/api/invites/accept", { secret });
  known.credentials.blue.push({ headers: bearer(joined.made.token as string), isOfBoth: false });
  known.lasting.add(joined.membership as string);

  /** A browser in which somebody is logged in, and which says for which team it asks. */
  async function logIn(name: string, teams: readonly Colour[]): Promise<void> {
    const { link } = await command("user", "link", name);
    const browser = createPageBrowser();
    const page = await browser.open(`${gateway.url}/setup`);
    const done = await browser.submit(page, { code: link.split("#")[1], password, again: password });
    const cookie = browser.cookies.get("ty_session");
    if (cookie === undefined) throw new Error(done.text);
    for (const colour of teams) {
      const headers = { cookie: `ty_session=${cookie}`, "x-toolyard-team": colour };
      known.credentials[colour].push({ headers, isOfBoth: teams.length > 1 });
      const told = await ask({ method: "GET", path: "/api/me/sessions", headers });
      const kept = teams.length > 1 ? known.ofBoth : known.lasting;
      for (const { id } of json(told).sessions) kept.add(String(id));
    }
  }
  for (const colour of colours) await logIn(`${canaryOf(colour)}-owner`, [colour]);
  await logIn("both", colours);
  return admin;
}

const password = "correct horse battery";

async function inTurn<Item, Made>(items: readonly Item[], make: (item: Item) => Promise<Made>): Promise<Made[]> {
  const made: Made[] = [];
  for (const item of items) made.push(await make(item));
  return made;
}

interface Looking {
  readonly ask: Ask;
  readonly admin: string;
  readonly known: Known;
}

async function strangersOf({ ask, admin, known }: Looking, colour: Colour): Promise<readonly unknown[]> {
  const get = async (path: string) => json(await ask(asking(admin, "GET", path)));
  const { members } = await get(`/api/teams/${colour}/members?limit=1000`);
  const own = new Set<string>([...members.map(({ id }: { id: string }) => id), ...known.ids[colour].members]);
  if ([...known.lasting].filter((id) => own.has(id)).length !== 4) return [`actors of ${colour} are gone`];
  const { entries } = await get(`/api/audit?team=${colour}&outcome=ok&limit=1000`);
  return (entries as { actor: string; action: string }[]).filter(
    ({ actor, action }) =>
      !own.has(actor) && !["user.add", "team.add", "template.add", "install", "secret.set"].includes(action),
  );
}
