import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { discover, untilOnline } from "./faults/servers/faulty-gateway.ts";
import { says, startChatEndpoint } from "./harness/chat-endpoint.ts";
import { badServer, startGateway, type RunningGateway } from "./harness/gateway.ts";
import { get } from "./harness/rest.ts";
import { until } from "./harness/until.ts";

const question = { query: "are my wellingtons dry" };

async function enrichmentOf(gateway: RunningGateway): Promise<Record<string, unknown>> {
  const { json } = await get(`${gateway.url}/api/status/debug`);
  return (json as { enrichment: Record<string, unknown> }).enrichment;
}

async function found(gateway: RunningGateway): Promise<string[]> {
  const { tools } = (await discover(gateway, question)) as { tools: { tool_path: string }[] };
  return tools.map((tool) => tool.tool_path);
}

test("a model writes phrases in the background; the next start has them, and the key is in no log", async () => {
  const directory = await mkdtemp(join(tmpdir(), "toolyard-enrich-"));
  await using endpoint = await startChatEndpoint(({ tool }) =>
    says(JSON.stringify([tool.tool === "echo" ? "wellingtons" : "none of it"])),
  );
  const config = {
    mcpServers: { bad: badServer() },
    toolyard: {
      debugRoute: true,
      search: {
        enrich: { url: endpoint.url, model: "small", apiKey: "very-secret-key", parallel: 4, toolsPerMinute: 1_000 },
      },
    },
  };
  try {
    {
      await using gateway = await startGateway({ config, directory });
      await untilOnline(gateway, "bad");
      expect(endpoint.requests).toEqual([]);
      expect(await found(gateway)).not.toContain("bad:echo");
      await until(async () => (await enrichmentOf(gateway))["state"] === "idle");
      await until(async () => (await found(gateway))[0] === "bad:echo");
      expect(await enrichmentOf(gateway)).toMatchObject({ waiting: 0, givenUp: 0, written: endpoint.requests.length });
      expect(gateway.stdout() + gateway.stderr()).not.toContain("very-secret-key");
    }
    const asked = endpoint.requests.length;
    await using again = await startGateway({ config, directory });
    await untilOnline(again, "bad");
    expect((await found(again))[0]).toBe("bad:echo");
    expect(endpoint.requests).toHaveLength(asked);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
});

test("phrases of the server and of the configuration are searched, and cost an answer nothing", async () => {
  const config = {
    mcpServers: { bad: { ...badServer(), tools: { phrases: { echo: ["are my wellingtons dry"] } } } },
  };
  await using gateway = await startGateway({ config });
  await untilOnline(gateway, "bad");
  expect((await found(gateway))[0]).toBe("bad:echo");
  expect(JSON.stringify(await discover(gateway, question))).not.toContain('wellingtons dry"]');
  await using refused = await startGateway({
    config: { mcpServers: { bad: { ...badServer(), tools: { phrases: { echo: ["x".repeat(101)] } } } } },
  });
  await until(
    () =>
      refused.stderr().includes("expected at most 100 characters") ||
      refused.stdout().includes("expected at most 100 characters"),
  );
});
