import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runCommand } from "./command.ts";
import { createPageBrowser } from "../people/page-browser.ts";
import { password } from "../people/team-world.ts";
import { badServer, startGateway, type RunningGateway } from "./gateway.ts";

/** An answer of REST. */
export interface Told {
  readonly status: number;
  readonly text: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- tests look into whatever came back
  readonly json: any;
  readonly headers: Headers;
}

export interface Asking {
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A gateway for teams, with people in it. */
export interface TeamGateway extends AsyncDisposable {
  readonly gateway: RunningGateway;
  readonly directory: string;
  /** A request with a token; without one where it is "". */
  ask(token: string, method: string, path: string, asking?: Asking): Promise<Told>;
  /** A command of the owner, whose answer it is. */
  // oxlint-disable-next-line typescript/no-explicit-any -- the same
  command(...words: string[]): Promise<any>;
  /** Headers of a browser in which somebody has just logged in. */
  browser(name: string): Promise<Readonly<Record<string, string>>>;
  /** The same gateway once more, after `between`. */
  again(between?: () => Promise<void>): Promise<void>;
}

/**
 * Two teams and five people. In red: ann, an admin of the gateway, olga, the owner, tom, an admin of the team, and bob.
 * In blue: cid, its owner.
 */
export interface Cast {
  readonly ann: string;
  readonly olga: string;
  readonly tom: string;
  readonly bob: string;
  readonly cid: string;
}

/** `database`: of an empty PostgreSQL; undefined for SQLite. */
export async function startTeamGateway(
  servers?: Readonly<Record<string, unknown>>,
  database?: string,
): Promise<TeamGateway> {
  const directory = await mkdtemp(join(tmpdir(), "toolyard-team-"));
  const own = {
    ...badServer("--behaviours=canary,env,hang,in-flight"),
    scope: "user",
    optional: { user: ["env.CANARY"] },
  };
  const toolyard = database === undefined ? {} : { toolyard: { database } };
  const options = { directory, config: { mcpServers: servers ?? { own }, ...toolyard }, args: ["--team"] };
  let gateway = await startGateway(options);
  const team: TeamGateway = {
    get gateway() {
      return gateway;
    },
    directory,
    ask: async (token, method, path, asking = {}) => await ask(gateway.url, token, method, path, asking),
    async command(...words) {
      const where = ["--config", gateway.configFile, "--data-dir", join(directory, "data"), "--json"];
      const { code, stdout, stderr } = await runCommand([...words, ...where]);
      if (code !== 0) throw new Error(`${words.join(" ")}: ${stderr}`);
      return JSON.parse(stdout);
    },
    async browser(name) {
      const { link } = await team.command("user", "link", name);
      const browser = createPageBrowser();
      const page = await browser.open(`${gateway.url}/setup`);
      await browser.submit(page, { code: link.split("#")[1], password, again: password });
      return { cookie: `ty_session=${browser.cookies.get("ty_session") ?? ""}` };
    },
    async again(between = async () => await Promise.resolve()) {
      await gateway.stop();
      await between();
      gateway = await startGateway(options);
    },
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]();
      await rm(directory, { recursive: true, force: true });
    },
  };
  return team;
}

// oxlint-disable-next-line eslint/max-params -- a request has these parts
async function ask(url: string, token: string, method: string, path: string, asking: Asking): Promise<Told> {
  const { body, headers } = asking;
  const response = await fetch(`${url}${path}`, {
    method,
    headers: {
      ...(token === "" ? {} : { authorization: `Bearer ${token}` }),
      ...(method === "GET" || method === "HEAD" ? {} : { "content-type": "application/json" }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  const isJson = /json/.test(response.headers.get("content-type") ?? "");
  return {
    status: response.status,
    text,
    json: isJson && text !== "" ? JSON.parse(text) : undefined,
    headers: response.headers,
  };
}

/** The people of {@link Cast}, made over REST but for the first. */
export async function addCast({ command, ask: request }: TeamGateway): Promise<Cast> {
  const ann = (await command("user", "add", "ann", "--admin", "--team", "red")).made.token as string;
  const add = async (name: string, team: string, role: string): Promise<string> => {
    const { json, text } = await request(ann, "POST", "/api/users", { body: { name, team, role } });
    if (json?.made?.token === undefined) throw new Error(text);
    return json.made.token as string;
  };
  await request(ann, "POST", "/api/teams", { body: { slug: "blue" } });
  const [olga, tom] = [await add("olga", "red", "owner"), await add("tom", "red", "admin")];
  const [bob, cid] = [await add("bob", "red", "member"), await add("cid", "blue", "owner")];
  return { ann, olga, tom, bob, cid };
}
