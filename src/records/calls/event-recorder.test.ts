import { describe, expect, test } from "vitest";
import type { EventOf } from "../../kernel/events/event.ts";
import type { InstanceId, PrincipalId, ServerSlug } from "../../kernel/ids.ts";
import type { PublishedEvent } from "../../kernel/events/published-events.ts";
import type { EventRecord, ToolMetadata } from "../../store/record-rows.ts";
import { createEventToJson, type EventFacts } from "../events/event-json.ts";
import { createEventRecorder } from "./event-recorder.ts";

const facts: EventFacts = {
  installationOf: (instance) => instance,
  teamOf: (principal) => (principal === "anna" ? "acme" : undefined),
  isShown: (_instance, { path }) => path !== "files:hidden",
  countTokens: ({ path }) => path.length,
  redact: (text) => text.replaceAll("hunter2", "[redacted]"),
};

/** What it takes for a list waits for its turn where other work has taken this one. */
async function recorded(event: PublishedEvent) {
  const rows: [string, EventRecord | ToolMetadata][] = [];
  const sink = { append: (kind: string, row: object) => void rows.push([kind, row as never]) };
  createEventRecorder(sink as never, facts)(event);
  for (let turn = 0; turn < 100 && rows.length < 2; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  const of = <Row>(wanted: string) => rows.filter(([kind]) => kind === wanted).map(([, row]) => row as Row);
  return { events: of<EventRecord>("event"), tools: of<ToolMetadata>("tools") };
}

const about = {
  atMs: 5_000,
  instance: "files~anna" as InstanceId,
  server: "files" as ServerSlug,
  installation: "files~anna" as InstanceId,
  installationName: "Files",
  principal: "anna" as PrincipalId,
  team: undefined,
};

const discovered = (path: string, description: string) => ({
  path,
  upstreamName: path.split(":")[1] ?? "",
  definition: { name: path, description, inputSchema: { type: "object", required: [path] } },
});

describe("an event is recorded", () => {
  test("with whose it is, and what it says, without secrets", async () => {
    const stderr = ["the password is hunter2", "bye"];
    const crashed = { type: "mcp.server.crashed", ...about, exitCode: 1, signal: null, crashes: 2, stderr };
    const { events, tools } = await recorded(crashed as unknown as PublishedEvent);
    expect(tools).toEqual([]);
    expect(events).toHaveLength(1);
    expect(events[0]).toMatchObject({
      ...{ atMs: 5_000, type: "mcp.server.crashed", server: "files", instance: "files~anna" },
      ...{ installation: "files~anna", principal: "anna", team: "acme" },
    });
    expect(JSON.parse(events[0]?.detail ?? "")).toEqual({
      ...{ exit_code: 1, signal: null, crashes: 2, installation_name: "Files" },
      stderr: ["the password is [redacted]", "bye"],
    });
  });

  test("of the gateway itself belongs to nobody", async () => {
    const { events } = await recorded({ type: "gateway.stopping", atMs: 1, reason: "SIGTERM" });
    expect(events).toMatchObject([{ server: null, instance: null, installation: null, principal: null, team: null }]);
    expect(JSON.parse(events[0]?.detail ?? "")).toEqual({ reason: "SIGTERM" });
  });

  test("never with more than a page of text", async () => {
    const { events } = await recorded({ type: "config.refused", atMs: 1, file: "f", reason: "x".repeat(100_000) });
    expect(events[0]?.detail.length).toBeLessThanOrEqual(16_384);
  });
});

describe("the tools of a server are recorded", () => {
  const event = {
    type: "mcp.tools.discovered",
    ...about,
    tools: [
      discovered("files:read", "Reads with hunter2"),
      discovered("files:hidden", "Not offered"),
      discovered("files:write", "Writes"),
    ],
    resources: 0,
    prompts: 0,
    durationMs: 3,
  } as unknown as EventOf<"mcp.tools.discovered">;

  test("with what each costs and says, those that nobody may see left out", async () => {
    const { tools } = await recorded(event);
    expect(tools).toHaveLength(1);
    const [metadata] = tools;
    expect(metadata).toMatchObject({ installation: "files~anna", server: "files", discoveredAtMs: 5_000 });
    expect(metadata?.tools.map(({ path, description, tokens }) => [path, description, tokens])).toEqual([
      ["files:read", "Reads with [redacted]", 10],
      ["files:write", "Writes", 11],
    ]);
  });

  test("with a hash that another schema does not have, and the same one does", async () => {
    const hashes = (await recorded(event)).tools[0]?.tools.map(({ schemaHash }) => schemaHash) ?? [];
    expect(new Set(hashes).size).toBe(2);
    expect((await recorded(event)).tools[0]?.tools.map(({ schemaHash }) => schemaHash)).toEqual(hashes);
    for (const hash of hashes) expect(hash).toMatch(/^[0-9a-f]{64}$/);
  });

  test("in turns where they are many or large, and the event for others has the first ones", async () => {
    const many = Array.from({ length: 4_000 }, (_, at) =>
      discovered(`files:t${at}`, "漢".repeat(at % 2 === 0 ? 5 : 2_000)),
    );
    const large = { ...event, tools: [...many, discovered("files:last", `${"a ".repeat(100_000)}hunter2`)] };
    const tools = await new Promise<ToolMetadata>((resolve) => {
      const append = (kind: string, row: unknown): void => {
        if (kind === "tools") resolve(row as ToolMetadata);
      };
      createEventRecorder({ append } as never, facts)(large);
    });
    expect(tools.tools).toHaveLength(4_001);
    expect(tools.tools.at(-1)?.description.length).toBeLessThan(17_000);
    const text = createEventToJson(facts)(large, "whole");
    expect(text.length).toBeLessThan(1_000_000);
    const { data } = JSON.parse(text) as {
      readonly data: Record<string, number> & { readonly tools: readonly object[] };
    };
    expect(data["tool_count"]).toBe(4_001);
    expect(data.tools.length + (data["tools_omitted"] ?? 0)).toBe(4_001);
    expect(data["tools_omitted"]).toBeGreaterThan(1_000);
  });

  test("once: the event beside them only counts them", async () => {
    const detail = JSON.parse((await recorded(event)).events[0]?.detail ?? "") as Record<string, unknown>;
    expect(detail).toMatchObject({ server_slug: "files", tool_count: 2 });
    expect(detail).not.toHaveProperty("tools");
  });
});
