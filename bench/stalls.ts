/**
 * How long one turn of the event loop gets, whatever a peer sends: every input of `stalls/input-rows.ts` is driven with
 * every shape of its kind against a running gateway, while a client in a process of its own calls a server. Prints for
 * each input the longest turn of the gateway's main thread, with the shape that took it, and the victim's longest wait.
 * Goal: 50 ms. A turn is counted at most with the processor time that the gateway had in it (all its threads), so that
 * other work on the machine does not make it longer; the victim's wait has no such help:
 * `npm run bench bench/stalls.ts [-- --only=tools.desc --shapes=han,bearer --main=FILE]`
 */
import { fork, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { startGateway, type RunningGateway } from "../test/harness/gateway.ts";
import { modernRpc, send } from "../test/harness/rpc.ts";
import { until } from "../test/harness/until.ts";
import { printTable } from "./instances/table.ts";
import { driveRow, type World } from "./stalls/drive-row.ts";
import { fileShapes, jsonShapes, textShapes, type MakeShape } from "./stalls/hostile-shapes.ts";
import { inputRows, type InputRow } from "./stalls/input-rows.ts";

const goalMs = 50;
const file = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const victimOf = process.env["TOOLYARD_BENCH_VICTIM"];
if (victimOf === undefined) await measureAll();
else await beVictim(victimOf);

/** Calls a good server all the time, and says at each message how long it waited at most since the last one. */
async function beVictim(url: string): Promise<void> {
  let longest = 0;
  process.on("message", () => {
    process.send?.(longest);
    longest = 0;
  });
  process.on("disconnect", () => process.exit(0));
  process.send?.(0);
  for (;;) {
    const startMs = performance.now();
    await modernRpc(`${url}/mcp`, "tools/call", {
      name: "execute_mcp_tool",
      arguments: { tool_path: "good:echo", arguments: { message: "x" } },
    }).catch(() => undefined);
    longest = Math.max(longest, performance.now() - startMs);
    await new Promise((resolve) => setTimeout(resolve, 3));
  }
}

async function measureAll(): Promise<void> {
  const option = (name: string): string | undefined =>
    process.argv.find((argument) => argument.startsWith(`--${name}=`))?.slice(name.length + 3);
  const only = option("only")?.split(",");
  const wanted = option("shapes")?.split(",");
  const rows = inputRows.filter(({ who, what }) => only?.some((part) => `${who} ${what}`.includes(part)) ?? true);
  const table: (string | number)[][] = [];
  for (const row of rows) {
    await using stage = await openStage(option("main") ?? file("../dist/cli/main.js"));
    // What is loaded and made at its first use is no matter of what it is given.
    await driveRow(stage.world, { ...row, bytes: 100 }, Object.values<MakeShape>(shapesOf(row))[0] as MakeShape);
    const quiet = await stage.figures(async () => await new Promise((resolve) => setTimeout(resolve, 1_000)));
    let worst = { turn: 0, turnOf: "", wait: 0, waitOf: "" };
    for (const [name, make] of Object.entries<MakeShape>(shapesOf(row))) {
      if (wanted !== undefined && !wanted.includes(name)) continue;
      const { turn, wait } = await stage.figures(async () => await driveRow(stage.world, row, make));
      if (turn > worst.turn) worst = { ...worst, turn, turnOf: name };
      if (wait > worst.wait) worst = { ...worst, wait, waitOf: name };
      if (stage.gateway.process.exitCode !== null) throw new Error(`${row.what}, ${name}: the gateway ended`);
    }
    const mark = worst.turn > goalMs ? "over" : "";
    const cells = [quiet.turn, worst.turn].map((ms) => ms.toFixed(0));
    table.push([row.who, row.what, ...cells, worst.turnOf, worst.wait.toFixed(0), worst.waitOf, mark]);
    process.stdout.write(`${table.at(-1)?.join(" ") ?? ""}\n`);
  }
  printTable(
    `longest turn of the event loop, in ms (goal: ${goalMs})`,
    ["who", "what", "quiet", "longest turn", "of shape", "victim waited", "of shape", ""],
    table,
  );
}

function shapesOf({ shapes }: InputRow): Readonly<Record<string, MakeShape>> {
  return { text: textShapes, json: jsonShapes, file: fileShapes }[shapes];
}

interface Figures {
  readonly turn: number;
  readonly wait: number;
}

interface Stage extends AsyncDisposable {
  readonly gateway: RunningGateway;
  readonly world: World;
  /** What happened in the gateway, and to the victim, while it ran. */
  figures(run: () => Promise<void>): Promise<Figures>;
}

async function openStage(main: string): Promise<Stage> {
  const lagFile = join(process.env["TMPDIR"] ?? "/tmp", `toolyard-stalls-${process.pid}.json`);
  const orders = `${lagFile}.orders`;
  writeFileSync(orders, JSON.stringify({ json: '"x"' }));
  const hostile = file("stalls/hostile-server.mjs");
  const distant = spawn(process.execPath, [hostile, orders, "--http"], { stdio: ["pipe", "pipe", "inherit"] });
  const [address] = (await once(distant.stdout.setEncoding("utf8"), "data")) as [string];
  const config = {
    mcpServers: {
      good: { command: process.execPath, args: [file("servers/echo.mjs")] },
      hostile: { command: process.execPath, args: [hostile, orders] },
      distant: { url: address.trim() },
    },
  };
  const home = mkdtempSync(`${lagFile}-home-`);
  const env = { HOME: home, LOOP_LAG: lagFile, NODE_OPTIONS: `--import=${file("measure/loop-lag.mjs")}` };
  const gateway = await startGateway({ config, env, main });
  const victim = fork(process.argv[1] ?? "", {
    env: { ...process.env, TOOLYARD_BENCH_VICTIM: gateway.url, NODE_OPTIONS: "" },
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  await once(victim, "message");
  // What REST loads and makes at its first request is no matter of inputs.
  await send(`${gateway.url}/openapi.json`, { method: "GET" });

  async function reset(): Promise<Figures> {
    writeFileSync(lagFile, "");
    gateway.process.kill("SIGUSR2");
    victim.send("tell");
    const [wait] = (await once(victim, "message")) as [number];
    const text = await until(() => readFileSync(lagFile, "utf8") || undefined);
    return { turn: (JSON.parse(text) as { readonly turn: number }).turn, wait };
  }

  return {
    gateway,
    world: { url: gateway.url, configFile: gateway.configFile, config, orders, home },
    async figures(run) {
      await reset();
      await run();
      return await reset();
    },
    async [Symbol.asyncDispose]() {
      victim.kill("SIGKILL");
      distant.kill("SIGKILL");
      await gateway[Symbol.asyncDispose]();
      rmSync(home, { recursive: true, force: true });
    },
  };
}
