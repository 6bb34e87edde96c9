import { existsSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { claimGatewayLock, readGatewayHolder, type LockOptions } from "./gateway-lock.ts";

let dataDir: string;
beforeEach(async () => void (dataDir = await mkdtemp(join(tmpdir(), "toolyard-lock-"))));
afterEach(async () => await rm(dataDir, { recursive: true, force: true }));

const startTimeOf = (pid: number): string | undefined => (pid === process.pid ? "77" : undefined);
const options = (): LockOptions => ({
  folder: dataDir,
  serves: { configFile: "/c.json", directory: "/", variables: { TOKEN: "hunter2", UNSET: null } },
  version: "1",
  startTimeOf,
});

test.runIf(process.platform === "linux")(
  "of many that claim at once, also over a stale lock, exactly one holds it",
  async () => {
    for (const stale of [
      undefined,
      "",
      "{}",
      JSON.stringify({ pid: 999_999_999, startTime: "1", secret: "x" }),
      JSON.stringify({ pid: process.pid, startTime: "76", secret: "x" }),
    ]) {
      if (stale !== undefined) await writeFile(join(dataDir, "gateway.lock"), stale);
      const claims = await Promise.all(Array.from({ length: 20 }, async () => await claimGatewayLock(options())));
      const held = claims.filter((claim) => claim.kind === "held");
      expect(held).toHaveLength(1);
      for (const claim of claims)
        if (claim.kind === "taken") expect(claim.by).toMatchObject({ pid: process.pid, url: null });
      for (const claim of held) await claim.lock[Symbol.asyncDispose]();
      expect(await readdir(dataDir)).toEqual([]);
    }
  },
);

test("tells where the gateway answers, to its owner only", async () => {
  const claim = await claimGatewayLock(options());
  if (claim.kind !== "held") throw new Error("not held");
  expect(await readGatewayHolder(options())).toMatchObject({
    url: null,
    serves: { configFile: "/c.json", variables: { UNSET: null } },
  });
  await claim.lock.announce("http://127.0.0.1:1");
  expect(await readGatewayHolder(options())).toMatchObject({ url: "http://127.0.0.1:1", secret: claim.lock.secret });
  await claim.lock.announceServed({ ...options().serves, configFile: "/d.json" });
  expect(await readGatewayHolder(options())).toMatchObject({
    url: "http://127.0.0.1:1",
    serves: { configFile: "/d.json" },
  });
  expect((await stat(join(dataDir, "gateway.lock"))).mode & 0o777).toBe(0o600);
  expect(await readFile(join(dataDir, "gateway.lock"), "utf8")).not.toContain("hunter2");
  await claim.lock[Symbol.asyncDispose]();
  expect(await readGatewayHolder(options())).toBeUndefined();
});

test("what somebody else took over is not removed", async () => {
  const claim = await claimGatewayLock(options());
  if (claim.kind !== "held") throw new Error("not held");
  await writeFile(join(dataDir, "gateway.lock"), JSON.stringify({ pid: 1, secret: "theirs" }));
  await claim.lock[Symbol.asyncDispose]();
  expect(existsSync(join(dataDir, "gateway.lock"))).toBe(true);
});
