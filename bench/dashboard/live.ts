import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";
import { mainFile, startGateway, type RunningGateway } from "../../test/harness/gateway.ts";
import { untilOnline } from "../../test/harness/rest.ts";
import { residentBytes } from "../measure/process.ts";

/**
 * How soon a change of a server's state is on the screen, from the event's own time to the change of the page, in
 * Chromium on the same machine; and what an open page costs the gateway, in memory.
 * `node scripts/run-bench.mjs bench/dashboard/live.ts [-- --restarts=60]`; Chromium comes from
 * `node scripts/get-chromium.mjs`.
 */
const restarts = Number(process.argv.find((argument) => argument.startsWith("--restarts="))?.slice(11) ?? 60);
const goals = { p99Ms: 200, idleMiB: 70 };
/** Just used, and after a minute of rest, when the store sleeps and the garbage of the start is collected. */
const moments = [
  ["just used", 5_000],
  ["after a minute of rest", 60_000],
] as const;

interface Seen {
  readonly atMs: number;
  readonly text: string;
}

const server = {
  command: process.execPath,
  args: [fileURLToPath(new URL("../servers/echo.mjs", import.meta.url))],
};

const pause = async (ms: number): Promise<void> => await new Promise((resolve) => setTimeout(resolve, ms));
const print = (line: string): void => void process.stdout.write(`${line}\n`);

function percentile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * part) - 1)] ?? Number.NaN;
}

/** Has the page note each change of the state that it shows. As text: these sources know no page. */
const watchStatus = `
  window.seen = [];
  let last = "";
  const look = () => {
    const text = document.querySelector(".status")?.textContent ?? "";
    if (text !== last) window.seen.push({ atMs: Date.now(), text: (last = text) });
  };
  look();
  new MutationObserver(look).observe(document.body, { subtree: true, childList: true, characterData: true });
`;

/** A one-time link, as the terminal prints it. */
function linkTo({ configFile, directory }: RunningGateway): string {
  const options = ["--print", "--config", configFile, "--data-dir", join(directory, "data")];
  return execFileSync(process.execPath, [mainFile, "open", ...options], { encoding: "utf8" }).trim();
}

interface Change {
  readonly atMs: number;
  readonly to: string;
}

/** The gateway's events, as any other program reads them. */
async function readChanges(url: string, signal: AbortSignal, changes: Change[]): Promise<void> {
  const response = await fetch(`${url}/api/events`, { headers: { accept: "text/event-stream" }, signal });
  let rest = "";
  for await (const piece of response.body as unknown as AsyncIterable<Uint8Array>) {
    const blocks = (rest + Buffer.from(piece).toString()).split("\n\n");
    rest = blocks.pop() ?? "";
    for (const block of blocks) {
      if (!block.includes("mcp.server.status_changed")) continue;
      const { time, data } = JSON.parse(/^data: (.*)$/m.exec(block)?.[1] ?? "{}") as {
        readonly time: string;
        readonly data: { readonly to: string };
      };
      changes.push({ atMs: new Date(time).getTime(), to: data.to });
    }
  }
}

const browser = await chromium.launch({ executablePath: "/usr/bin/chromium" });
try {
  await using gateway = await startGateway({ config: { mcpServers: { bad: server } } });
  const pid = gateway.process.pid ?? 0;
  await untilOnline(gateway.url);
  const memory: [string, number][] = [];
  const note = async (name: string): Promise<void> => {
    for (const [moment, afterMs] of moments) {
      await pause(afterMs);
      memory.push([`${name}, ${moment}`, residentBytes(pid) / 2 ** 20]);
    }
  };
  await note("no page was opened yet");

  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(linkTo(gateway));
  await page.getByRole("heading", { level: 1 }).waitFor();
  await note("one page open");
  const tabs = await Promise.all(Array.from({ length: 9 }, async () => await context.newPage()));
  for (const tab of tabs) await tab.goto(`${gateway.url}/ui/servers`);
  await note("ten tabs open");
  for (const tab of tabs) await tab.close();

  await page.goto(`${gateway.url}/ui/servers/bad`);
  await page.getByText("Live", { exact: true }).waitFor();
  await page.evaluate(watchStatus);
  const changes: Change[] = [];
  const controller = new AbortController();
  const reading = readChanges(gateway.url, controller.signal, changes).catch(() => undefined);
  for (let at = 0; at < restarts; at += 1) {
    await fetch(`${gateway.url}/api/instances/bad/restart`, {
      method: "POST",
      headers: { "content-type": "application/json" },
    });
    await pause(700);
  }
  controller.abort();
  await reading;
  const seen: readonly Seen[] = await page.evaluate("window.seen");
  const delays = changes
    .filter(({ to }) => to === "online")
    .flatMap(({ atMs }) => {
      const shown = seen.find((row) => row.atMs >= atMs && row.text.startsWith("Online"));
      return shown === undefined ? [] : [shown.atMs - atMs];
    });
  const p99 = percentile(delays, 0.99);
  print(`from the event "online" to the screen, ${delays.length} of ${restarts} restarts:`);
  print(
    `  median ${percentile(delays, 0.5)} ms, p90 ${percentile(delays, 0.9)} ms, p99 ${p99} ms: ${p99 <= goals.p99Ms ? "ok" : "OVER"} (goal ${goals.p99Ms} ms)`,
  );
  print("memory of the gateway, resident:");
  for (const [name, mib] of memory)
    print(`  ${name}: ${mib.toFixed(1)} MiB: ${mib <= goals.idleMiB ? "ok" : "OVER"} (goal ${goals.idleMiB} MiB)`);
} finally {
  await browser.close();
}
