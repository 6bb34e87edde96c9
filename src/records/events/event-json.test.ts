import { expect, test } from "vitest";
import type { InstanceId, PrincipalId, ServerSlug } from "../../kernel/ids.ts";
import type { PublishedEvent } from "../../kernel/events/published-events.ts";
import { createEventToJson, type EventFacts } from "./event-json.ts";
import { parseExact } from "../../wire/json/exact-json.ts";

const facts: EventFacts = {
  installationOf: (instance) => instance.split("@")[0] as InstanceId,
  teamOf: (principal) => (principal === "alice" ? "acme" : undefined),
  isShown: (_instance, { upstreamName }) => upstreamName !== "hidden",
  countTokens: () => 7,
  redact: (text) => text.replaceAll("s3cret", "[redacted]").replaceAll("424242", "[redacted]"),
};
const write = createEventToJson(facts);
const written = (...given: Parameters<typeof write>): unknown => JSON.parse(write(...given));

const about = {
  atMs: 1_000,
  instance: "files@1" as InstanceId,
  server: "files" as ServerSlug,
  installation: "files" as InstanceId,
  principal: undefined,
  team: undefined,
};
const request: PublishedEvent = {
  type: "mcp.request.logs",
  atMs: 1_000,
  instance: about.instance,
  server: about.server,
  principal: "alice" as PrincipalId,
  team: null,
  via: "http",
  client: "somebody",
  method: "tools/call",
  name: "read_file",
  path: "files:read_file",
  durationMs: 3,
  waitMs: 0,
  argumentBytes: 2,
  resultBytes: 5,
  cutTokens: 0,
  serverCode: undefined,
  outcome: "ok",
};

test("an event that does not say its installation is completed", () => {
  expect(written({ ...request, team: "acme" }, "whole")).toMatchObject({
    type: "mcp.request.logs",
    time: "1970-01-01T00:00:01.000Z",
    server: "files",
    instance: "files@1",
    installation: "files",
    principal: "alice",
    team: "acme",
    data: { method: "tools/call", name: "read_file", path: "files:read_file", duration_ms: 3, outcome: "ok" },
  });
  const search: PublishedEvent = {
    type: "search.done",
    atMs: 0,
    principal: "alice" as PrincipalId,
    engine: "lexical",
    results: 1,
    durationMs: 1,
  };
  expect(written(search, "whole")).toMatchObject({ principal: "alice", team: "acme", instance: null });
});

test("as metadata, a request has neither a name nor any member that is added to it later", () => {
  const more = { ...request, added: "content" } as PublishedEvent;
  expect(written(more, "metadata")).toMatchObject({
    data: { method: "tools/call", duration_ms: 3, outcome: "ok", result_bytes: 5 },
  });
  expect(write(more, "metadata")).not.toMatch(/read_file|"client"|content/);
  expect(write(more, "whole")).toContain("content");
});

test("what concerns no server says so, and what stands for several says for how many", () => {
  expect(written({ type: "gateway.stopping", atMs: 0, reason: "test" }, "whole", 4)).toMatchObject({
    server: null,
    instance: null,
    installation: null,
    principal: null,
    team: null,
    coalesced: 4,
    data: { reason: "test" },
  });
});

test("a list of tools keeps exact numbers, and leaves out what the configuration hides", () => {
  const inputSchema = parseExact('{"type":"object","maximum":9007199254740993}') as { type: string };
  const tool = (name: string) => ({ path: `files:${name}`, upstreamName: name, definition: { name, inputSchema } });
  const text = write(
    {
      type: "mcp.tools.discovered",
      ...about,
      tools: [tool("shown"), tool("hidden")],
      resources: 0,
      prompts: 0,
      durationMs: 1,
      installationName: "Files",
    },
    "whole",
  );
  expect(text).toContain('"maximum":9007199254740993');
  expect(JSON.parse(text)).toMatchObject({ data: { installation_name: "Files", tool_count: 1, total_tokens: 7 } });
  expect(text).not.toContain("hidden");
});

test("FAULT 107: a secret is removed, and what is left is JSON even where the secret looks like a number", () => {
  const line = (text: string, atMs = 0): PublishedEvent => ({
    type: "mcp.server.logs",
    ...about,
    atMs,
    level: "info",
    line: text,
  });
  expect(written(line('the "s3cret" is out'), "whole")).toMatchObject({ data: { line: 'the "[redacted]" is out' } });
  const event: PublishedEvent = { type: "mcp.server.dormant", ...about, idleMs: 424242 };
  expect(written(event, "whole")).toMatchObject({ data: { idle_ms: 424242 } });
});
