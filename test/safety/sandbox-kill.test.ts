import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { expect, test } from "vitest";
import { mainFile } from "../harness/gateway.ts";
import { findSurvivors, until } from "../processes/survivors.ts";
import { insideServer, makeHome, openInside } from "./inside.ts";

const cycles = Number(process.env["TOOLYARD_TEST_CYCLES"] ?? 50);

test(
  `47 kill -9 of the gateway at any step of a confined start leaves nothing, ${cycles} times`,
  { timeout: cycles * 20_000 },
  async () => {
    const directory = await makeHome();
    const config = join(directory, "toolyard.json");
    const args = [insideServer, directory];
    const mcpServers = {
      names: { command: process.execPath, args, sandbox: true },
      none: { command: process.execPath, args, sandbox: { network: [] } },
    };
    writeFileSync(config, JSON.stringify({ mcpServers }));
    const words = [mainFile, "serve", "--config", config, "--port", "0", "--data-dir", join(directory, "data")];
    for (let cycle = 0; cycle < cycles; cycle += 1) {
      const gateway = spawn(process.execPath, words, { stdio: ["ignore", "pipe", "ignore"] });
      await new Promise((resolve) => gateway.stdout.once("data", resolve));
      // Both starts take about as long as this, so that each of their steps is met sooner or later.
      await pause(Math.random() * 600);
      gateway.kill("SIGKILL");
      await until(() => findSurvivors(directory).length === 0);
    }
    expect(findSurvivors(directory)).toEqual([]);
    await rm(directory, { recursive: true });
  },
);

test("a confined server that is asked to stop ends by itself, with all that it started", async () => {
  const inside = await openInside({ sandbox: { network: [] }, settings: { instances: { stopTimeoutMs: 20_000 } } });
  const note = join(inside.directory, "data");
  await inside.run(`
    process.on("SIGTERM", () => { fs.writeFileSync(os.homedir() + "/ended", "in order"); process.exit(0); });
    process.stdin.removeAllListeners("end");
    child_process.spawn("setsid", ["sleep", "1000"], { stdio: "ignore", detached: true }).unref();
    setInterval(() => undefined, 1000);`);
  await inside.again();
  expect(await inside.run(`return fs.readFileSync(os.homedir() + "/ended", "utf8")`)).toBe("in order");
  await inside.gateway[Symbol.asyncDispose]();
  expect(findSurvivors(note)).toEqual([]);
  await inside[Symbol.asyncDispose]();
});

test("a confined server is stopped when it is idle, and a call starts it again", async () => {
  const inside = await openInside({
    sandbox: true,
    settings: { instances: { idleCheckMs: 100, idleGraceMs: 0, idleTimeoutMs: 300 } },
  });
  const first = await inside.run("return globalThis.first = Math.random()");
  await until(async () => findSurvivors(insideServer).filter((line) => line.includes("bwrap")).length === 0);
  expect(await inside.run("return globalThis.first ?? 0")).not.toBe(first);
  await inside[Symbol.asyncDispose]();
});
