import { spawn, type ChildProcess } from "node:child_process";
import { randomUUID } from "node:crypto";
import { expect } from "vitest";
import {
  badServer,
  badServerFile,
  startGateway,
  type GatewayOptions,
  type RunningGateway,
} from "../../harness/gateway.ts";
import { execute, send } from "../../harness/rpc.ts";
import { findSurvivors } from "../../processes/survivors.ts";
import { until } from "../../harness/until.ts";

/** How a faulty server is reached: two transports, two eras. */
export const flavours = ["stdio legacy", "stdio modern", "http legacy", "http modern"] as const;
export type Flavour = (typeof flavours)[number];

/** What a server of that kind is called in the gateway. */
export function slugOf(flavour: string): string {
  return flavour.replace(" ", "-");
}

export interface FaultyGateway extends RunningGateway {
  /** What holds after every fault: the process lives, /healthz answers, another server's echo works, nothing leaked. */
  stillServes(): Promise<void>;
  /** Ends it as a service manager would; no process of it may be left. */
  endsClean(): Promise<void>;
  /** Lines of the log whose text holds `part`. */
  logged(part: string): string[];
}

export type FaultyOptions = Omit<GatewayOptions, "config"> & {
  readonly servers: Readonly<Record<string, object>>;
  readonly settings?: object;
};

/** In every server's environment and in the gateway's own: it may never be seen in any output. */
export const canarySecret = `canary-${randomUUID()}`;

/** A gateway in front of faulty servers and of one good one, called `good`, whose echo has to work whatever happens. */
export async function startFaulty(options: FaultyOptions): Promise<FaultyGateway> {
  const tag = randomUUID();
  const tagged = Object.entries(options.servers).map(([slug, entry]) => [
    slug,
    "command" in entry ? withEnvironment(entry, tag) : entry,
  ]);
  const mcpServers = {
    ...Object.fromEntries(tagged),
    good: withEnvironment(badServer("--behaviours", "echo,canary"), tag),
  };
  const { servers: _servers, settings, ...rest } = options;
  const gateway = await startGateway({
    ...rest,
    // Results are looked at whole; what is cut of large ones is tested in test/results. Odd definitions are used
    // without a review, which test/safety is about.
    config: {
      mcpServers,
      toolyard: { results: { maxTokens: 0 }, definitions: { changes: "note" }, ...settings },
    },
    env: { GATEWAY_SECRET: canarySecret, FAULT_TAG: tag, ...options.env },
  });
  return Object.assign(gateway, {
    async stillServes() {
      expect(gateway.process.exitCode).toBeNull();
      expect((await send(`${gateway.url}/healthz`, { method: "GET" })).status).toBe(200);
      const token = randomUUID();
      // The good server may have been starting when the fault came: it must come up all the same.
      await until(async () => JSON.stringify(await execute(gateway.url, "good:echo", { token })).includes(token));
      expect(gateway.stderr()).not.toMatch(/unhandled|"err":|internal error/i);
      expect(gateway.stderr() + gateway.stdout()).not.toContain(canarySecret);
    },
    async endsClean() {
      expect(await gateway.stop()).toBe(0);
      await until(() => findSurvivors(tag).length === 0);
    },
    logged: (part: string) =>
      gateway
        .stderr()
        .split("\n")
        .filter((line) => line.includes(part)),
  });
}

function withEnvironment(entry: object, tag: string): object {
  const env = "env" in entry ? (entry.env as object) : {};
  return { ...entry, env: { FAULT_TAG: tag, SERVER_SECRET: canarySecret, ...env } };
}

export interface FaultyServer extends AsyncDisposable {
  /** For `mcpServers`. */
  readonly entry: Record<string, unknown>;
}

/** The bad server in one of the flavours; over HTTP it is a process of the test. */
export async function faultyServer(flavour: Flavour, ...flags: string[]): Promise<FaultyServer> {
  const [transport, era] = flavour.split(" ") as ["stdio" | "http", "legacy" | "modern"];
  if (transport === "stdio")
    return { entry: badServer("--era", era, ...flags), [Symbol.asyncDispose]: async () => undefined };
  const child = spawn(
    process.execPath,
    [badServerFile, "--http", "--era", era, ...(era === "legacy" ? ["--session"] : []), ...flags],
    { stdio: ["ignore", "pipe", "ignore"] },
  );
  const url = await listeningUrl(child);
  return {
    entry: { type: "http", url },
    async [Symbol.asyncDispose]() {
      const exited = new Promise((resolve) => child.once("exit", resolve));
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill("SIGKILL");
      await exited;
    },
  };
}

async function listeningUrl(child: ChildProcess): Promise<string> {
  let output = "";
  child.stdout?.on("data", (chunk: Buffer) => (output += chunk.toString()));
  return await until(() => /^listening on (\S+)$/m.exec(output)?.[1]);
}

/** The text of our own failure inside a tool result: `{ code, message, hint, … }`. */
// oxlint-disable-next-line typescript/no-explicit-any -- tests look into whatever came back
export function failureOf(result: any): { code: string; message: string; hint: string; [key: string]: unknown } {
  expect(result).toMatchObject({ isError: true, content: [{ type: "text" }] });
  return JSON.parse(result.content[0].text);
}

/** Waits until a server's tools can be called. */
export async function untilOnline(gateway: RunningGateway, ...servers: string[]): Promise<void> {
  await until(async () => {
    const listed = await discover(gateway, { query: "" });
    const rows = listed.servers as { server: string; status: string }[];
    return servers.every((slug) =>
      rows.some(
        (row) =>
          row.server === slug && (row.status === "online" || row.status === "dormant" || row.status === undefined),
      ),
    );
  });
}

/** discover_mcp_tools: its answer, parsed. */
// oxlint-disable-next-line typescript/no-explicit-any -- tests look into whatever came back
export async function discover(gateway: RunningGateway, args: object): Promise<any> {
  const answer = await send(`${gateway.url}/mcp`, {
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: { name: "discover_mcp_tools", arguments: args },
    }),
  });
  return JSON.parse(answer.json.result.content[0].text);
}
