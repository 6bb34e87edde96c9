import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runCommand, type CommandResult } from "../harness/command.ts";
import { askOwner } from "../harness/owner-door.ts";
import { badServer, startGateway, type RunningGateway } from "../harness/gateway.ts";
import { createPageBrowser, type PageBrowser, type PageBrowserOptions } from "./page-browser.ts";

/** A gateway for teams that can be restarted, with a first admin who is logged in. */
export interface TeamWorld extends AsyncDisposable {
  readonly directory: string;
  readonly url: string;
  readonly gateway: RunningGateway;
  command(...words: string[]): Promise<CommandResult>;
  /** The answer of a command that must succeed. */
  // oxlint-disable-next-line typescript/no-explicit-any -- tests look into whatever came back
  ask(...words: string[]): Promise<any>;
  /** On the same port, so that what clients know of it stays true. */
  restart(signal?: NodeJS.Signals, between?: () => Promise<void>): Promise<void>;
  /** Makes a user with a password, and a browser in which they are logged in. */
  logIn(name: string, options?: PageBrowserOptions): Promise<PageBrowser>;
}

export const password = "correct horse battery";

export interface TeamWorldOptions {
  readonly settings?: object;
  readonly args?: readonly string[];
  /** Of the gateway and of commands. */
  readonly env?: Readonly<Record<string, string>>;
  /** Default: one server of each person's own. */
  readonly servers?: Readonly<Record<string, unknown>>;
  /** Known before the start, where addresses that the gateway gives out are to be right. */
  readonly port?: number;
}

interface Order {
  readonly path: string;
  readonly body: object;
}

/**
 * What the commands that nearly every test prepares itself with ask the gateway for: each as a process of its own takes
 * a quarter of a second of the processor. Undefined for others, and for options that are not known here.
 */
function orderOf([what, task, name, ...options]: readonly string[]): Order | undefined {
  if (what !== "user" || name === undefined || name.startsWith("-")) return undefined;
  if (task === "link") return options.length > 0 ? undefined : { path: "/api/setup-links", body: { user: name } };
  if (task !== "add") return undefined;
  const body: Record<string, unknown> = { name, admin: false };
  for (let at = 0; at < options.length; at += 1) {
    const [option = "", value] = options.slice(at);
    if (option === "--admin") body["admin"] = true;
    else if (["--team", "--role", "--email"].includes(option) && value !== undefined) {
      body[option.slice(2)] = value;
      at += 1;
    } else return undefined;
  }
  return { path: "/api/users", body };
}

export async function startTeamWorld(options: TeamWorldOptions = {}): Promise<TeamWorld> {
  const { settings = {}, args = [], env = {}, servers, port = 0 } = options;
  const directory = await mkdtemp(join(tmpdir(), "toolyard-login-"));
  const own = {
    ...badServer("--behaviours=canary,env,hang,in-flight"),
    scope: "user",
    optional: { user: ["env.CANARY"] },
  };
  const start = async (port: string): Promise<RunningGateway> =>
    await startGateway({
      directory,
      env,
      config: { mcpServers: servers ?? { own }, toolyard: settings },
      // The last one counts.
      args: ["--team", ...args, "--port", port],
    });
  let gateway = await start(String(port));
  const askDoor = async ({ path, body }: Order): Promise<unknown> => {
    const { status, text } = await askOwner(join(directory, "data"), "POST", path, body);
    if (status >= 300) throw new Error(`${path}: ${text}`);
    return JSON.parse(text);
  };
  const world: TeamWorld = {
    directory,
    get url() {
      return gateway.url;
    },
    get gateway() {
      return gateway;
    },
    async command(...words) {
      return await runCommand([...words, "--config", gateway.configFile, "--data-dir", join(directory, "data")], env);
    },
    async ask(...words) {
      const asked = orderOf(words);
      if (asked !== undefined) return await askDoor(asked);
      const { code, stdout, stderr } = await world.command(...words, "--json");
      if (code !== 0) throw new Error(`${words.join(" ")}: ${stderr}`);
      return JSON.parse(stdout);
    },
    async restart(signal, between) {
      const { port } = new URL(gateway.url);
      await gateway.stop(signal);
      await between?.();
      gateway = await start(port);
    },
    async logIn(name, options) {
      const { link } = await world.ask("user", "link", name);
      const browser = createPageBrowser(options);
      const page = await browser.open(`${gateway.url}/setup`);
      const done = await browser.submit(page, { code: link.split("#")[1], password, again: password });
      if (!done.text.includes(`You are <strong>${name}</strong>`)) throw new Error(done.text);
      return browser;
    },
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]();
      await rm(directory, { recursive: true, force: true });
    },
  };
  return world;
}
