import { readFileSync, readdirSync, readlinkSync } from "node:fs";
import { mkdtemp, open, rm } from "node:fs/promises";
import type { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { steadyPort } from "../../harness/free-port.ts";
import type { RunningGateway } from "../../harness/gateway.ts";
import type { Postgres } from "../../harness/postgres.ts";
import { startSwitchProxy, type SwitchProxy } from "../../harness/switch-proxy.ts";
import { effectsServer, startNodes, type Nodes } from "../nodes.ts";

export const nodeNames = ["n1", "n2", "n3"] as const;
export type NodeName = (typeof nodeNames)[number];
export const instanceNames = ["s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8"] as const;

/** A line that a server wrote: that its process began, with the process that started it, or an effect. */
export interface Line {
  readonly instance: string;
  readonly pid: number;
  readonly at: number;
  readonly began?: number;
  /** Of a process that began: where. */
  readonly node?: NodeName | undefined;
  readonly id?: string;
}

export interface TrialNode {
  readonly name: NodeName;
  /** Where it answers clients, in each life. */
  readonly url: string;
  /** The one that runs, or ran last. */
  readonly gateway: RunningGateway;
  readonly isRunning: boolean;
  /** What it logged, in all of its lives. */
  log(): string;
  /** Its link to the database. */
  readonly database: SwitchProxy;
  /** The links of other nodes to it; those of one of them by its name. */
  readonly peers: SwitchProxy;
  /** Starts it, and again until it runs; with the command's file of another build, where one is given. */
  start(build?: string): Promise<void>;
  stop(signal: "SIGTERM" | "SIGKILL"): Promise<void>;
}

/** Three nodes, each of whose links can be cut, a database, and what their servers have done. */
export interface World extends AsyncDisposable {
  readonly nodes: readonly TrialNode[];
  readonly postgres: Postgres;
  /** In the order in which it was written. */
  lines(): Promise<readonly Line[]>;
}

export interface WorldOptions {
  /** The command's file, where it is not the one that was built here. */
  readonly main?: string | undefined;
  readonly leaseMs: number;
  /** How long a node that stops is served, ms; longer than the balancer needs to see it. Default: 1,000. */
  readonly noticeMs?: number | undefined;
}

/** No node is started yet. */
export async function createWorld({ main, leaseMs, noticeMs = 1_000 }: WorldOptions): Promise<World> {
  const directory = await mkdtemp(join(tmpdir(), "toolyard-trial-"));
  const file = join(directory, "lines.jsonl");
  const env = (instance: string) => ({ EFFECTS: file, INSTANCE: instance });
  const nodes: Nodes = await startNodes(
    Object.fromEntries(
      instanceNames.map((name) => [name, { command: process.execPath, args: [effectsServer], env: env(name) }]),
    ),
  );
  const all: TrialNode[] = [];
  const gateways = new Map<number | undefined, NodeName>();
  const nameOf = (client: Socket): string => {
    const pids = all.map(({ gateway }) => gateway?.process.pid ?? 0);
    return all[pids.indexOf(pidOf(client, pids) ?? -1)]?.name ?? "nobody";
  };
  for (const name of nodeNames)
    all.push(
      await createNode(name, nodes, nameOf, {
        ...{ main, leaseMs, noticeMs },
        onStarted: ({ process }) => void gateways.set(process.pid, name),
      }),
    );
  return {
    nodes: all,
    postgres: nodes.postgres,
    lines: createLineReader(file, (gateway) => gateways.get(gateway)),
    async [Symbol.asyncDispose]() {
      // One that is stopped hears of nothing less.
      await Promise.all(all.map(async (node) => await node.stop("SIGKILL")));
      for (const { database, peers } of all) {
        await database[Symbol.asyncDispose]();
        await peers[Symbol.asyncDispose]();
      }
      await nodes[Symbol.asyncDispose]();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** Reads what was written since the last time: a long trial asks often. */
function createLineReader(path: string, nodeOf: (gateway: number) => NodeName | undefined): World["lines"] {
  const lines: Line[] = [];
  let reading: Promise<readonly Line[]> = Promise.resolve(lines);
  let readBytes = 0;

  /** A server may begin before its gateway says that it runs. */
  function toLine(text: string): Line {
    const line = JSON.parse(text) as Line;
    const { began } = line;
    return began === undefined ? line : Object.defineProperty(line, "node", { get: () => nodeOf(began) });
  }

  async function read(): Promise<readonly Line[]> {
    const file = await open(path, "r").catch(() => undefined);
    if (file === undefined) return lines;
    try {
      const { size } = await file.stat();
      const { buffer } = await file.read(Buffer.alloc(size - readBytes), 0, size - readBytes, readBytes);
      const whole = buffer.subarray(0, buffer.lastIndexOf("\n") + 1);
      readBytes += whole.length;
      for (const text of whole.toString("utf8").split("\n")) if (text !== "") lines.push(toLine(text));
      return lines;
    } finally {
      await file.close();
    }
  }

  return async () => await (reading = reading.then(read));
}

async function createNode(
  name: NodeName,
  nodes: Nodes,
  nameOf: (client: Socket) => string,
  { main, leaseMs, noticeMs, onStarted }: WorldOptions & { readonly onStarted: (gateway: RunningGateway) => void },
): Promise<TrialNode> {
  const [port, httpPort, peerPort] = [await steadyPort(), await steadyPort(), await steadyPort()];
  const database = await startSwitchProxy(nodes.postgres.port);
  const peers = await startSwitchProxy(port, nameOf, peerPort);
  const url = new URL(nodes.database);
  url.port = String(database.port);
  const lives: RunningGateway[] = [];
  let isRunning = false;

  async function startOnce(build = main): Promise<RunningGateway> {
    return await nodes.start(name, {
      ...{ port: httpPort, ...(build === undefined ? {} : { main: build }) },
      cluster: { listen: `127.0.0.1:${port}`, advertise: `127.0.0.1:${peers.port}`, leaseMs },
      settings: { noticeMs },
      env: { YARD_DATABASE: url.href },
    });
  }

  return {
    ...{ name, database, peers, url: `http://127.0.0.1:${httpPort}` },
    get gateway() {
      return lives.at(-1) as RunningGateway;
    },
    log: () => lives.map(({ stderr }) => stderr()).join("\n"),
    get isRunning() {
      return isRunning;
    },
    async start(build) {
      await peers.accept();
      for (let tries = 1; ; tries += 1) {
        try {
          const gateway = await startOnce(build);
          lives.push(gateway);
          onStarted(gateway);
          isRunning = true;
          return;
        } catch (error) {
          // Without a database it ends at once, and what starts it tries again.
          if (tries === mostStarts) throw error;
          await new Promise((resolve) => setTimeout(resolve, 500));
        }
      }
    },
    async stop(signal) {
      if (!isRunning) return;
      isRunning = false;
      await lives.at(-1)?.stop(signal);
      await peers.refuse();
    },
  };
}

const mostStarts = 40;

/** Which of these processes has the other end of a connection of this machine. */
function pidOf({ remotePort = 0 }: Socket, pids: readonly number[]): number | undefined {
  const local = `:${remotePort.toString(16).toUpperCase().padStart(4, "0")}`;
  const rows = readFileSync("/proc/net/tcp", "utf8").split("\n");
  const inode = rows.map((row) => row.trim().split(/\s+/)).find(([, address]) => address?.endsWith(local))?.[9];
  return pids.find((pid) => descriptorsOf(pid).includes(`socket:[${inode}]`));
}

function descriptorsOf(pid: number): readonly string[] {
  const folder = `/proc/${pid}/fd`;
  try {
    return readdirSync(folder).map((name) => {
      try {
        return readlinkSync(join(folder, name));
      } catch {
        return "";
      }
    });
  } catch {
    return [];
  }
}
