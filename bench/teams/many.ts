import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { RunningGateway } from "../../test/harness/gateway.ts";
import { until } from "../../test/harness/until.ts";
import { cpuMicros, residentBytes } from "../measure/process.ts";
import { measureCalls } from "./calls.ts";
import { percentile, type Figures } from "./rows.ts";
import { measureTokens } from "./tokens.ts";
import { bearer, makeAdmin, makeWorld, startTeam, writeWorld, type World } from "./world.ts";

const changes = 200;
const listing = 200;
const joining = 50;

/** A part of it: the call, or what is kept for members who have looked at their servers. */
export type ManyPart = "calls" | "members";

/**
 * 10,000 users in 500 teams with 50,000 installations: start, memory, one change, and a call; with `only`, one part
 * alone.
 */
export async function measureMany(figures: Figures, only?: ManyPart): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), "toolyard-bench-teams-"));
  const alone = await mkdtemp(join(tmpdir(), "toolyard-bench-alone-"));
  try {
    const admin = await makeAdmin(directory);
    const world = makeWorld();
    await writeWorld(directory, world);
    if (only !== "calls") {
      if (only === undefined) await measureTokens(world, figures);
      const team = await measureStart(directory, figures);
      try {
        await measureMembers(team, world, figures);
        if (only === undefined) await measureChanges(team, { admin, world }, figures);
      } finally {
        await team.stop();
      }
    }
    if (only === "members") return;
    const token = world.tokens[0] ?? "";
    await measureCalls({ startTeam: async () => await startReady(directory), token, directory: alone }, figures);
  } finally {
    await rm(directory, { recursive: true, force: true });
    await rm(alone, { recursive: true, force: true });
  }
}

async function measureStart(directory: string, figures: Figures): Promise<RunningGateway> {
  const begin = performance.now();
  const gateway = await startReady(directory);
  const wallMs = performance.now() - begin;
  const { pid = 0 } = gateway.process;
  const note = `${Math.round(cpuMicros(pid) / 1_000)} ms CPU time`;
  figures.add("start until everything is ready", wallMs, "ms", { goal: { most: 3_000 }, note });
  await untilQuiet(pid);
  figures.add("memory with everything", megabytes(pid), "MB");
  return gateway;
}

async function startReady(directory: string): Promise<RunningGateway> {
  const gateway = await startTeam(directory);
  await until(async () => (await fetch(`${gateway.url}/readyz`)).ok);
  return gateway;
}

/** Everybody has 101 servers, of which nearly all are switched off: what is kept of one that nobody uses. */
async function measureMembers(
  { url, process: { pid = 0 } }: RunningGateway,
  { tokens }: World,
  figures: Figures,
): Promise<void> {
  const list = async (members: readonly string[]): Promise<void> => {
    for (const token of members) await (await fetch(`${url}/api/servers`, { headers: bearer(token) })).arrayBuffer();
  };
  // What the first one loads and compiles is nobody's.
  await list(tokens.slice(-1));
  await untilQuiet(pid);
  const before = residentBytes(pid);
  await list(tokens.slice(0, listing));
  figures.add(`memory when ${listing} members have listed their 101 servers`, megabytes(pid), "MB");
  await untilQuiet(pid);
  const kept = residentBytes(pid) - before;
  figures.add("the same after a rest", megabytes(pid), "MB", {
    note: `${Math.round(kept / listing / 1_024)} kB for each of them`,
  });
}

async function measureChanges(
  { url, process: { pid = 0 } }: RunningGateway,
  { admin, world }: { readonly admin: string; readonly world: World },
  figures: Figures,
): Promise<void> {
  // One that is switched off: what it costs to start servers is measured elsewhere.
  const path = `${url}/api/teams/many-0/installations/${world.installs.installations[1]?.slug ?? ""}`;
  const headers = { ...bearer(admin), "content-type": "application/json" };
  const member = bearer(world.tokens[0] ?? "");
  const times: number[] = [];
  let spent = 0;
  for (let at = 0; at < changes; at += 1) {
    const [before, begin] = [performance.now(), cpuMicros(pid)];
    const answer = await fetch(path, { method: "PATCH", headers, body: JSON.stringify({ name: `name ${at}` }) });
    if (!answer.ok) throw new Error(await answer.text());
    await answer.arrayBuffer();
    times.push(performance.now() - before);
    spent += cpuMicros(pid) - begin;
    // In force means that a member sees it now. Seldom, because the list of all servers costs more than the change.
    if (at % 20 !== 0) continue;
    const seen = await (await fetch(`${url}/api/servers`, { headers: member })).text();
    if (!seen.includes(`"name ${at}"`)) throw new Error(`a member does not see the change: ${seen.slice(0, 500)}`);
  }
  const each = (spent / changes / 1_000).toFixed(1);
  const goal = { most: 100 };
  figures.add("one change, on the disk and in force, p50", percentile(times, 0.5), "ms", {
    ...{ goal, note: `${each} ms CPU time` },
  });
  figures.add(`the slowest of ${changes} changes`, Math.max(...times), "ms", { goal });
  await measureJoining({ url, headers }, figures);
}

/** Somebody new in a team has its hundred servers from then on: they follow from rows, and nothing is provisioned. */
async function measureJoining(
  { url, headers }: { readonly url: string; readonly headers: Readonly<Record<string, string>> },
  figures: Figures,
): Promise<void> {
  const times: number[] = [];
  for (let at = 0; at < joining; at += 1) {
    const before = performance.now();
    const body = JSON.stringify({ name: `newcomer-${at}`, team: `many-${at}` });
    const answer = await fetch(`${url}/api/users`, { method: "POST", headers, body });
    if (!answer.ok) throw new Error(await answer.text());
    const { made } = (await answer.json()) as { readonly made: { readonly token: string } };
    times.push(performance.now() - before);
    const path = `/api/teams/many-${at}/installations`;
    const { installations } = (await (await fetch(url + path, { headers: bearer(made.token) })).json()) as {
      readonly installations: readonly unknown[];
    };
    if (installations.length < 100) throw new Error(`somebody new has ${installations.length} servers`);
  }
  const goal = { most: 100 };
  figures.add("somebody added to a team with a hundred servers, p50", percentile(times, 0.5), "ms", { goal });
}

/** What it does after its start, and for processes that are starting, is not what is measured. */
async function untilQuiet(pid: number): Promise<void> {
  let before = cpuMicros(pid);
  await until(async () => {
    await new Promise((resolve) => setTimeout(resolve, 500));
    const spent = cpuMicros(pid) - before;
    before += spent;
    return spent < 20_000;
  });
}

function megabytes(pid: number): number {
  return Math.round(residentBytes(pid) / 2 ** 20);
}
