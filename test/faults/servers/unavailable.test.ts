import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { badServer, startGateway, type RunningGateway } from "../../harness/gateway.ts";
import { post } from "../../harness/rest.ts";
import { execute, rpc } from "../../harness/rpc.ts";
import { until } from "../../harness/until.ts";
import {
  discover,
  failureOf,
  faultyServer,
  startFaulty,
  untilOnline,
  type FaultyGateway,
  type FaultyServer,
} from "./faulty-gateway.ts";

describe("six different reasons why a tool cannot be offered, and six different answers", () => {
  let gateway: FaultyGateway;
  let locked: FaultyServer[];

  beforeAll(async () => {
    locked = [
      await faultyServer("http legacy", "--require-auth", "right-token"),
      await faultyServer("http modern", "--require-auth", "right-token"),
    ];
    gateway = await startFaulty({
      servers: {
        slow: badServer("--start-delay", "20000", "--tool-name", "weather"),
        "locked-legacy": locked[0]?.entry ?? {},
        "locked-modern": locked[1]?.entry ?? {},
        sleeping: { ...badServer("--tool-name", "weather"), idleTimeoutMs: 100 },
        broken: { command: "no-such-command-anywhere" },
        off: { ...badServer("--tool-name", "weather"), disabled: true },
        unset: { ...badServer("--tool-name", "weather"), env: { TOKEN: "${NOBODY_HAS_THIS}" } },
      },
      settings: { instances: { idleGraceMs: 0, idleCheckMs: 100 } },
    });
    await untilOnline(gateway, "sleeping");
  });
  afterAll(async () => {
    await gateway.endsClean();
    await gateway[Symbol.asyncDispose]();
    for (const server of locked) await server[Symbol.asyncDispose]();
  });

  interface Line {
    readonly server: string;
    readonly status: string;
    readonly reason: string;
    readonly action: string;
  }

  /** Those of a list of servers that say why they cannot be used. */
  const missing = async (): Promise<readonly Line[]> =>
    (await discover(gateway, { query: "" })).servers.filter((row: Line) => row.reason !== undefined);

  test("a list of servers has each that cannot be used once, with its status, reason and what to do", async () => {
    const lines = await until(async () => {
      const found = (await missing()).filter((line) => line.status !== "disabled");
      return found.some((line) => line.server === "locked-modern" && line.status === "requires_reauth")
        ? found
        : undefined;
    });
    const status = Object.fromEntries(lines.map((line) => [line.server, line.status]));
    expect(status).toMatchObject({
      "locked-legacy": "requires_reauth",
      "locked-modern": "requires_reauth",
      broken: "error",
      slow: "connecting",
    });
    // Switched off on purpose, or found as usual.
    expect(status).not.toHaveProperty("off");
    expect(status).not.toHaveProperty("unset");
    expect(status).not.toHaveProperty("sleeping");
    for (const line of lines) expect(line.reason.length * line.action.length, line.server).toBeGreaterThan(0);
    expect(lines.find((line) => line.server === "locked-legacy")?.action).toContain("toolyard login locked-legacy");
    expect(
      new Set(["locked-legacy", "broken", "slow"].map((slug) => lines.find((line) => line.server === slug)?.action))
        .size,
    ).toBe(3);
    await gateway.stillServes();
  });

  test("a question is told of those that it may be about, and how many others there are", async () => {
    const other = await discover(gateway, { query: "weather" });
    expect(other).not.toHaveProperty("unavailable");
    expect(other.unavailable_others).toBe(4);
    const about = await discover(gateway, { query: "what is in the broken one, weather" });
    expect(about.unavailable).toMatchObject([{ server: "broken", status: "error" }]);
    expect(about.unavailable_others).toBe(3);
    for (const [server, status] of [
      ["slow", "connecting"],
      ["broken", "error"],
      ["locked-legacy", "requires_reauth"],
    ])
      expect((await discover(gateway, { query: "weather", server })).unavailable).toMatchObject([{ server, status }]);
  });

  test("a server that is switched off, or lacks a variable, says so to who names it", async () => {
    const resources = await rpc(`${gateway.url}/mcp`, "tools/call", {
      name: "list_mcp_resources",
      arguments: { server: "off" },
    });
    const off = { server: "off", status: "disabled", reason: "disabled in the configuration" };
    expect(JSON.parse(resources.json.result.content[0].text).unavailable).toMatchObject([off]);
    expect((await discover(gateway, { query: "weather", server: "off" })).unavailable).toMatchObject([off]);
    expect((await discover(gateway, { query: "weather", server: "unset" })).unavailable).toMatchObject([
      {
        status: "disabled",
        reason: "the variable NOBODY_HAS_THIS is not set",
        action: expect.stringContaining("set the variable"),
      },
    ]);
  });

  test("a dormant server's tools are found as usual, and a call wakes it", async () => {
    await until(
      async () =>
        (await discover(gateway, { query: "" })).servers.find((row: Line) => row.server === "sleeping").status ===
        "dormant",
    );
    const found = await discover(gateway, { query: "weather" });
    expect(found.tools.map((tool: { tool_path: string }) => tool.tool_path)).toContain("sleeping:weather");
    expect((await execute(gateway.url, "sleeping:weather")).structuredContent).toMatchObject({ tool: "weather" });
  });

  test("a server that does not exist is an error that names the closest", async () => {
    const answer = await rpc(`${gateway.url}/mcp`, "tools/call", {
      name: "discover_mcp_tools",
      arguments: { query: "weather", server: "sleepin" },
    });
    expect(failureOf(answer.json.result)).toMatchObject({
      code: "SERVER_UNKNOWN",
      closest: expect.arrayContaining(["sleeping"]),
    });
  });

  test("execute says the same as discover: six codes for six conditions", async () => {
    const codes: Record<string, string> = {};
    for (const slug of ["slow", "locked-legacy", "locked-modern", "broken", "off"])
      codes[slug] = failureOf(await execute(gateway.url, `${slug}:weather`)).code;
    expect(codes).toEqual({
      slow: "SERVER_STARTING",
      "locked-legacy": "SERVER_NEEDS_LOGIN",
      "locked-modern": "SERVER_NEEDS_LOGIN",
      // Called, it is tried again: that says more.
      broken: "SPAWN_FAILED",
      off: "SERVER_DISABLED",
    });
    expect(failureOf(await execute(gateway.url, "nobody:weather")).code).toBe("TOOL_UNKNOWN");
    await gateway.stillServes();
  });
});

test("eight broken servers cost few tokens, unless the question is about them", async () => {
  const directory = await mkdtemp(join(tmpdir(), "toolyard-eight-"));
  const shop = join(directory, "shop");
  const { command, args } = badServer("--tool-name", "refund_order");
  const words = [command, ...args].map((word) => `'${word}'`).join(" ");
  await writeFile(shop, `#!/bin/sh\nexec ${words}\n`, { mode: 0o755 });
  const broken = Array.from({ length: 7 }, (_, at) => [`broken-${at}`, { command: "no-such-command-anywhere" }]);
  const servers = {
    forecast: badServer("--tool-name", "weather"),
    shop: { command: shop },
    ...Object.fromEntries(broken),
  };
  const statusOf = async (gateway: RunningGateway): Promise<Map<string, string>> => {
    const rows = (await discover(gateway, { query: "" })).servers as { server: string; status: string }[];
    return new Map(rows.map((row) => [row.server, row.status]));
  };
  try {
    const first = await startGateway({ config: { mcpServers: servers }, directory });
    await untilOnline(first, "shop", "forecast");
    expect(await first.stop()).toBe(0);
    // It ends at once from now on; its tools are known from before.
    await writeFile(shop, "#!/bin/sh\nexit 3\n");
    const settings = { instances: { restartDelaysMs: [1, 1, 1] } };
    await using gateway = await startGateway({ config: { mcpServers: servers, toolyard: settings }, directory });
    await untilOnline(gateway, "forecast");
    await post(`${gateway.url}/api/instances/shop/restart`);
    await until(async () => {
      const status = await statusOf(gateway);
      return (
        /failed|error/.test(status.get("shop") ?? "") &&
        broken.every(([slug]) => status.get(slug as string) === "error")
      );
    });
    const alone = countTokens(JSON.stringify(await discover(gateway, { query: "weather", server: "forecast" })));
    const other = await discover(gateway, { query: "weather" });
    expect(other).toMatchObject({ match: "good", tools: [{ tool_path: "forecast:weather" }], unavailable_others: 8 });
    expect(other).not.toHaveProperty("unavailable");
    expect(countTokens(JSON.stringify(other))).toBeLessThan(alone + 15);
    const about = await discover(gateway, { query: "refund an order" });
    expect(about).toMatchObject({ unavailable: [{ server: "shop" }], unavailable_others: 7 });
    expect(about.match).not.toBe("good");
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
});

describe("a command behind which something else is put", () => {
  let gateway: FaultyGateway;
  let directory: string;
  const commandOf = (slug: string): string => join(directory, slug);

  async function put(slug: string, ...flags: string[]): Promise<void> {
    const { command, args } = badServer(...flags);
    const words = [command, ...args].map((word) => `'${word}'`).join(" ");
    await writeFile(commandOf(slug), `#!/bin/sh\nexec ${words}\n`, { mode: 0o755 });
  }

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), "toolyard-mended-"));
    await put("upgraded", "--era", "legacy");
    gateway = await startFaulty({
      servers: Object.fromEntries(["late", "later", "upgraded"].map((slug) => [slug, { command: commandOf(slug) }])),
      settings: { instances: { callRetryMs: 1, probeIntervalMs: 3_600_000 } },
    });
  });

  afterAll(async () => {
    await gateway.endsClean();
    await rm(directory, { recursive: true });
  });

  test("FAULT 64: a server that never came up is tried again by a call", async () => {
    for (const slug of ["late", "later"]) {
      expect(failureOf(await execute(gateway.url, `${slug}:canary`)).code).toMatch(/^(SPAWN|SERVER)_FAILED$/);
      await put(slug);
    }
    expect(await execute(gateway.url, "late:canary")).toMatchObject({ structuredContent: { tool: "canary" } });
    const overRest = await post(`${gateway.url}/execute/later.canary`);
    expect(overRest.json).toMatchObject({ success: true, tool_path: "later:canary" });
  });

  test("a legacy server that became a modern one is understood", async () => {
    expect(await execute(gateway.url, "upgraded:canary")).toMatchObject({ structuredContent: { tool: "canary" } });
    await put("upgraded", "--era", "modern");
    expect((await post(`${gateway.url}/api/instances/upgraded/restart`)).status).toBeLessThan(300);
    expect(await execute(gateway.url, "upgraded:canary")).toMatchObject({ structuredContent: { tool: "canary" } });
  });
});

test("a search that failed is told from one that found nothing", async () => {
  const gateway = await startFaulty({
    servers: {
      many: badServer(
        "--tools",
        "20000",
        "--page-size",
        "2000",
        "--description",
        "lorem ipsum dolor sit amet ".repeat(8),
      ),
    },
    settings: { search: { engine: "fuse" } },
  });
  try {
    await until(async () =>
      (await discover(gateway, { query: "" })).servers.some(
        (row: { server: string; tools: number }) => row.server === "many" && row.tools === 20_000,
      ),
    );
    const failed = await discover(gateway, { query: "lorem ipsum dolor amet ".repeat(43) });
    expect(failed.tools).toEqual([]);
    expect(failed.unavailable[0]).toMatchObject({ status: "search_failed" });
    await gateway.stillServes();
  } finally {
    await gateway.endsClean();
    await gateway[Symbol.asyncDispose]();
  }
});
