import { createHash } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { describe, expect, test } from "vitest";
import { runCommand } from "./harness/command.ts";
import { badServer, startGateway, type RunningGateway } from "./harness/gateway.ts";
import { get, untilOnline, type Headers } from "./harness/rest.ts";
import { until } from "./harness/until.ts";
import { connectClient, type AnsweringClient } from "./protocol/clients.ts";

const token = "a-token-of-ada";
/** Only `echo` is without phrases: one has them from here, and one shall have none. */
const phrases = { canary: ["is the bird alive"], fail: [] };
const configOf = (toolyard: object = {}) => ({
  mcpServers: { bad: { ...badServer("--behaviours=canary,echo,fail"), tools: { phrases } } },
  toolyard: { search: { enrich: { from: "client" } }, ...toolyard },
});
const question = { name: "discover_mcp_tools", arguments: { query: "are my wellingtons dry" } };
const writes = (text: string) => ({
  "sampling/createMessage": { role: "assistant", content: { type: "text", text }, model: "a-model" },
});

interface Enrichment {
  readonly state: string;
  readonly asked: number;
  readonly failed: number;
  readonly promptTokens: number;
  readonly answerTokens: number;
  readonly isExact: boolean;
}

async function reportOf({ url }: RunningGateway, headers: Headers = {}) {
  const { json } = await get(`${url}/api/usage/tokens`, headers);
  return json as unknown as { readonly phrases: Readonly<Record<string, number>>; readonly enrichment: Enrichment };
}

async function found({ client }: Pick<AnsweringClient, "client">): Promise<string[]> {
  const { content } = await client.callTool(question);
  const [block] = content as readonly { readonly text: string }[];
  const { tools } = JSON.parse(block?.text ?? "{}") as { tools: { tool_path: string }[] };
  return tools.map((tool) => tool.tool_path);
}

/** Searches until the enrichment has had its chance with all clients that there are. */
async function searchUntil(gateway: RunningGateway, client: AnsweringClient, state: string, headers: Headers = {}) {
  await found(client);
  await until(async () => (await reportOf(gateway, headers)).enrichment.state === state);
}

describe("phrases by the connected client", () => {
  test("are written once per tool by its model, found, told by tokens, and there after a start", async () => {
    const directory = await mkdtemp(join(tmpdir(), "toolyard-enrich-"));
    try {
      {
        await using gateway = await startGateway({ config: configOf(), directory });
        await untilOnline(gateway.url);
        expect((await reportOf(gateway)).phrases).toEqual({ config: 1, server: 0, book: 0, enrich: 0, none: 2 });
        await using lender = await connectClient(`${gateway.url}/mcp`, "legacy", {
          answers: writes('Here:\n["are my wellingtons dry", "wet feet", "rain", "a fourth one"]'),
        });
        expect(lender.asked).toEqual([]);
        await searchUntil(gateway, lender, "idle");
        await until(async () => (await found(lender))[0] === "bad:echo");
        const [asked, ...others] = lender.asked;
        expect(others).toEqual([]);
        expect(asked).toMatchObject({
          method: "sampling/createMessage",
          params: { maxTokens: 400, includeContext: "none" },
        });
        expect(JSON.stringify(asked)).toContain("echo");
        expect(JSON.stringify(asked)).not.toContain("wellingtons");
        const report = await reportOf(gateway);
        expect(report.phrases).toEqual({ config: 1, server: 0, book: 0, enrich: 1, none: 1 });
        expect(report.enrichment).toMatchObject({ asked: 1, failed: 0, isExact: false });
        expect(report.enrichment.promptTokens).toBeGreaterThan(report.enrichment.answerTokens);
        const where = ["--data-dir", join(directory, "data"), "--config", gateway.configFile];
        const text = (await runCommand(["tokens", ...where])).stdout;
        expect(text).toMatch(/tools with phrases +2 of 3: config 1, enrich 1\n/);
        expect(text).toMatch(/spent on writing phrases +~\d+ \(prompts \d+, answers \d+\)\n/);
        expect(JSON.parse((await runCommand(["tokens", "--json", ...where])).stdout)).toMatchObject({
          phrases: report.phrases,
          enrichment: report.enrichment,
        });
      }
      await using again = await startGateway({ config: configOf(), directory });
      await untilOnline(again.url);
      await using lender = await connectClient(`${again.url}/mcp`, "legacy", { answers: writes('["other"]') });
      expect((await found(lender))[0]).toBe("bad:echo");
      expect((await reportOf(again)).enrichment).toMatchObject({ state: "idle", asked: 1 });
      expect(lender.asked).toEqual([]);
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  });

  test("no client is asked that is modern, lends no model, or sees a single server; one that does is asked at once", async () => {
    await using gateway = await startGateway({ config: configOf() });
    await untilOnline(gateway.url);
    const answers = writes('["are my wellingtons dry"]');
    await using modern = await connectClient(`${gateway.url}/mcp`, "modern", { answers });
    await using plain = await connectClient(`${gateway.url}/mcp`, "legacy", { capabilities: { roots: {} } });
    await using single = await connectClient(`${gateway.url}/mcp/server/bad`, "legacy", { answers });
    await searchUntil(gateway, modern, "waiting for a client");
    await searchUntil(gateway, plain, "waiting for a client");
    await using lender = await connectClient(`${gateway.url}/mcp`, "legacy", { answers });
    await until(() => lender.asked.length === 1);
    await until(async () => (await found(plain))[0] === "bad:echo");
    expect([modern.asked, plain.asked, single.asked]).toEqual([[], [], []]);
  });

  test("where there are several people nobody's client writes what others would find", async () => {
    const people = {
      principals: {
        ada: { tokenHash: `sha256:${createHash("sha256").update(token).digest("hex")}`, roles: ["admin"] },
      },
      instances: { scope: "shared" },
    };
    await using gateway = await startGateway({ config: configOf(people) });
    const headers = { authorization: `Bearer ${token}` };
    const transport = new StreamableHTTPClientTransport(new URL(`${gateway.url}/mcp`), { requestInit: { headers } });
    await using lender = await connectClient(`${gateway.url}/mcp`, "legacy", { answers: writes('["x"]'), transport });
    await until(async () => (await found(lender)) !== undefined);
    await until(async () => {
      await found(lender);
      return (await reportOf(gateway, headers)).enrichment.state === "waiting for a client";
    });
    expect(lender.asked).toEqual([]);
  });

  test("a person who says no is asked once, and not again by the same program's next session", async () => {
    await using gateway = await startGateway({ config: configOf() });
    await untilOnline(gateway.url);
    let refusals = 0;
    const connect = async (): Promise<Client> => {
      const client = new Client({ name: "shy", version: "1" }, { capabilities: { sampling: {} } });
      client.setRequestHandler("sampling/createMessage", () => {
        refusals += 1;
        throw new Error("the user said no");
      });
      await client.connect(new StreamableHTTPClientTransport(new URL(`${gateway.url}/mcp`)));
      return client;
    };
    const first = await connect();
    await first.callTool(question);
    await until(() => refusals === 1);
    await until(async () => (await reportOf(gateway)).enrichment.state === "waiting for a client");
    expect((await reportOf(gateway)).enrichment).toMatchObject({ asked: 1, failed: 1 });
    const second = await connect();
    await second.callTool(question);
    // Another program may still be asked, so that what waited was not lost.
    await using lender = await connectClient(`${gateway.url}/mcp`, "legacy", { answers: writes('["wellingtons"]') });
    await until(async () => (await found(lender))[0] === "bad:echo");
    expect(refusals).toBe(1);
    await Promise.all([first.close(), second.close()]);
  });

  test("a client that leaves before it answers costs nothing, and the next one is asked", async () => {
    await using gateway = await startGateway({ config: configOf() });
    await untilOnline(gateway.url);
    let asked = 0;
    const silent = new Client({ name: "silent", version: "1" }, { capabilities: { sampling: {} } });
    silent.setRequestHandler("sampling/createMessage", async () => {
      asked += 1;
      return await new Promise<never>(() => undefined);
    });
    const transport = new StreamableHTTPClientTransport(new URL(`${gateway.url}/mcp`));
    await silent.connect(transport);
    await silent.callTool(question);
    await until(() => asked === 1);
    await transport.terminateSession();
    await silent.close();
    await using lender = await connectClient(`${gateway.url}/mcp`, "legacy", { answers: writes('["wellingtons"]') });
    await until(async () => (await found(lender))[0] === "bad:echo");
    expect(lender.asked).toHaveLength(1);
  });
});
