import { mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { startGateway, type RunningGateway } from "../harness/gateway.ts";
import { startPostgres, type Postgres } from "../harness/postgres.ts";
import { execute } from "../harness/rpc.ts";
import { until } from "../harness/until.ts";

export const effectsServer = fileURLToPath(new URL("../../test/servers/effects-server.mjs", import.meta.url));
export const clusterKey = Buffer.alloc(32, 7).toString("base64");

export interface Nodes extends AsyncDisposable {
  readonly postgres: Postgres;
  readonly database: string;
  /** Starts a node of that name, or starts it again. */
  start(name: string, more?: NodeOptions): Promise<RunningGateway>;
  /** What servers did, in the order in which they did it. */
  effects(): Promise<readonly Effect[]>;
}

export interface NodeOptions {
  readonly servers?: Readonly<Record<string, object>>;
  readonly settings?: object;
  readonly cluster?: object;
  readonly env?: Readonly<Record<string, string>>;
  readonly main?: string;
  /** Where it answers clients. */
  readonly port?: number;
}

export interface Effect {
  readonly id: string;
  readonly pid: number;
  readonly at: number;
}

/**
 * A PostgreSQL, which it ends, and gateways that are nodes of one cluster on it, each with a data directory of its own.
 */
export async function startNodes(
  servers?: Readonly<Record<string, object>>,
  env: Readonly<Record<string, string>> = {},
  given?: Postgres,
): Promise<Nodes> {
  const postgres = given ?? (await startPostgres());
  const database = await postgres.createDatabase("yard");
  const directory = await mkdtemp(join(tmpdir(), "toolyard-nodes-"));
  const effects = join(directory, "effects.jsonl");
  const started: RunningGateway[] = [];
  const usual = { effects: { command: process.execPath, args: [effectsServer], env: { EFFECTS: effects, ...env } } };
  return {
    postgres,
    database,
    async start(name, more = {}) {
      const folder = join(directory, name);
      await mkdir(folder, { recursive: true });
      const cluster = { node: name, listen: "127.0.0.1:0", leaseMs: 10_000, ...more.cluster };
      const toolyard = { database: "${env:YARD_DATABASE}", cluster, ...more.settings };
      const config = { mcpServers: more.servers ?? servers ?? usual, toolyard };
      const env = { YARD_DATABASE: database, TOOLYARD_KEY: clusterKey, ...more.env };
      const { main, port } = more;
      const given = { ...(main === undefined ? {} : { main }), ...(port === undefined ? {} : { port }) };
      const gateway = await startGateway({ directory: folder, config, env, ...given });
      started.push(gateway);
      // On a busy machine a call comes before the tools are known.
      if (config.mcpServers === usual)
        await until(
          async () =>
            await callAt(gateway, "size", { text: "" }).then(
              () => true,
              () => false,
            ),
        );
      return gateway;
    },
    async effects() {
      const text = await readFile(effects, "utf8").catch(() => "");
      return text
        .split("\n")
        .filter((line) => line !== "")
        .map((line) => JSON.parse(line) as Effect);
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(started.map(async (gateway) => await gateway[Symbol.asyncDispose]()));
      await postgres[Symbol.asyncDispose]();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/**
 * The text of a tool's result, which is JSON. The tool is one of the server `effects`, or has its server's name and a
 * colon before its own. Throws what the gateway said where the call failed.
 */
export async function callAt({ url }: Pick<RunningGateway, "url">, tool: string, args: unknown = {}): Promise<any> {
  const answer = await execute(url, tool.includes(":") ? tool : `effects:${tool}`, args);
  const result = answer?.result ?? answer;
  const said = result?.content?.[0]?.text;
  if (result?.isError === true || said === undefined) throw new Error(JSON.stringify(answer));
  return JSON.parse(said) as unknown;
}
