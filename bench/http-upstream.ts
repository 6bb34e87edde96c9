/**
 * CPU of one small call to a server over HTTP, in the calling process: our connection against node:http with a
 * keep-alive agent. Rounds alternate, so that both see the same machine; the ratio is that of the medians.
 *
 *   npx esbuild bench/http-upstream.ts --bundle --packages=external --platform=node --target=node20 --format=esm \
 *     --outfile=.cache/bench/http-upstream.mjs
 *   node .cache/bench/http-upstream.mjs
 */
import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { Agent, createServer, request as httpRequest } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { connectHttp } from "../src/servers/upstream/remote/connect-http.ts";
import type { Connection } from "../src/servers/upstream/connection.ts";
import { createLargeBuffers } from "../src/wire/json/large-buffers.ts";

const callsPerRound = 6_000;
const rounds = 7;

/** `worker` is the number of the loop that calls: 0 to concurrency - 1. */
type Call = (worker: number) => Promise<unknown>;

async function main(): Promise<void> {
  const rows: string[] = [];
  for (const era of ["modern", "legacy"] as const) {
    const child = fork(fileURLToPath(import.meta.url), ["serve", era], {
      stdio: ["ignore", "inherit", "inherit", "ipc"],
    });
    try {
      const url = await urlOf(child);
      await using connection = await connect(url, era);
      for (const concurrency of [1, 32]) {
        const callers = [
          plainCaller(url, era),
          connectionCaller(connection, "kept"),
          connectionCaller(connection, "new"),
        ];
        const [floor = 0, kept = 0, fresh = 0] = await measure(callers, concurrency);
        rows.push(
          [
            era,
            concurrency,
            ...[floor, kept, kept / floor, fresh, fresh / floor].map((value) => value.toFixed(2)),
          ].join("\t"),
        );
      }
    } finally {
      child.kill();
    }
  }
  process.stdout.write(
    `CPU µs per call of the calling process, median of ${rounds} rounds of ${callsPerRound} calls\n`,
  );
  process.stdout.write(`era\tc\thttp\tours\tratio\t+signal\tratio\n${rows.join("\n")}\n`);
}

async function urlOf(child: ChildProcess): Promise<string> {
  const [message] = (await once(child, "message")) as [unknown];
  return String(message);
}

async function connect(url: string, era: "modern" | "legacy"): Promise<Connection> {
  const ignore = () => undefined;
  return await connectHttp(
    {
      server: "echo",
      transport: { kind: "http", url, headers: {} },
      identity: { name: "bench", version: "0" },
      limits: { messageBytes: 16 << 20, depth: 64, sendQueueBytes: 8 << 20, stopTimeoutMs: 10_000 },
      knownEras: [era],
      memory: createLargeBuffers(),
      events: { onNotification: ignore, onStderr: ignore, onOddity: ignore },
      authorize: undefined,
    },
    AbortSignal.timeout(30_000),
  );
}

/** A new AbortSignal per call costs a third of all the rest, and is not the connection's: both ways are shown. */
function connectionCaller(connection: Connection, signals: "kept" | "new"): Call {
  const name = Buffer.from(`"echo"`);
  const args = Buffer.from(`{"text":"hello"}`);
  const kept = Array.from({ length: 64 }, () => new AbortController().signal);
  return (worker) =>
    connection.request({
      method: "tools/call",
      params: [
        ["name", name],
        ["arguments", args],
      ],
      signal: signals === "kept" ? (kept[worker] as AbortSignal) : new AbortController().signal,
      timeoutMs: 300_000,
      maxTimeoutMs: 3_600_000,
      nameHeader: "echo",
    });
}

/** What a raw forwarder does upstream: one message, one POST, the answer parsed. */
function plainCaller(url: string, era: "modern" | "legacy"): Call {
  const agent = new Agent({ keepAlive: true, maxSockets: 256 });
  const { hostname, port, pathname } = new URL(url);
  const modern = { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": "echo" };
  const legacy = { "mcp-protocol-version": "2025-11-25", "mcp-session-id": "bench" };
  const fixed = {
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    ...(era === "modern" ? modern : legacy),
  };
  const meta =
    era === "modern"
      ? {
          _meta: {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
          },
        }
      : {};
  let id = 0;
  return () =>
    new Promise((resolve, reject) => {
      id += 1;
      const body = Buffer.from(
        JSON.stringify({
          jsonrpc: "2.0",
          id,
          method: "tools/call",
          params: { name: "echo", arguments: { text: "hello" }, ...meta },
        }),
      );
      const outgoing = httpRequest(
        { agent, hostname, port, path: pathname, method: "POST", headers: { ...fixed, "content-length": body.length } },
        (response) => {
          const chunks: Buffer[] = [];
          response.on("data", (chunk: Buffer) => chunks.push(chunk));
          response.on("end", () => resolve(JSON.parse(Buffer.concat(chunks).toString())));
        },
      );
      outgoing.on("error", reject);
      outgoing.end(body);
    });
}

async function measure(callers: readonly Call[], concurrency: number): Promise<number[]> {
  const samples = callers.map((): number[] => []);
  for (const call of callers) await spend(call, concurrency);
  for (let round = 0; round < rounds; round += 1) {
    for (const [index, call] of callers.entries()) samples[index]?.push(await spend(call, concurrency));
  }
  return samples.map(median);
}

/** Microseconds of CPU per call. */
async function spend(call: Call, concurrency: number): Promise<number> {
  let left = callsPerRound;
  const before = process.cpuUsage();
  await Promise.all(
    Array.from({ length: concurrency }, async (_empty, worker) => {
      while (left > 0) {
        left -= 1;
        await call(worker);
      }
    }),
  );
  const { user, system } = process.cpuUsage(before);
  return (user + system) / callsPerRound;
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

/** The server, in a process of its own: parses, and answers with the text. */
async function serve(era: string): Promise<void> {
  const http = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      if (request.method !== "POST") {
        response.writeHead(405).end();
        return;
      }
      const message = JSON.parse(Buffer.concat(chunks).toString()) as { id?: number; method: string };
      if (message.id === undefined) {
        response.writeHead(202).end();
        return;
      }
      const headers = {
        "content-type": "application/json",
        ...(era === "legacy" ? { "mcp-session-id": "bench" } : {}),
      };
      response
        .writeHead(200, headers)
        .end(JSON.stringify({ jsonrpc: "2.0", id: message.id, result: resultOf(message.method) }));
    });
  });
  http.listen(0, "127.0.0.1");
  await once(http, "listening");
  process.send?.(`http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`);
}

function resultOf(method: string): unknown {
  const serverInfo = { name: "echo", version: "0" };
  if (method === "initialize") return { protocolVersion: "2025-11-25", capabilities: {}, serverInfo };
  if (method === "server/discover") return { supportedVersions: ["2026-07-28"], capabilities: {} };
  return { content: [{ type: "text", text: "hello" }] };
}

await (process.argv[2] === "serve" ? serve(process.argv[3] ?? "modern") : main());
