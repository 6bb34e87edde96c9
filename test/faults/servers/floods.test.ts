import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { badServerFile } from "../../harness/gateway.ts";
import { execute } from "../../harness/rpc.ts";
import { until } from "../../harness/until.ts";
import { startHttpServer } from "../../protocol/servers.ts";
import { modernStream, type OpenStream } from "../../protocol/stream.ts";
import {
  failureOf,
  faultyServer,
  flavours,
  slugOf,
  startFaulty,
  untilOnline,
  type FaultyGateway,
  type FaultyServer,
} from "./faulty-gateway.ts";

/**
 * What is read of one server in a tenth of a second: the limit, and what was read at once with what reached it. Two of
 * three messages are for the client.
 */
const mostInWindow = (2 / 3) * (500 + 775);
const windowMs = 100;

describe("servers that say more than anybody can hear", () => {
  let gateway: FaultyGateway;
  let servers: FaultyServer[];
  const kinds = [...flavours, "sse"] as const;

  beforeAll(async () => {
    const sse = await startHttpServer(badServerFile, "--sse", "--behaviours", "flood,echo");
    servers = [
      ...(await Promise.all(
        flavours.map(async (flavour) => await faultyServer(flavour, "--behaviours", "flood,echo")),
      )),
      { ...sse, entry: { type: "sse", url: sse.url } },
    ];
    gateway = await startFaulty({
      servers: Object.fromEntries(
        kinds.map((kind, index) => [
          slugOf(kind),
          { ...servers[index]?.entry, callTimeoutMs: 3_000, maxCallTimeoutMs: 3_000, retry: false },
        ]),
      ),
    });
    await untilOnline(gateway, ...kinds.map(slugOf));
  });
  afterAll(async () => {
    await gateway.endsClean();
    await gateway[Symbol.asyncDispose]();
    for (const server of servers) await server[Symbol.asyncDispose]();
  });

  /** A call of a client that wants to hear everything: progress and every log message. */
  async function call(slug: string): Promise<OpenStream> {
    const params = {
      name: "execute_mcp_tool",
      arguments: { tool_path: `${slug}:flood`, arguments: {} },
      _meta: { progressToken: "mine", "io.modelcontextprotocol/logLevel": "debug" },
    };
    return await modernStream(`${gateway.url}/mcp`, slug, "tools/call", params);
  }

  /** At once, but for a server with one stream for everything: there, what it has said is read before. */
  async function works(slug: string): Promise<void> {
    await until(async () =>
      JSON.stringify(await execute(gateway.url, `${slug}:echo`, { after: "all" })).includes("all"),
    );
  }

  test.each(kinds)(
    "FAULT 51: of notifications without end a bounded number is read, others are served, and the call ends in time (%s)",
    async (kind) => {
      const slug = slugOf(kind);
      const since = performance.now();
      const flood = await call(slug);
      await until(() => flood.messages.length > mostInWindow);
      for (let round = 0; round < 20; round += 1) await gateway.stillServes();
      const answer = await flood.next(({ id }) => id === slug);
      const windows = 2 + (performance.now() - since) / windowMs;
      expect(failureOf(answer.result).code).toBe("UPSTREAM_TIMEOUT");
      expect(flood.messages.length).toBeLessThan(windows * mostInWindow);
      await works(slug);
    },
  );
});
