import { chmod, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { runCommand } from "../harness/command.ts";
import { startGateway, type RunningGateway } from "../harness/gateway.ts";
import { execute } from "../harness/rpc.ts";
import { until } from "../harness/until.ts";
import { npxFolderName } from "../../src/servers/upstream/runner/npx-form.ts";
import { aliveIn, standingOf, startsIn } from "../instances/observing.ts";
import { packageName, startNpmRegistry, type NpmRegistry } from "./npm-registry.ts";

let directory: string;
let pids: string;
let registry: NpmRegistry;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "toolyard-npx-"));
  pids = join(directory, "pids");
  registry = await startNpmRegistry(directory);
});
afterEach(async () => {
  await registry[Symbol.asyncDispose]();
  await rm(directory, { recursive: true, force: true });
});

const sleepy = { idleGraceMs: 0, idleCheckMs: 100, idleTimeoutMs: 300 };
const specification = `${packageName}@^1`;

function startByNpx(settings: object = {}, name = specification): Promise<RunningGateway> {
  const bad = { command: "npx", args: ["-y", name, "--write-pid", pids], env: registry.env };
  return startGateway({
    config: { mcpServers: { bad }, toolyard: { instances: { ...sleepy, ...settings } } },
    directory,
  });
}

/** It came up, and may be asleep again. */
async function untilKnown(gateway: RunningGateway): Promise<void> {
  await until(async () => (await standingOf(gateway.url, "bad")).tools > 0);
}

/** Called, and asleep again with its whole tree. */
async function callOnce(gateway: RunningGateway, tool = "env"): Promise<Record<string, string>> {
  await untilKnown(gateway);
  const result = await execute(gateway.url, `bad:${tool}`);
  expect(result.isError).not.toBe(true);
  await until(async () => aliveIn(pids).length === 0 && (await standingOf(gateway.url, "bad")).status === "dormant");
  return JSON.parse(result.content[0].text) as Record<string, string>;
}

test("what npx has installed is started without npx: the same program and variables, and the registry is not asked", async () => {
  const envByNpx = await (async () => {
    await using always = await startByNpx({ npxFromFolder: false });
    return await callOnce(always);
  })();
  const askedBefore = registry.requests.length;
  await using gateway = await startByNpx();
  await callOnce(gateway);
  const asked = registry.requests.length;
  expect(asked).toBeGreaterThan(askedBefore);
  const starts = startsIn(pids).length;
  const direct = await callOnce(gateway);
  expect(startsIn(pids)).toHaveLength(starts + 1);
  expect(registry.requests).toHaveLength(asked);
  // Each process tree has a mark of its own.
  expect({ ...direct, TOOLYARD_INSTANCE: "" }).toEqual({ ...envByNpx, TOOLYARD_INSTANCE: "" });
  expect(direct["npm_command"]).toBe("exec");
});

test("npx is asked each time where the configuration says so", async () => {
  await using gateway = await startByNpx({ npxFromFolder: false });
  await callOnce(gateway);
  const asked = registry.requests.length;
  await callOnce(gateway);
  expect(registry.requests.length).toBeGreaterThan(asked);
});

test("a folder that has gone or changed is npx's business again", async () => {
  await using gateway = await startByNpx();
  await callOnce(gateway);
  const asked = registry.requests.length;
  await rm(join(registry.npxFolder, npxFolderName(specification)), { recursive: true });
  await callOnce(gateway);
  expect(registry.requests.length).toBeGreaterThan(asked);
});

test("a server that no longer starts from the folder is started by npx, after the broken folder was moved aside", async () => {
  await using gateway = await startByNpx();
  await callOnce(gateway);
  const module = join(
    registry.npxFolder,
    npxFolderName(specification),
    "node_modules",
    packageName,
    "bad",
    "lists.mjs",
  );
  await rm(module);
  await callOnce(gateway);
  expect(gateway.stderr()).toContain("npx installs the server again");
});

test("a broken npx folder is moved aside once, with a line that says so, and the server comes up", async () => {
  {
    await using first = await startByNpx();
    await callOnce(first);
  }
  const folder = npxFolderName(specification);
  await rm(join(registry.npxFolder, folder, "node_modules", packageName, "bad"), { recursive: true });
  await rm(join(directory, "data"), { recursive: true });
  await using gateway = await startByNpx();
  await untilKnown(gateway);
  const names = await readdir(registry.npxFolder);
  expect(names).toHaveLength(2);
  const aside = names.find((name) => name.startsWith(`${folder}.broken-`)) as string;
  expect(names).toContain(folder);
  expect(gateway.stderr()).toContain(`_npx/${aside}`);
  expect(gateway.stderr()).not.toContain("exited with code");
});

test("a folder whose program cannot be run is installed again", async () => {
  {
    await using first = await startByNpx();
    await callOnce(first);
  }
  const folder = npxFolderName(specification);
  await chmod(join(registry.npxFolder, folder, "node_modules", packageName, "bad-server.mjs"), 0o644);
  await rm(join(directory, "data"), { recursive: true });
  await using gateway = await startByNpx();
  await untilKnown(gateway);
  expect(await readdir(registry.npxFolder)).toHaveLength(2);
});

test("an install that is given up leaves nothing behind that the next one stumbles over", async () => {
  registry.isHolding = true;
  await using gateway = await startByNpx({
    runnerQuietMs: 3_000,
    runnerStopMs: 8_000,
    callRetryMs: 0,
    npxFromFolder: false,
  });
  await until(async () => (await standingOf(gateway.url, "bad")).status === "error");
  expect(registry.requests).toContain(`/${packageName}.tgz`);
  const folder = join(registry.npxFolder, npxFolderName(specification));
  // npm waits for a minute for a lock that a killed one left.
  expect(await readdir(folder)).not.toContain("concurrency.lock");
  registry.isHolding = false;
  const place = ["--config", gateway.configFile, "--data-dir", join(directory, "data")];
  expect(await runCommand(["restart", "bad", ...place])).toMatchObject({ code: 0 });
  expect(await readdir(registry.npxFolder)).toEqual([npxFolderName(specification)]);
});

test("a package that does not exist is named, with npm's own reason", async () => {
  await using gateway = await startByNpx({ restartDelaysMs: [] }, "no-such-package-anywhere");
  const { reason } = await until(async () => {
    const standing = await standingOf(gateway.url, "bad");
    return standing.status === "permanently_failed" && standing;
  });
  expect(reason).toMatch(/404.*no-such-package-anywhere/);
  expect(reason).not.toContain("complete log");
  expect(await readdir(registry.npxFolder).catch(() => [])).not.toContain(expect.stringContaining("broken"));
});
