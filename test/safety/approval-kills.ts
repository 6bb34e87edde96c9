import { join } from "node:path";
import { startGateway, type RunningGateway } from "../harness/gateway.ts";
import { askOwner } from "../harness/owner-door.ts";
import { execute } from "../harness/rpc.ts";
import { until } from "../harness/until.ts";
import type { Notes } from "./notes.ts";

/** What became of calls whose gateway was killed between the yes and the answer. */
export interface KillTrial {
  readonly cycles: number;
  /** How often a call that was allowed once ran, by the number of runs: `[never, once, twice or more]`. */
  readonly runs: readonly [number, number, number];
  /** Kills before which no call of the round had run, and those before which all had. */
  readonly kills: { readonly beforeAll: number; readonly afterAll: number };
}

/** Calls that are allowed and run at the same time, in one life of a gateway. */
const callsInRound = 5;
/** Within it the calls of a round have run on any machine that is not overloaded. */
const longestMs = 25;

interface Waiting {
  readonly id: string;
  readonly state: string;
}

/**
 * In each round several destroying calls are allowed for one run each, and made; kill -9 ends the gateway at a random
 * moment. The next one is asked for the same calls again. Counts by what the server wrote down itself.
 */
export async function killBetweenYesAndAnswer(notes: Notes, cycles: number, main?: string): Promise<KillTrial> {
  const config = { mcpServers: { notes: notes.entry }, toolyard: { approvals: { holdMs: 0, minAnswerMs: 0 } } };
  const kills = { beforeAll: 0, afterAll: 0 };
  let gateway: RunningGateway | undefined;
  const start = async (): Promise<RunningGateway> => {
    const started = await startGateway({ config, directory: notes.directory, ...(main === undefined ? {} : { main }) });
    await until(async () => JSON.stringify(await execute(started.url, "notes:read_notes")).includes("ran "));
    return started;
  };
  const ask = async (method: string, path: string, body?: object): Promise<unknown> =>
    JSON.parse((await askOwner(join(notes.directory, "data"), method, path, body)).text);
  const callAll = async ({ url }: RunningGateway, ids: readonly number[]): Promise<unknown> =>
    await Promise.allSettled(ids.map(async (id) => await execute(url, "notes:delete_notes", { id })));
  const ranOf = (id: number): number => notes.calls().filter((call) => call === `["delete_notes",{"id":${id}}]`).length;

  for (let first = 1; first <= cycles; first += callsInRound) {
    const ids = Array.from({ length: Math.min(callsInRound, cycles - first + 1) }, (_, at) => first + at);
    gateway ??= await start();
    await callAll(gateway, ids);
    const { approvals } = (await ask("GET", "/api/approvals?state=waiting")) as { readonly approvals: Waiting[] };
    for (const { id } of approvals) await ask("POST", `/api/approvals/${id}`, { decision: "allow" });
    const calling = callAll(gateway, ids);
    await new Promise((resolve) => setTimeout(resolve, Math.random() * longestMs));
    await gateway.stop("SIGKILL");
    await calling;
    const ran = ids.filter((id) => ranOf(id) > 0).length;
    if (ran === 0) kills.beforeAll += 1;
    if (ran === ids.length) kills.afterAll += 1;
    gateway = await start();
    await callAll(gateway, ids);
  }
  await gateway?.[Symbol.asyncDispose]();
  const runs: [number, number, number] = [0, 0, 0];
  for (let id = 1; id <= cycles; id += 1) runs[Math.min(2, ranOf(id)) as 0 | 1 | 2] += 1;
  return { cycles, runs, kills };
}
