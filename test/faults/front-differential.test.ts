import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startGateway, type RunningGateway } from "../harness/gateway.ts";
import { rpc, send, type RawAnswer } from "../harness/rpc.ts";
import { until } from "../harness/until.ts";
import { corpus, type CorpusEntry } from "./http/corpus.ts";
import { intendedDifferences } from "./http/intended-differences.ts";
import { startSdkHandler, startSdkSessions, type SdkServer } from "./http/sdk-servers.ts";

/**
 * Our own thin front against the SDK's: one corpus, one server behind both, the same status, id, error code or
 * result; where we mean to differ, `intended-differences.ts` says why.
 */
const sides = ["ours", "sdk"] as const;
const intended = new Map(
  intendedDifferences.flatMap(({ requests }) => requests.map(([name, ours, sdk]) => [name, { ours, sdk }] as const)),
);
let handler: SdkServer;
let sessions: SdkServer;
let gateway: RunningGateway;
const sessionIds = new Map<string, string>();

beforeAll(async () => {
  [handler, sessions] = await Promise.all([startSdkHandler(), startSdkSessions()]);
  gateway = await startGateway({
    config: { mcpServers: { sdk: { type: "http", url: handler.url } }, toolyard: { transparent: "sdk" } },
  });
  await until(async () => (await rpc(`${gateway.url}/mcp`, "tools/list")).json?.result?.tools?.length === 3);
  for (const side of sides) sessionIds.set(side, await newSession(urlOf(side, "sessions")));
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await Promise.all([handler[Symbol.asyncDispose](), sessions[Symbol.asyncDispose]()]);
});

function urlOf(side: (typeof sides)[number], against: CorpusEntry["against"]): string {
  if (side === "ours") return `${gateway.url}/mcp`;
  return against === "handler" ? handler.url : sessions.url;
}

async function newSession(url: string): Promise<string> {
  const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "t", version: "1" } };
  const answer = await send(url, {
    headers,
    body: JSON.stringify({ jsonrpc: "2.0", id: 0, method: "initialize", params }),
  });
  return String(answer.headers["mcp-session-id"]);
}

async function ask(side: (typeof sides)[number], entry: CorpusEntry): Promise<string> {
  const headers = Object.fromEntries(
    Object.entries(entry.headers).map(([name, value]) => [name, value.replace("$SESSION", sessionIds.get(side) ?? "")]),
  );
  const answer = await send(urlOf(side, entry.against), {
    headers,
    ...(entry.method === undefined ? {} : { method: entry.method }),
    ...(entry.body === undefined ? {} : { body: entry.body }),
  });
  return verdict(answer);
}

/**
 * What is compared, as one line: status, id, and the error's code or the result. Names, versions and caching hints
 * are each side's own.
 */
function verdict(answer: RawAnswer): string {
  const message = answer.json ?? lastEvent(answer.text);
  if (message === undefined) return `${answer.status}`;
  if (Array.isArray(message)) return `${answer.status} batch of ${message.length}`;
  const { id, error, result } = message as { id?: unknown; error?: { code: number }; result?: unknown };
  return `${answer.status} ${JSON.stringify(id) ?? "no id"} ${error === undefined ? JSON.stringify(comparable(result)) : `error ${error.code}`}`;
}

/** A verdict as it stands; one that ends with … is the beginning of one. */
function toPattern(verdictText: string): RegExp {
  const beginning = verdictText.endsWith("…");
  const literal = (beginning ? verdictText.slice(0, -1) : verdictText).replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  return new RegExp(`^${literal}${beginning ? "" : "$"}`, "u");
}

function lastEvent(text: string): unknown {
  const data = text
    .split("\n")
    .filter((line) => line.startsWith("data: ") && line.length > 7)
    .at(-1);
  return data === undefined ? undefined : (JSON.parse(data.slice(6)) as unknown);
}

const ownMatters: ReadonlySet<string> = new Set([
  "_meta",
  "serverInfo",
  "ttlMs",
  "cacheScope",
  "instructions",
  "$schema",
  "execution",
  "supportedVersions",
]);

function comparable(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(comparable);
  if (typeof value !== "object" || value === null) return value;
  // How a tool's failure is worded is for the model, and each side's own.
  if ("isError" in value) return { isError: value.isError };
  const kept = Object.entries(value).filter(([key]) => !ownMatters.has(key));
  return Object.fromEntries(
    kept.toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([key, inner]) => [key, comparable(inner)]),
  );
}

describe("our front answers as the SDK's does", () => {
  test.each(corpus.map((entry) => [entry.name, entry] as const))("%s", async (name, entry) => {
    const [ours, sdk] = [await ask("ours", entry), await ask("sdk", entry)];
    const difference = intended.get(name);
    if (difference === undefined) {
      expect(ours).toBe(sdk);
      return;
    }
    expect(ours).not.toBe(sdk);
    expect(ours).toMatch(toPattern(difference.ours));
    expect(sdk).toMatch(toPattern(difference.sdk));
  });

  test("every intended difference is about a request of the corpus", () => {
    const names = new Set(corpus.map(({ name }) => name));
    expect([...intended.keys()].filter((name) => !names.has(name))).toEqual([]);
    expect(names.size).toBe(corpus.length);
  });

  test("the gateway lives", async () => {
    expect(gateway.process.exitCode).toBeNull();
    expect((await send(`${gateway.url}/healthz`, { method: "GET" })).status).toBe(200);
    expect(gateway.stderr()).not.toMatch(/unhandled|internal error|TypeError/i);
  });
});
