import { mkdtemp, readFile, rm } from "node:fs/promises";
import { request, type ClientRequest } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runCommand } from "../../test/harness/command.ts";
import { badServer, startGateway, type RunningGateway } from "../../test/harness/gateway.ts";
import { createPageBrowser } from "../../test/people/page-browser.ts";
import { cpuMicros } from "../measure/process.ts";
import { percentile, type Figures } from "./rows.ts";

const logins = 60;
/** Of people who log in at the same time. */
const browsersAtOnce = 4;
const members = 50;
const streamsEach = 20;
const password = "correct horse battery";

/** What people notice: memory, logins, and how soon a token that is taken away ends what it opened. */
export async function measureLive(figures: Figures): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), "toolyard-bench-live-"));
  const gateway = await startGateway({
    directory,
    config: { mcpServers: { files: { ...badServer("--behaviours=env"), scope: "user" } } },
    args: ["--team"],
  });
  try {
    const ask = async (...words: string[]) => {
      const where = ["--config", gateway.configFile, "--data-dir", join(directory, "data"), "--json"];
      const { code, stdout, stderr } = await runCommand([...words, ...where]);
      if (code !== 0) throw new Error(stderr);
      return JSON.parse(stdout);
    };
    const memory = async (what: string, most: number): Promise<void> =>
      figures.add(what, await residentMb(gateway), "MB", { goal: { most } });
    await memory("memory, nobody has logged in yet", 85);
    const admin = (await ask("user", "add", "ann", "--admin", "--team", "red")).made.token as string;
    const { link } = await ask("user", "link", "ann");
    const browser = createPageBrowser();
    const page = await browser.open(`${gateway.url}/setup`);
    await browser.submit(page, { code: link.split("#")[1], password, again: password });
    await memory("memory after the first login", 105);
    await measureLogins(gateway, figures);
    await measureRevocation(gateway, admin, figures);
  } finally {
    await gateway.stop();
    await rm(directory, { recursive: true, force: true });
  }
}

async function measureLogins({ url, process: { pid = 0 } }: RunningGateway, figures: Figures): Promise<void> {
  const begin = performance.now();
  const cpu = cpuMicros(pid);
  let left = logins;
  const work = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      const browser = createPageBrowser();
      const page = await browser.open(`${url}/auth/login`);
      await browser.submit(page, { name: "ann", password });
      if (browser.cookies.size === 0) throw new Error("nobody is logged in");
    }
  };
  await Promise.all(Array.from({ length: browsersAtOnce }, work));
  const each = (logins * 60_000) / (performance.now() - begin);
  figures.add("logins with a password, in a minute", Math.round(each), "", {
    ...{ goal: { least: 200 }, note: `${((cpuMicros(pid) - cpu) / logins / 1_000).toFixed(0)} ms CPU time each` },
  });
}

async function measureRevocation({ url }: RunningGateway, admin: string, figures: Figures): Promise<void> {
  const people: { readonly token: string; readonly membership: string; readonly streams: OpenStream[] }[] = [];
  const post = async (method: string, path: string, body: object) => {
    const headers = { authorization: `Bearer ${admin}`, "content-type": "application/json" };
    const answer = await fetch(`${url}${path}`, { method, headers, body: JSON.stringify(body) });
    if (!answer.ok) throw new Error(await answer.text());
    return (await answer.json()) as { made: { token: string }; user: { teams: { membership: string }[] } };
  };
  for (let at = 0; at < members; at += 1) {
    const made = await post("POST", "/api/users", { name: `member-${at}`, team: "red" });
    const { token } = made.made;
    const streams: OpenStream[] = [];
    for (let stream = 0; stream < streamsEach; stream += 1) streams.push(await openStream(url, token));
    people.push({ token, membership: made.user.teams[0]?.membership ?? "", streams });
  }
  const open = people.reduce((sum, { streams }) => sum + streams.filter(({ isOpen }) => isOpen()).length, 0);
  const times: number[] = [];
  for (const { membership, streams } of people) {
    const begin = performance.now();
    await post("DELETE", `/api/teams/red/members/${membership}`, {});
    const ends = await Promise.all(streams.map(async ({ ended }) => await ended));
    times.push(...ends.map((endMs) => Math.max(0, endMs - begin)));
  }
  const what = `from a removal to the end of its streams, ${open} open`;
  figures.add(`${what}, p99`, percentile(times, 0.99), "ms", {
    ...{
      goal: { most: 1_000 },
      note: `p50 ${percentile(times, 0.5).toFixed(0)}, most ${Math.max(...times).toFixed(0)}`,
    },
  });
}

interface OpenStream {
  /** Resolves with the time. */
  readonly ended: Promise<number>;
  isOpen(): boolean;
}

/** The stream of a client over HTTP+SSE: open when its first event is there. */
async function openStream(url: string, token: string): Promise<OpenStream> {
  let isOpen = false;
  let sent: ClientRequest;
  return await new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}`, accept: "text/event-stream" };
    sent = request(`${url}/sse`, { headers, agent: false }, (response) => {
      if (response.statusCode !== 200) return reject(new Error(`a stream is refused with ${response.statusCode}`));
      const ended = new Promise<number>((resolveEnd) => {
        response.once("close", () => {
          isOpen = false;
          resolveEnd(performance.now());
        });
      });
      response.once("data", () => {
        isOpen = true;
        resolve({ ended, isOpen: () => isOpen });
      });
      response.resume();
    });
    sent.on("error", reject);
    sent.end();
  });
}

async function residentMb({ process: { pid } }: RunningGateway): Promise<number> {
  const status = await readFile(`/proc/${pid ?? 0}/status`, "utf8");
  return Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1_024);
}
