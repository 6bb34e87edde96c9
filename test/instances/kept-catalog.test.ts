import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { badServer, startGateway } from "../harness/gateway.ts";
import { execute, rpc } from "../harness/rpc.ts";
import { until } from "../harness/until.ts";
import { onlyPlace } from "../harness/places.ts";
import { childrenOf, discover, startsIn } from "./observing.ts";

let directory: string;
beforeEach(async () => void (directory = await mkdtemp(join(tmpdir(), "toolyard-kept-"))));
afterEach(async () => await rm(directory, { recursive: true, force: true }));

const pidFile = (server: string): string => join(directory, `${server}.pids`);

function fifty(change: (server: string) => string[] = () => []): { mcpServers: Record<string, object> } {
  const names = Array.from({ length: 50 }, (_value, index) => `server-${index}`);
  return {
    mcpServers: Object.fromEntries(
      names.map((name) => [name, badServer("--tools", "3", "--write-pid", pidFile(name), ...change(name))]),
    ),
  };
}

const toolCount = async (url: string): Promise<number> =>
  ((await discover(url, { query: "" })) as { total_tools: number }).total_tools;

test("a restart with 50 servers answers at once from what was kept, and starts none of them until it is needed", async () => {
  {
    await using first = await startGateway({ config: fifty(), directory });
    await until(async () => (await toolCount(first.url)) === 150, 120_000);
  }
  await using gateway = await startGateway({ config: fifty(), directory });
  // The very first requests: nothing is waited for.
  expect((await rpc(`${gateway.url}/mcp`, "tools/list")).json.result.tools).toHaveLength(4);
  expect((await rpc(`${gateway.url}/mcp/flat`, "tools/list")).json.result.tools).toHaveLength(150);
  expect(await toolCount(gateway.url)).toBe(150);
  const found = await discover(gateway.url, { query: "tool-1 of server-7", server: "server-7" });
  expect(found.tools.length).toBeGreaterThan(0);
  for (let index = 0; index < 50; index += 1) expect(startsIn(pidFile(`server-${index}`))).toHaveLength(1);
  expect(childrenOf(gateway.process.pid)).toEqual([]);

  await execute(gateway.url, "server-7:tool-1");
  expect(startsIn(pidFile("server-7"))).toHaveLength(2);
  expect(startsIn(pidFile("server-8"))).toHaveLength(1);
});

test("a configuration that was changed meanwhile makes only its own server's tools unknown", async () => {
  const three = (extra: string[]): object => ({
    mcpServers: Object.fromEntries(
      ["a", "b", "c"].map((name) => [
        name,
        badServer("--tools", "2", "--write-pid", pidFile(name), ...(name === "b" ? extra : [])),
      ]),
    ),
  });
  {
    await using first = await startGateway({ config: three([]), directory });
    await until(async () => (await toolCount(first.url)) === 6);
  }
  await using gateway = await startGateway({ config: three(["--tool-name", "new"]), directory });
  await until(async () => (await toolCount(gateway.url)) === 7);
  expect(["a", "b", "c"].map((name) => startsIn(pidFile(name)).length)).toEqual([1, 2, 1]);
});

test("files that were cut, emptied or written by somebody else are as if they were not there", async () => {
  const { readdir, readFile, truncate, writeFile } = await import("node:fs/promises");
  const config = {
    mcpServers: Object.fromEntries(
      ["a", "b", "c", "d"].map((name) => [name, badServer("--tools", "2", "--write-pid", pidFile(name))]),
    ),
  };
  {
    await using first = await startGateway({ config, directory });
    await until(async () => (await toolCount(first.url)) === 8);
  }
  const catalog = join(onlyPlace(join(directory, "data")), "catalog");
  const [a = "", b = "", c = "", d = ""] = (await readdir(catalog)).sort();
  await truncate(join(catalog, a), 100);
  await truncate(join(catalog, b), 0);
  await writeFile(join(catalog, c), '{"format":1,"hash":"x","savedAtMs":0,"lists":{"tools":7}}');
  const kept = JSON.parse(await readFile(join(catalog, d), "utf8")) as { lists: object };
  await writeFile(join(catalog, d), JSON.stringify({ ...kept, lists: { ...kept.lists, instructions: { odd: true } } }));
  await using gateway = await startGateway({ config, directory });
  await until(async () => (await toolCount(gateway.url)) === 8);
  expect(["a", "b", "c", "d"].map((name) => startsIn(pidFile(name)).length)).toEqual([2, 2, 2, 2]);
});
