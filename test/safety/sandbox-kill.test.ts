import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { findSurvivors, isAlive, until } from "../processes/survivors.ts";
import { insideServer, makeHome, openInside } from "./inside.ts";
import { killConfined } from "./sandbox-kills.ts";

const cycles = Number(process.env["TOOLYARD_TEST_CYCLES"] ?? 50);

test(
  `47 kill -9 of the gateway while confined servers start, answer, restart or stop leaves nothing, ${cycles} times`,
  { timeout: cycles * 20_000 },
  async () => {
    const { left, at, had } = await killConfined(cycles, { server: insideServer });
    expect(left).toEqual({ processes: 0, sockets: 0, mounts: 0, groups: 0 });
    for (const count of [...Object.values(at), ...Object.values(had)]) expect(count).toBeGreaterThan(0);
  },
);

test(
  "47 what opens the network of a sandbox ends with a gateway that is killed meanwhile",
  { timeout: 420_000 },
  async () => {
    for (let delayMs = 0; delayMs <= 80; delayMs += 4) {
      const directory = await makeHome();
      const bin = join(directory, "bin");
      mkdirSync(bin);
      const kill = `(sleep ${delayMs / 1_000}; kill -9 $gateway) &`;
      const program = `#!/bin/sh\ngateway=$PPID\necho $$ > ${join(directory, "pid")}\n${kill}\nexec /usr/bin/nsenter "$@"\n`;
      writeFileSync(join(bin, "nsenter"), program, { mode: 0o755 });
      const env = { PATH: `${bin}:${process.env["PATH"] ?? ""}` };
      const inside = await openInside({ sandbox: true, directory, env });
      await until(() => inside.gateway.process.signalCode !== null);
      const pid = Number(readFileSync(join(directory, "pid"), "utf8"));
      await until(() => !isAlive(pid) && findSurvivors(directory).length === 0);
      await inside[Symbol.asyncDispose]();
    }
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
