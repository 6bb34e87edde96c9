import { countText } from "../../src/kernel/text/number-text.ts";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { estimateTokens } from "../../src/catalog/exposure/text/token-estimate.ts";
import { runCommand } from "../harness/command.ts";
import { badServer, startGateway, type RunningGateway } from "../harness/gateway.ts";
import { as, knownPeople } from "../harness/known-people.ts";
import { get, run, untilOnline, type Headers } from "../harness/rest.ts";
import { rpc } from "../harness/rpc.ts";
import { until } from "../harness/until.ts";

const exact = (text: string): number => countTokens(text, { disallowedSpecial: new Set() });

interface Group {
  readonly group: Readonly<Record<string, string | null>>;
  readonly calls: number;
  readonly errors: number;
  readonly lastHour: string;
  readonly latency: readonly number[];
  readonly durationMs: { readonly sum: number; readonly max: number };
  readonly argumentTokens: number;
  readonly resultTokens: number;
}

async function usage(gateway: RunningGateway, query: string, headers: Headers): Promise<readonly Group[]> {
  return (await get(`${gateway.url}/api/usage?${query}`, headers)).json.usage as readonly Group[];
}

const counts = (groups: readonly Group[], by: string): Record<string, number> =>
  Object.fromEntries(groups.map(({ group, calls }) => [String(group[by]), calls]));

describe("what was used", () => {
  let gateway: RunningGateway;
  const called = (tool: string, args: object, headers: Headers) =>
    rpc(
      `${gateway.url}/mcp`,
      "tools/call",
      { name: "execute_mcp_tool", arguments: { tool_path: tool, arguments: args } },
      headers,
    );

  beforeAll(async () => {
    const shared = { scope: "shared" };
    gateway = await startGateway({
      config: {
        mcpServers: {
          one: { ...badServer("--behaviours=canary,echo,fail,rpc-error"), ...shared },
          two: { ...badServer("--behaviours=canary"), ...shared },
        },
        toolyard: {
          principals: knownPeople,
        },
      },
    });
    await untilOnline(gateway.url, as("root"));
    for (let at = 0; at < 3; at += 1) await called("one:canary", {}, as("alice"));
    await called("one:echo", { text: "x".repeat(3_600) }, as("alice"));
    await called("two:canary", {}, as("bob"));
    await run(gateway.url, "two:canary", {}, as("bob"));
    await called("one:rpc-error", {}, as("bob"));
  });
  afterAll(async () => await gateway[Symbol.asyncDispose]());

  test("is told by tool, person, hour and code, as it was called", async () => {
    const root = as("root");
    expect(counts(await usage(gateway, "by=tool", root), "tool")).toEqual({
      "one:canary": 3,
      "one:echo": 1,
      "one:rpc-error": 1,
      "two:canary": 2,
    });
    expect(counts(await usage(gateway, "by=principal", root), "principal")).toEqual({ alice: 4, bob: 3 });
    expect(counts(await usage(gateway, "by=server&principal=bob", root), "server")).toEqual({ one: 1, two: 2 });
    const byCode = await usage(gateway, "by=code,server", root);
    const failed = byCode.filter(({ group }) => group["code"] !== "");
    expect(failed).toMatchObject([{ group: { server: "one" }, calls: 1, errors: 1 }]);
    expect(Number(failed[0]?.group["code"])).toBeLessThan(0);
    const [all] = await usage(gateway, "", root);
    expect(all).toMatchObject({ group: {}, calls: 7, errors: 1 });
    expect(all?.latency.reduce((sum, calls) => sum + calls, 0)).toBe(7);
    expect(all?.durationMs.sum).toBeGreaterThanOrEqual(all?.durationMs.max ?? Number.NaN);
    const hours = await usage(gateway, "by=hour", root);
    const [hour] = hours;
    expect(all?.lastHour).toBe(hours.at(-1)?.group["hour"]);
    expect(new Date(hour?.group["hour"] ?? "").getTime() % 3_600_000).toBe(0);
    const [echo] = await usage(gateway, "tool=one:echo", root);
    // Estimates, from bytes: 3,600 of text and a little JSON.
    for (const tokens of [echo?.argumentTokens, echo?.resultTokens]) expect(tokens).toBeGreaterThanOrEqual(1_000);
    expect(echo?.argumentTokens).toBeLessThan(1_020);
  });

  test("everybody sees their own; an admin sees everybody's", async () => {
    expect(counts(await usage(gateway, "by=principal", as("alice")), "principal")).toEqual({ alice: 4 });
    expect(counts(await usage(gateway, "by=principal&principal=alice", as("alice")), "principal")).toEqual({
      alice: 4,
    });
    for (const path of ["/api/usage?principal=bob", "/api/usage/tokens?principal=bob"]) {
      const refused = await get(gateway.url + path, as("alice"));
      expect([refused.status, refused.json.code]).toEqual([403, "FORBIDDEN"]);
    }
    expect((await get(`${gateway.url}/api/usage`)).status).toBe(401);
  });

  test("the last hour is told by the minute, to everybody of their own calls", async () => {
    const sumOf = async (who: string): Promise<readonly number[]> => {
      const { minutes, since } = (await get(`${gateway.url}/api/usage/minutes`, as(who))).json as {
        since: string;
        minutes: { from: string; calls: number; errors: number }[];
      };
      expect(minutes).toHaveLength(60);
      expect(Date.parse(minutes.at(-1)?.from ?? "") % 60_000).toBe(0);
      expect(Date.parse(since)).toBeLessThanOrEqual(Date.now());
      return [minutes.reduce((sum, { calls }) => sum + calls, 0), minutes.reduce((sum, { errors }) => sum + errors, 0)];
    };
    expect([await sumOf("alice"), await sumOf("bob"), await sumOf("root")]).toEqual([
      [4, 0],
      [3, 1],
      [7, 1],
    ]);
  });

  test("is CSV for whoever asks for it, with the same figures", async () => {
    const json = await usage(gateway, "by=tool,principal", as("root"));
    const byAccept = await get(`${gateway.url}/api/usage?by=tool,principal`, { ...as("root"), accept: "text/csv" });
    const byFormat = await get(`${gateway.url}/api/usage?by=tool,principal&format=csv`, as("root"));
    expect(byAccept.headers["content-type"]).toBe("text/csv; charset=utf-8");
    expect(byFormat.text).toBe(byAccept.text);
    const [head, ...rows] = byAccept.text
      .trimEnd()
      .split("\r\n")
      .map((line) => line.split(","));
    expect(head?.slice(0, 4)).toEqual(["tool", "principal", "calls", "errors"]);
    expect(rows.map((row) => row.slice(0, 4))).toEqual(
      json.map(({ group, calls, errors }) => [group["tool"], group["principal"], String(calls), String(errors)]),
    );
    for (const row of rows) expect(row).toHaveLength(head?.length ?? 0);
  });

  test.each([
    ["by=hour,day,tool,server", "by"],
    ["by=tool,tool", "by"],
    ["by=password", "by"],
    ["from=yesterday", "from"],
    ["from=2026-01-02&to=2026-01-01", "from"],
    ["format=xml", "format"],
  ])("a question that cannot be answered is refused: %s", async (query, field) => {
    const { status, json } = await get(`${gateway.url}/api/usage?${query}`, as("root"));
    expect([status, json.code, json.field]).toEqual([400, "PARAMS_INVALID", `querystring.${field}`]);
  });

  test("before anything happened, nothing was used", async () => {
    expect(await usage(gateway, "from=0&to=3600000&by=tool", as("root"))).toEqual([]);
    const { json } = await get(`${gateway.url}/api/usage?from=0&to=3600000`, as("root"));
    expect(json).toMatchObject({ from: "1970-01-01T00:00:00.000Z", to: "1970-01-01T01:00:00.000Z", usage: [] });
  });
});

describe("a gateway that is started again", () => {
  async function callTwice(directory: string, toolyard: object): Promise<readonly unknown[]> {
    const seen: unknown[] = [];
    for (const lives of [1, 2]) {
      const gateway = await startGateway({
        config: { mcpServers: { one: badServer("--behaviours=canary") }, toolyard },
        directory,
      });
      await untilOnline(gateway.url);
      await run(gateway.url, "one:canary");
      const { usage: groups, since } = (await get(`${gateway.url}/api/usage?by=tool`)).json;
      seen.push([lives, groups[0]?.calls, since === null]);
      await gateway.stop();
    }
    return seen;
  }

  test("knows what was used before; without a store it says since when it knows", async () => {
    const directory = await mkdtemp(join(tmpdir(), "toolyard-usage-"));
    try {
      expect(await callTwice(directory, { records: { store: "off" } })).toEqual([
        [1, 1, false],
        [2, 1, false],
      ]);
      const [[, first], second] = (await callTwice(directory, {})) as [[number, number, boolean], unknown];
      expect([first, second]).toEqual([1, [2, 2, true]]);
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  });
});

describe("what tools cost", () => {
  interface Report {
    readonly flat: { readonly tokens: number; readonly isExact: boolean };
    readonly here: { readonly exposure: string; readonly tokens: number; readonly isExact: boolean };
    readonly savedAtStart: { readonly tokens: number };
    readonly spentOnFinding: Readonly<Record<string, number>>;
    readonly sessions: {
      readonly count: number;
      readonly sinceMs: number;
      readonly medianNet: number;
      readonly worstNet: number;
    };
  }
  const config = {
    mcpServers: { one: badServer("--behaviours=canary,echo,fail"), two: badServer("--tools=40") },
  };

  async function tokens(gateway: RunningGateway, query = ""): Promise<Report> {
    return await until(async () => {
      const report = (await get(`${gateway.url}/api/usage/tokens${query}`)).json as Report;
      return report.flat.isExact && report.here.isExact ? report : undefined;
    });
  }

  async function connect(url: string, name: string): Promise<Client> {
    const client = new Client({ name, version: "1" });
    await client.connect(new StreamableHTTPClientTransport(new URL(url)));
    return client;
  }

  /** What a client is given to read before the first word, counted with the tokenizer itself. */
  async function readAtStart(url: string): Promise<number> {
    const { json } = await rpc(url, "tools/list");
    const initialized = await rpc(url, "initialize", {
      protocolVersion: "2025-11-25",
      capabilities: {},
      clientInfo: { name: "counter", version: "1" },
    });
    const items = (json.result.tools as readonly object[]).map((tool) => exact(JSON.stringify(tool)));
    return items.reduce((sum, count) => sum + count, 0) + exact(initialized.json.result.instructions);
  }

  test("is what the tokenizer counts of the lists that clients get", async () => {
    await using gateway = await startGateway({ config });
    await untilOnline(gateway.url);
    const report = await tokens(gateway);
    const flat = await readAtStart(`${gateway.url}/mcp/flat`);
    const here = await readAtStart(`${gateway.url}/mcp`);
    expect([report.flat.tokens, report.here.tokens]).toEqual([flat, here]);
    expect(report.savedAtStart.tokens).toBe(flat - here);
    expect((await tokens(gateway, "?exposure=flat")).savedAtStart.tokens).toBe(0);
  });

  test("sessions and what was spent on finding are still known after a restart", async () => {
    const directory = await mkdtemp(join(tmpdir(), "toolyard-tokens-"));
    try {
      const first = await startGateway({ directory, config });
      await untilOnline(first.url);
      const client = await connect(`${first.url}/mcp`, "before");
      await client.listTools();
      await client.callTool({ name: "discover_mcp_tools", arguments: { query: "echo a text" } });
      const before = await tokens(first);
      await client.close();
      expect(await first.stop()).toBe(0);
      await using second = await startGateway({ directory, config });
      await untilOnline(second.url);
      const after = await until(async () => {
        const report = await tokens(second);
        return report.sessions.count > 0 && report;
      });
      expect(after.sessions).toEqual(before.sessions);
      expect(after.spentOnFinding).toEqual(before.spentOnFinding);
      const again = await connect(`${second.url}/mcp`, "after");
      await again.listTools();
      const both = await tokens(second);
      expect(both.sessions).toMatchObject({ count: 2, worstNet: before.sessions.worstNet });
      expect(both.sessions.sinceMs).toBe(before.sessions.sinceMs);
      const flags = ["--config", second.configFile, "--data-dir", join(directory, "data")];
      const day = new Date(before.sessions.sinceMs).toISOString().slice(0, 10);
      expect((await runCommand(["tokens", ...flags])).stdout).toMatch(
        new RegExp(`^ {2}net per session, of 2 since ${day} +median `, "m"),
      );
      await again.close();
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  });

  test("finding is measured, and taken off what each session saved", async () => {
    await using gateway = await startGateway({ config });
    await untilOnline(gateway.url);
    const { savedAtStart } = await tokens(gateway);
    const idle = await connect(`${gateway.url}/mcp`, "idle");
    await idle.listTools();
    const busy = await connect(`${gateway.url}/mcp`, "busy");
    await busy.listTools();
    const found = await busy.callTool({ name: "discover_mcp_tools", arguments: { query: "echo a text" } });
    const [block] = found.content as readonly { readonly text: string }[];
    const answer = block?.text ?? "";
    expect(answer).toContain("one:echo");
    await busy.callTool({ name: "execute_mcp_tool", arguments: { tool_path: "one:canary", arguments: {} } });
    const report = await tokens(gateway);
    const spent = report.spentOnFinding;
    expect(spent).toMatchObject({ answers: 1, answerTokens: estimateTokens(answer), wrappedCalls: 1 });
    expect(spent["tokens"]).toBe((spent["answerTokens"] ?? 0) + (spent["wrappingTokens"] ?? 0));
    expect(spent["wrappingTokens"]).toBeGreaterThan(0);
    const worst = savedAtStart.tokens - (spent["tokens"] ?? 0);
    expect(report.sessions).toMatchObject({ count: 2, worstNet: worst, medianNet: worst, unknown: [] });
    // A call by the tool's own name wraps nothing.
    await busy.callTool({ name: "one:canary", arguments: {} });
    expect((await tokens(gateway)).spentOnFinding).toEqual(spent);
    await Promise.all([idle.close(), busy.close()]);
  });

  test("`toolyard tokens` and the page tell the same as REST", async () => {
    await using gateway = await startGateway({ config });
    await untilOnline(gateway.url);
    const claude = await connect(`${gateway.url}/mcp`, "claude-code");
    await claude.listTools();
    const where = ["--data-dir", `${gateway.directory}/data`, "--config", gateway.configFile];
    const { stdout, code } = await runCommand(["tokens", "--json", ...where]);
    const report = await tokens(gateway);
    expect([code, JSON.parse(stdout)]).toEqual([0, report]);
    const text = (await runCommand(["tokens", ...where])).stdout;
    const flat = countText(report.flat.tokens);
    expect(text).toMatch(new RegExp(`flat: the list of /mcp/flat +${flat}\n`));
    expect(text).toMatch(/two +40 +[\d,]+\n/);
    expect(text).toContain("unknown for 1 of claude-code");
    expect((await get(gateway.url)).text).toContain(
      `A model reads ${report.here.tokens} tokens of definitions, instead of ${flat} for all tools.`,
    );
    await claude.close();
  });
});
