import { startGateway, type RunningGateway } from "../../test/harness/gateway.ts";
import { until } from "../../test/harness/until.ts";
import { load } from "../measure/load.ts";
import { cpuMicros } from "../measure/process.ts";
import { percentile, type Figures } from "./rows.ts";
import { bearer, echoServer, noLimits } from "./world.ts";

interface Case {
  readonly connections: number;
  readonly requests: number;
}

/** How V8 compiles a program differs from one start to the next by more than what is looked for. */
const pairsOfGateways = 3;
const rounds = 5;
const cases: readonly Case[] = [
  { connections: 1, requests: 8_000 },
  { connections: 32, requests: 20_000 },
];
/** What V8 compiles on the way is not the cost of a call. */
const warming: Case = { connections: 32, requests: 20_000 };
const goal = { most: 1.05 } as const;

const tool = '"name":"execute_mcp_tool","arguments":{"tool_path":"tool-0:echo","arguments":{"message":"hello"}}';
const body = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{${tool}}}`;

export interface CallsAsk {
  readonly startTeam: () => Promise<RunningGateway>;
  readonly token: string;
  /** Of the gateway without people. */
  readonly directory: string;
}

/** A call as somebody of a team, beside the same call to a gateway without people: CPU time of the two gateways. */
export async function measureCalls({ startTeam, token, directory }: CallsAsk, figures: Figures): Promise<void> {
  const found = new Map<Case, (readonly [number, number])[]>(cases.map((one) => [one, []]));
  const config = { mcpServers: { "tool-0": { ...echoServer, scope: "user" } }, ...noLimits };
  for (let pair = 0; pair < pairsOfGateways; pair += 1) {
    await using team = await startTeam();
    await using local = await startGateway({ directory, config });
    const ours = async (asked: Case) => await callCost(team, asked, bearer(token));
    const theirs = async (asked: Case) => await callCost(local, asked, {});
    // The first call starts the server, and is told so where that takes longer than a call waits.
    await untilAnswered(team, bearer(token));
    await untilAnswered(local, {});
    for (const cost of [ours, theirs]) await cost(warming);
    for (let round = 0; round < rounds; round += 1)
      for (const one of cases) {
        // In turns, and the other one first each time, so that whatever else the machine does falls on both.
        const first = round % 2 === 0 ? await ours(one) : undefined;
        const without = await theirs(one);
        found.get(one)?.push([first ?? (await ours(one)), without]);
      }
  }
  for (const [{ connections }, pairs] of found) {
    const middle = (values: readonly number[]): number => percentile(values, 0.5);
    const [withTeams, without] = [middle(pairs.map(([one]) => one)), middle(pairs.map(([, two]) => two))];
    const ratio = middle(pairs.map(([one, two]) => one / two));
    figures.add(`CPU time of a call over that without teams, ${connections} at once`, ratio, "", {
      ...{ goal, note: `${withTeams.toFixed(1)} and ${without.toFixed(1)} us` },
    });
  }
}

async function untilAnswered({ url }: RunningGateway, headers: Record<string, string>): Promise<void> {
  const sent = { ...headers, "content-type": "application/json", accept: "application/json, text/event-stream" };
  await until(async () => {
    const answer = await fetch(`${url}/mcp`, { method: "POST", headers: sent, body });
    const text = await answer.text();
    if (answer.ok && text.includes("hello")) return true;
    if (!text.includes("SERVER_STARTING")) throw new Error(`${answer.status}: ${text}`);
    return false;
  });
}

async function callCost(
  { url, process: { pid = 0 } }: RunningGateway,
  asked: Case,
  headers: Record<string, string>,
): Promise<number> {
  const before = cpuMicros(pid);
  const { requests } = await load(url, body, { ...asked, headers, path: "/mcp" });
  return (cpuMicros(pid) - before) / requests;
}
