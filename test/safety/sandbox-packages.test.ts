import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { startGateway, type RunningGateway } from "../harness/gateway.ts";
import { get } from "../harness/rest.ts";
import { execute } from "../harness/rpc.ts";
import { until } from "../harness/until.ts";
import { packageName, startNpmRegistry, type NpmRegistry } from "../runners/npm-registry.ts";

let directory: string;
let registry: NpmRegistry;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "toolyard-packages-"));
  registry = await startNpmRegistry(directory);
});
afterEach(async () => {
  await registry[Symbol.asyncDispose]();
  await rm(directory, { recursive: true, force: true });
});

async function start(specification = `${packageName}@^1`): Promise<RunningGateway> {
  const env = {
    npm_config_registry: registry.url.replace("127.0.0.1", "localhost"),
    npm_config_replace_registry_host: "always",
  };
  const packaged = { command: "npx", args: ["-y", specification], env, sandbox: { network: [] } };
  return await startGateway({
    config: { mcpServers: { packaged } },
    directory,
    env: { HOME: join(directory, "home") },
  });
}

/** The folder that npx installed into, as this machine sees it. */
function installedFile(): string {
  const homes = join(directory, "data/sandboxes");
  const npx = join(homes, readdirSync(homes)[0] ?? "", "home/.npm/_npx");
  return join(npx, readdirSync(npx)[0] ?? "", "node_modules", packageName, "package.json");
}

const logs = async (gateway: RunningGateway): Promise<string> =>
  (await get(`${gateway.url}/api/logs?server=packaged`)).text;

test("a package is installed from the registry alone, into a home of its own, and started without npx and network", async () => {
  await using gateway = await start();
  const result = await until(async () => {
    const answer = await execute(gateway.url, "packaged:argv", {});
    return answer.isError === true ? undefined : answer;
  });
  expect(JSON.stringify(result)).not.toContain("npx");
  expect(registry.requests).toContain(`/${packageName}.tgz`);
  expect(JSON.parse(readFileSync(installedFile(), "utf8")).name).toBe(packageName);
  expect(readdirSync(directory)).not.toContain("home");
});

test("48 without the network, the version that is installed is started, and that is said", async () => {
  {
    await using gateway = await start(`${packageName}@latest`);
    await until(async () => (await execute(gateway.url, "packaged:pid", {})).isError !== true);
  }
  const long = new Date(Date.now() - 3 * 86_400_000);
  utimesSync(installedFile(), long, long);
  await registry[Symbol.asyncDispose]();
  await using gateway = await start(`${packageName}@latest`);
  await until(async () => (await execute(gateway.url, "packaged:pid", {})).isError !== true);
  await until(async () => (await logs(gateway)).includes("is used, which is installed"));
});

test.runIf(process.env["TOOLYARD_TEST_LAPTOP"])(
  "all servers of examples/laptop.json start in a sandbox, and list their tools",
  { timeout: 3_600_000 },
  async () => {
    const file = fileURLToPath(new URL("../../examples/laptop.json", import.meta.url));
    const text = readFileSync(file, "utf8").replaceAll(/^\s*\/\/.*$/gm, "");
    const { mcpServers } = JSON.parse(text) as { mcpServers: Record<string, object> };
    const folder = mkdtempSync(join(tmpdir(), "toolyard-laptop-"));
    mkdirSync(join(folder, "files"));
    const toolyard = { sandbox: { mode: "require" }, instances: { parallelInstalls: 2 } };
    await using gateway = await startGateway({ config: { mcpServers, toolyard }, directory: folder });
    const states = async () => {
      const { servers } = JSON.parse((await get(`${gateway.url}/api/status`)).text) as {
        servers: { server: string; status: string; tools: number; reason: string }[];
      };
      return servers.map(({ server, status, tools, reason }) => ({ server, status, tools, reason }));
    };
    const isDone = ({ tools, status }: { tools: number; status: string }) =>
      tools > 0 || /fail|given|unusable/.test(status);
    let last = await states();
    while (!last.every(isDone)) {
      await new Promise((resolve) => setTimeout(resolve, 2_000));
      last = await states();
      process.stdout.write(`${last.filter(({ tools }) => tools > 0).length} of ${last.length}\n`);
    }
    expect(last.filter(({ tools }) => tools === 0)).toEqual([]);
    expect(last).toHaveLength(Object.keys(mcpServers).length);
    await gateway[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  },
);
