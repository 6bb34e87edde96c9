import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readlinkSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { startGateway, type RunningGateway } from "../harness/gateway.ts";
import { execute } from "../harness/rpc.ts";
import { until } from "../harness/until.ts";

/** Root runs gateways as another user where TOOLYARD_TEST_USER has its number. */
export const isRoot = process.getuid?.() === 0;

export const insideServer = fileURLToPath(new URL("inside-server.mjs", import.meta.url));

/** A gateway with one server that does what a test says, in a sandbox, and a home with keys in it. */
export interface Inside extends AsyncDisposable {
  readonly gateway: RunningGateway;
  readonly directory: string;
  readonly home: string;
  /** Evaluates code in the server; resolves to its value, or to a text that begins with `failed:`. */
  run(code: string): Promise<unknown>;
  /** Starts a new gateway in the same directory. */
  again(): Promise<void>;
}

export interface InsideOptions {
  readonly sandbox: unknown;
  readonly entry?: object;
  readonly others?: object;
  readonly settings?: object;
  readonly env?: Readonly<Record<string, string>>;
  readonly directory?: string;
}

/** A directory with a home, for a gateway. */
export async function makeHome(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "toolyard-inside-"));
  mkdirSync(join(directory, "home/.ssh"), { recursive: true });
  writeFileSync(join(directory, "home/.ssh/id_rsa"), "a private key");
  writeFileSync(join(directory, "home/notes.txt"), "notes");
  return directory;
}

export async function openInside({
  sandbox,
  entry = {},
  others = {},
  settings = {},
  env = {},
  ...rest
}: InsideOptions): Promise<Inside> {
  const directory = rest.directory ?? (await makeHome());
  const home = join(directory, "home");
  const inside = { command: process.execPath, args: [insideServer], sandbox, ...entry };
  const config = {
    mcpServers: { inside, ...others },
    toolyard: { instances: { restartDelaysMs: Array.from({ length: 20 }, () => 50) }, ...settings },
  };
  const user = isRoot ? Number(process.env["TOOLYARD_TEST_USER"] ?? 0) || undefined : undefined;
  if (user !== undefined) execFileSync("chown", ["-hR", `${user}:${user}`, directory]);
  const start = async () => await startGateway({ config, directory, env: { HOME: home, ...env }, user });
  let gateway = await start();
  return {
    get gateway() {
      return gateway;
    },
    directory,
    home,
    async run(code) {
      const { result, text } = await until(async () => {
        const answer = await execute(gateway.url, "inside:run", { code });
        const said: string = answer.content?.[0]?.text ?? "";
        // On a busy machine the first call comes before the server has said what it is.
        return said.includes('"SERVER_STARTING"') ? undefined : { result: answer, text: said };
      });
      if (result.isError === true) throw new Error(text);
      try {
        return JSON.parse(text);
      } catch {
        return text;
      }
    },
    async again() {
      await gateway[Symbol.asyncDispose]();
      gateway = await start();
    },
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** How many sockets a process has open. */
export function openSocketsOf(pid: number): number {
  const files = readdirSync(`/proc/${pid}/fd`).map((fd) => {
    try {
      return readlinkSync(`/proc/${pid}/fd/${fd}`);
    } catch {
      return "";
    }
  });
  return files.filter((file) => file.startsWith("socket:")).length;
}
