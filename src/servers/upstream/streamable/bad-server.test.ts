import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { toGatewayError } from "../../../kernel/failures/gateway-error.ts";
import type { Connection, UpstreamRequest } from "../connection.ts";
import { connectHttpWith } from "../remote/connect-http.ts";
import { httpTuning } from "../../../wire/http/tuning.ts";
import { createLargeBuffers } from "../../../wire/json/large-buffers.ts";
import { untilPasses } from "../../../../test/harness/until-passes.ts";

const program = fileURLToPath(new URL("../../../../test/servers/bad-server.mjs", import.meta.url));

const ways = {
  modern: ["--http", "--era", "modern"],
  "modern, event streams": ["--http", "--era", "modern", "--http-sse-answers"],
  "legacy with a session": ["--http", "--era", "legacy", "--session"],
  "legacy, event streams": ["--http", "--era", "legacy", "--session", "--http-sse-answers"],
  "HTTP+SSE": ["--sse", "--era", "legacy"],
} as const;

/** For what is answered: a busy machine may take a while. */
const patientMs = 60_000;

/**
 * What each misbehaviour gets: `result`, `error`, or the code of the failure; another one over HTTP+SSE, where told.
 */
const cases: ReadonlyArray<readonly [fault: string, tool: string, args: object, expected: string | readonly string[]]> =
  [
    ["FAULT 18", "numbers", {}, "result"],
    ["FAULT 66", "hang", {}, "UPSTREAM_TIMEOUT"],
    ["FAULT 67", "twice", {}, "result"],
    ["FAULT 68", "wrong-id", {}, ["result", "UPSTREAM_PROTOCOL"]],
    ["FAULT 68", "string-id", {}, ["result", "UPSTREAM_PROTOCOL"]],
    ["FAULT 69", "not-json", {}, ["result", "UPSTREAM_PROTOCOL"]],
    ["FAULT 69", "json-not-rpc", {}, ["result", "UPSTREAM_PROTOCOL"]],
    ["FAULT 41", "no-result", {}, ["UPSTREAM_PROTOCOL", "UPSTREAM_CLOSED", "UPSTREAM_TIMEOUT"]],
    ["FAULT 17", "invalid-utf8", {}, ["UPSTREAM_PROTOCOL", "UPSTREAM_CLOSED", "UPSTREAM_TIMEOUT"]],
    ["FAULT 14", "deep", {}, ["UPSTREAM_PROTOCOL", "UPSTREAM_CLOSED", "UPSTREAM_TIMEOUT"]],
    ["FAULT 71", "one-byte-writes", {}, "result"],
    ["FAULT 72", "many-chunks", { chunks: 2_000 }, "result"],
    ["FAULT 51", "bad-progress-token", {}, ["result", "UPSTREAM_PROTOCOL"]],
    ["relayed", "rpc-error", { code: -32000, message: "no" }, "error"],
  ];

test.each(Object.entries(ways))(
  "%s: each misbehaviour fails its own call at most, and the next call works",
  async (way, flags) => {
    const connection = await connect(flags);
    for (const [fault, tool, args, expected] of cases) {
      const outcome = await outcomeOf(connection, tool, args, expected === "result" ? patientMs : 1_000);
      expect([expected].flat(), `${fault} ${tool} over ${way}: ${outcome}`).toContain(outcome);
      expect(await outcomeOf(connection, "echo", {}, patientMs), `echo after ${tool} over ${way}`).toBe("result");
    }
    expect(connection.inFlight).toBe(0);
  },
);

test.each(["modern", "legacy with a session"] as const)("%s: what goes wrong in HTTP itself", async (way) => {
  const connection = await connect(ways[way]);
  const expected = {
    "http-error": "UPSTREAM_HTTP",
    redirect: "CONNECT_FAILED",
    "wrong-content-type": "UPSTREAM_PROTOCOL",
    "drop-connection": "UPSTREAM_CLOSED",
    "no-answer": "UPSTREAM_CLOSED",
    "silent-stream": "UPSTREAM_TIMEOUT",
    "slow-write": "result",
  };
  for (const [tool, outcome] of Object.entries(expected)) {
    const limitMs = outcome === "UPSTREAM_TIMEOUT" ? 1_000 : patientMs;
    expect([tool, await outcomeOf(connection, tool, {}, limitMs)]).toEqual([tool, outcome]);
    expect(await outcomeOf(connection, "echo", {}, patientMs)).toBe("result");
  }
  expect(await outcomeOf(connection, "drop-connection", { half: true })).toBe("UPSTREAM_CLOSED");
});

test("a session that the server forgets is replaced unnoticed", async () => {
  const connection = await connect(ways["legacy with a session"]);
  expect(await outcomeOf(connection, "expire-session", {})).toBe("result");
  expect(await outcomeOf(connection, "echo", {})).toBe("result");
});

test("FAULT 74: a server that exits in a call fails it at once, and the connection is lost when it does not come back", async () => {
  const connection = await connect(ways.modern);
  expect(await outcomeOf(connection, "exit", {}, 20_000)).toBe("UPSTREAM_CLOSED");
  // A socket may still look open for a moment after its server has gone.
  await untilPasses(async () => expect(await outcomeOf(connection, "echo", {}, 20_000)).toBe("CONNECT_FAILED"));
  await expect(connection.closed).resolves.toMatchObject({ kind: "lost" });
});

test("FAULT 74: over HTTP+SSE the connection ends with the server", async () => {
  const connection = await connect(ways["HTTP+SSE"]);
  expect(await outcomeOf(connection, "exit", {}, 20_000)).toBe("UPSTREAM_CLOSED");
  await expect(connection.closed).resolves.toMatchObject({ kind: "lost" });
});

async function connect(flags: readonly string[]): Promise<Connection> {
  const child = spawn(process.execPath, [program, ...flags], { stdio: ["ignore", "pipe", "ignore"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  const [line] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
  const ignore = () => undefined;
  const connection = await connectHttpWith(
    { ...httpTuning, connectRetryDelaysMs: [10, 10], disposeTimeoutMs: 500, discoverTimeoutMs: 2_000 },
    {
      server: "bad",
      transport: { kind: "http", url: line.replace("listening on ", ""), headers: {} },
      identity: { name: "toolyard", version: "0.0.0" },
      limits: { messageBytes: 1 << 20, depth: 64, sendQueueBytes: 1 << 20, stopTimeoutMs: 100 },
      knownEras: undefined,
      memory: createLargeBuffers(),
      events: { onNotification: ignore, onStderr: ignore, onOddity: ignore },
      authorize: undefined,
    },
    AbortSignal.timeout(20_000),
  );
  onTestFinished(() => connection[Symbol.asyncDispose]());
  return connection;
}

async function outcomeOf(connection: Connection, tool: string, args: object, timeoutMs = 1_000): Promise<string> {
  const request: UpstreamRequest = {
    method: "tools/call",
    params: [
      ["name", Buffer.from(JSON.stringify(tool))],
      ["arguments", Buffer.from(JSON.stringify(args))],
    ],
    nameHeader: tool,
    signal: new AbortController().signal,
    timeoutMs,
    maxTimeoutMs: 60_000,
  };
  try {
    return (await connection.request(request)).kind;
  } catch (error) {
    return toGatewayError(error).code;
  }
}
