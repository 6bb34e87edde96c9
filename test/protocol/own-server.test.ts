import { expect, test } from "vitest";
import { mainFile, startGateway, type RunningGateway } from "../harness/gateway.ts";
import { get } from "../harness/rest.ts";
import { until } from "../harness/until.ts";
import { writeFile } from "node:fs/promises";

async function reasonOf(gateway: RunningGateway, server: string): Promise<string> {
  return await until(async () => {
    const { instances } = (await get(`${gateway.url}/api/instances`)).json;
    const found = instances.find((instance: { server: string }) => instance.server === server);
    return found?.status === "error" && String(found.reason);
  });
}

const pointingTo = (url: string): string => JSON.stringify({ mcpServers: { other: { type: "http", url } } });

test.each(["/mcp", "/mcp/flat"])(
  "a gateway that has itself as a server, at %s, says so and does not list itself",
  async (path) => {
    await using gateway = await startGateway({ config: { mcpServers: {} } });
    await writeFile(gateway.configFile, pointingTo(`${gateway.url}${path}`));
    expect(await reasonOf(gateway, "other")).toContain("is this gateway, or leads back to it");
  },
);

test("a gateway that has itself as a server over stdio says so", async () => {
  await using gateway = await startGateway({ config: { mcpServers: {} } });
  const args = [mainFile, "stdio", "--config", gateway.configFile, "--data-dir", `${gateway.directory}/data`];
  await writeFile(gateway.configFile, JSON.stringify({ mcpServers: { self: { command: process.execPath, args } } }));
  expect(await reasonOf(gateway, "self")).toContain("is this gateway");
});

test("two gateways that have each other: the second does not become its own server's server", async () => {
  await using one = await startGateway({ config: { mcpServers: {} } });
  await using two = await startGateway({ config: JSON.parse(pointingTo(`${one.url}/mcp`)) });
  await until(async () => (await get(`${two.url}/api/instances`)).json.instances[0].status === "online");
  await writeFile(one.configFile, pointingTo(`${two.url}/mcp`));
  expect(await reasonOf(one, "other")).toContain("leads back to it");
});

test("a gateway in a gateway in a gateway has an end", async () => {
  const outer = Array.from({ length: 4 }, (_, at) => `${"0123456789abcdef".repeat(2)}.${at}`).join("/");
  const started = startGateway({ config: { mcpServers: {} }, env: { TOOLYARD_INSTANCE: outer } });
  await expect(started).rejects.toThrow(/4 levels deep/);
});
