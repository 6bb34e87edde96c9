import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { badServer, startGateway, type RunningGateway } from "../harness/gateway.ts";
import { execute } from "../harness/rpc.ts";
import { until } from "../harness/until.ts";
import { startBadHttp, type HttpServer } from "./servers.ts";

/** A gateway in front of the bad server in both eras and over both transports. */
export interface FourServers extends AsyncDisposable {
  readonly gateway: RunningGateway;
  /** Their own; removed with them. */
  readonly directory: string;
  /** Where the server writes down what it receives. */
  readonly fileOf: (server: string) => string;
}

export const fourServers = ["legacy-stdio", "modern-stdio", "legacy-http", "modern-http"] as const;

/** Resolves when all four can be called. `flags` are the bad server's. */
export async function startFourServers(...flags: readonly string[]): Promise<FourServers> {
  const directory = await mkdtemp(join(tmpdir(), "toolyard-four-"));
  const fileOf = (server: string): string => join(directory, `${server}.jsonl`);
  const flagsOf = (era: string, server: string): string[] => ["--era", era, ...flags, "--record", fileOf(server)];
  const upstreams: HttpServer[] = [];
  for (const era of ["legacy", "modern"])
    upstreams.push(await startBadHttp("--session", ...flagsOf(era, `${era}-http`)));
  const gateway = await startGateway({
    config: {
      mcpServers: {
        "legacy-stdio": badServer(...flagsOf("legacy", "legacy-stdio")),
        "modern-stdio": badServer(...flagsOf("modern", "modern-stdio")),
        "legacy-http": { type: "http", url: upstreams[0]?.url },
        "modern-http": { type: "http", url: upstreams[1]?.url },
      },
    },
  });
  for (const server of fourServers)
    await until(async () => JSON.stringify(await execute(gateway.url, `${server}:canary`)).includes("instance"));
  return {
    gateway,
    directory,
    fileOf,
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]();
      for (const upstream of upstreams) await upstream[Symbol.asyncDispose]();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
