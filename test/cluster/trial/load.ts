import { startHaproxy } from "../../harness/haproxy.ts";
import { modernRpc, send, type RawAnswer } from "../../harness/rpc.ts";
import { post } from "../../harness/rest.ts";
import { until } from "../../harness/until.ts";
import { instanceNames, nodeNames, type TrialNode } from "./world.ts";

/** One call, and what became of it. */
export interface Call {
  readonly id: string;
  readonly instance: string;
  readonly way: Way;
  readonly node: string;
  readonly sentMs: number;
  endedMs: number;
  /** `acked`, or what the caller was told. */
  outcome: string;
  /** The answer to a call that failed. */
  said?: string | undefined;
}

export const ways = ["modern", "session", "rest", "session"] as const;
export type Way = (typeof ways)[number];

/** Where a call is sent. */
export interface Target {
  readonly name: string;
  readonly url: string;
}

/** Gives each call to the next node that says it is ready, as a load balancer does. */
export interface Balancer extends AsyncDisposable {
  /** The node, or undefined where none answers. */
  next(): Target | undefined;
  /** Its port was closed: nothing more for it until it says it is ready again. */
  noteGone(target: Target): void;
}

const lookMs = 200;
/** A node that does not answer so often is left. */
const mostMisses = 2;
/** In the place of a status. */
const silent = 0;

export function createBalancer(nodes: readonly TrialNode[]): Balancer {
  /** 200 where it is ready; undefined where nothing listens. */
  const states = new Map<Target, number | undefined>();
  let turn = 0;
  let isOver = false;

  async function watch(node: TrialNode): Promise<void> {
    let misses = 0;
    while (!isOver) {
      const look = async () => await send(`${node.url}/readyz`, { method: "GET" });
      const answer = node.isRunning ? await within(look(), 1_000).catch(() => undefined) : undefined;
      misses = answer === undefined ? misses + 1 : 0;
      if (answer !== undefined || misses >= mostMisses || !node.isRunning)
        states.set(node, answer?.status ?? (node.isRunning ? silent : undefined));
      await new Promise((resolve) => setTimeout(resolve, lookMs));
    }
  }
  for (const node of nodes) void watch(node);

  return {
    next() {
      const ready = nodes.filter((node) => states.get(node) === 200);
      // Where none is ready, those that are there are better than none.
      const some = ready.length > 0 ? ready : nodes.filter((node) => states.get(node) !== undefined);
      turn += 1;
      return some[turn % some.length];
    },
    noteGone: (node) => void states.set(node, undefined),
    async [Symbol.asyncDispose]() {
      isOver = true;
    },
  };
}

/** HAProxy in the place of that one: it looks at nodes, and gives a request to another one where a port is closed. */
export async function balanceByHaproxy(nodes: readonly TrialNode[]): Promise<Balancer> {
  const haproxy = await startHaproxy(
    nodes.map(({ url }) => Number(new URL(url).port)),
    { balance: "roundrobin", retries: 3 },
  );
  await until(async () => (await haproxy.states()).every(Boolean));
  return {
    next: () => ({ name: "haproxy", url: haproxy.url }),
    noteGone: () => undefined,
    [Symbol.asyncDispose]: async () => await haproxy[Symbol.asyncDispose](),
  };
}

/** The value, or undefined where it takes longer. */
async function within<T>(work: Promise<T>, limitMs: number): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => (timer = setTimeout(() => resolve(undefined), limitMs)));
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

export interface Load {
  readonly calls: readonly Call[];
  /** Sessions that a node did not know. */
  readonly sessionsLost: number;
  /** Sends nothing more, and waits for what was sent. */
  stop(): Promise<void>;
}

export interface LoadOptions {
  readonly balancer: Balancer;
  readonly callsPerSecond: number;
  /** How long each call takes after its effect. */
  readonly holdMs: number;
  readonly nowMs: () => number;
}

const sessionCount = 12;
/** A caller gives up then: longer than a gateway looks for where a server runs. */
const callLimitMs = 25_000;
const tickMs = 10;
/** Once more than there are nodes. */
const mostTries = nodeNames.length + 1;

/** Calls at a steady rate, however long they take: to all servers in turn, over all ways. */
export async function startLoad({ balancer, callsPerSecond, holdMs, nowMs }: LoadOptions): Promise<Load> {
  const calls: Call[] = [];
  const running = new Set<Promise<void>>();
  const sessions = createSessions(balancer);
  await sessions.open();

  function begin(at: number): void {
    const instance = instanceNames[at % instanceNames.length] as string;
    const way = ways[Math.floor(at / instanceNames.length) % ways.length] as Way;
    const call: Call = { id: `c${at}-`, instance, way, node: "", sentMs: nowMs(), endedMs: 0, outcome: "unanswered" };
    calls.push(call);
    const done = perform(call).finally(() => {
      call.endedMs = nowMs();
      running.delete(done);
    });
    running.add(done);
  }

  async function perform(call: Call): Promise<void> {
    for (let tries = 1; tries <= mostTries; tries += 1) {
      const node = balancer.next();
      if (node === undefined) {
        call.outcome = "no node";
        return;
      }
      Object.assign(call, { node: node.name });
      try {
        const answer = await within(sessions.send(node.url, call, holdMs), callLimitMs);
        call.outcome = outcomeOf(call, answer);
        if (call.outcome !== "acked") call.said = answer?.text.slice(0, 500);
        return;
      } catch (error) {
        const code = (error as NodeJS.ErrnoException).code ?? "ERROR";
        call.outcome = code;
        // Nothing was sent, so that it may go elsewhere. What broke later may have had its effect.
        if (code !== "ECONNREFUSED") return;
        balancer.noteGone(node);
      }
    }
  }

  const begunMs = nowMs();
  const timer = setInterval(() => {
    const due = Math.floor(((nowMs() - begunMs) / 1_000) * callsPerSecond);
    while (calls.length < due) begin(calls.length);
  }, tickMs);
  return {
    calls,
    get sessionsLost() {
      return sessions.lost;
    },
    async stop() {
      clearInterval(timer);
      await Promise.all(running);
    },
  };
}

function outcomeOf({ id }: Call, answer: RawAnswer | undefined): string {
  if (answer === undefined) return "no answer";
  const { status, text } = answer;
  const isError = text.includes('"isError":true') || answer.json?.error !== undefined;
  if (status === 200 && !isError && text.includes(id)) return "acked";
  return /\b[A-Z]+(?:_[A-Z]+)+\b/.exec(text)?.[0] ?? `status ${status}`;
}

/** Sessions of legacy clients, which go to any node, and the requests of the other ways. */
function createSessions(balancer: Balancer) {
  const ids: string[] = [];
  let lost = 0;
  let turn = 0;
  const headers = { accept: "application/json, text/event-stream", "mcp-protocol-version": "2025-06-18" };
  const rpcBody = (id: number, method: string, params: object) => ({ jsonrpc: "2.0", id, method, params });

  async function openOne(at: number): Promise<void> {
    const node = balancer.next();
    if (node === undefined) return;
    const hello = rpcBody(1, "initialize", {
      protocolVersion: "2025-06-18",
      capabilities: {},
      clientInfo: { name: "trial", version: "1" },
    });
    const answer = await post(`${node.url}/mcp/flat`, hello, headers);
    ids[at] = String(answer.headers["mcp-session-id"]);
  }

  async function inSession(url: string, call: Call, args: object): Promise<RawAnswer> {
    turn += 1;
    const at = turn % sessionCount;
    const name = `${call.instance}-note`;
    const body = rpcBody(turn, "tools/call", { name, arguments: args });
    const answer = await post(`${url}/mcp/flat`, body, { ...headers, "mcp-session-id": ids[at] ?? "" });
    if (answer.status === 404) {
      lost += 1;
      await openOne(at).catch(() => undefined);
    }
    return answer;
  }

  return {
    get lost() {
      return lost;
    },
    async open() {
      while (balancer.next() === undefined) await new Promise((resolve) => setTimeout(resolve, lookMs));
      await Promise.all(Array.from({ length: sessionCount }, async (_, at) => await openOne(at)));
    },
    async send(url: string, call: Call, ms: number): Promise<RawAnswer> {
      const args = ms === 0 ? { id: call.id } : { id: call.id, ms };
      if (call.way === "rest") return await post(`${url}/execute/${call.instance}:note`, args);
      if (call.way === "session") return await inSession(url, call, args);
      const params = { tool_path: `${call.instance}:note`, arguments: args };
      return await modernRpc(`${url}/mcp`, "tools/call", { name: "execute_mcp_tool", arguments: params });
    },
  };
}
