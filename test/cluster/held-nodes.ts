import { randomUUID } from "node:crypto";
import { readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect } from "vitest";
import { knownPeople, as } from "../harness/known-people.ts";
import type { RunningGateway } from "../harness/gateway.ts";
import { rpc, type RawAnswer } from "../harness/rpc.ts";
import { until } from "../harness/until.ts";
import { effectsServer, startNodes, type Nodes } from "./nodes.ts";

/** Nodes that know several people. */
interface PeopledNodes extends AsyncDisposable {
  readonly nodes: Nodes;
  /** Starts a node of that name, or starts it again, and waits until it can call the server. */
  start(name: string): Promise<RunningGateway>;
  /** The ids that the server noted. */
  effects(): Promise<readonly (string | undefined)[]>;
}

async function startPeopledNodes(): Promise<PeopledNodes> {
  const nodes = await startNodes();
  const effects = join(tmpdir(), `toolyard-held-${randomUUID()}.jsonl`);
  const servers = { effects: { command: process.execPath, args: [effectsServer], env: { EFFECTS: effects } } };
  return {
    nodes,
    effects: async () =>
      [...(await readFile(effects, "utf8").catch(() => "")).matchAll(/"id":"([^"]*)"/g)].map(([, id]) => id),
    async start(name) {
      const node = await nodes.start(name, { servers, settings: { principals: knownPeople } });
      await until(async () => (await callAs(node, "alice", "count").catch(() => undefined)) !== undefined);
      return node;
    },
    async [Symbol.asyncDispose]() {
      await nodes[Symbol.asyncDispose]();
      await rm(effects, { force: true });
    },
  };
}

/** Three such nodes, for the tests around it. */
export interface ThreeNodes extends Pick<PeopledNodes, "effects"> {
  readonly all: readonly RunningGateway[];
  /** One after the other. */
  at(turn: number): RunningGateway;
}

/** Starts them before the tests, and stops them afterwards. */
export function useThreeNodes(): ThreeNodes {
  let nodes: PeopledNodes;
  let all: RunningGateway[];
  beforeAll(async () => {
    nodes = await startPeopledNodes();
    all = [];
    for (const name of ["one", "two", "three"]) all.push(await nodes.start(name));
  });
  afterAll(async () => await nodes[Symbol.asyncDispose]());
  return {
    effects: async () => await nodes.effects(),
    get all() {
      return all;
    },
    at: (turn) => all[turn % all.length] as RunningGateway,
  };
}

/** Calls a tool of the server at the flat endpoint; the text of its result. Throws for every other answer. */
export async function callAs(node: RunningGateway, who: string, tool: string, args: object = {}): Promise<string> {
  const { json } = await rpc(
    `${node.url}/mcp/flat`,
    "tools/call",
    { name: `effects-${tool}`, arguments: args },
    as(who),
  );
  const text: unknown = json?.result?.content?.[0]?.text;
  if (typeof text !== "string" || json.result.isError === true) throw new Error(JSON.stringify(json));
  return text;
}

/** What `toolyard://result/…` has there, for somebody. */
export async function readAs(node: RunningGateway, who: string, uri: string): Promise<RawAnswer> {
  return await rpc(`${node.url}/mcp`, "tools/call", { name: "read_mcp_resource", arguments: { uri } }, as(who));
}

/** The text of a page, and the URI of the next. */
export function pageOf({ json }: RawAnswer): { readonly text: string; readonly next: string | undefined } {
  const [note, text] = json.result.content.map((block: { readonly text: string }) => block.text) as string[];
  expect(json.result.isError).not.toBe(true);
  return { text: text ?? "", next: / Next: (\S+)/.exec(note ?? "")?.[1] };
}
