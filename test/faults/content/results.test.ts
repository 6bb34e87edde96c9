import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CallToolResultSchema } from "@modelcontextprotocol/sdk/types.js";
import { execute, rpc } from "../../harness/rpc.ts";
import {
  canarySecret,
  failureOf,
  faultyServer,
  flavours,
  slugOf,
  startFaulty,
  untilOnline,
  type FaultyGateway,
  type FaultyServer,
} from "../servers/faulty-gateway.ts";

describe("results that are no results", () => {
  let gateway: FaultyGateway;
  let servers: FaultyServer[];

  beforeAll(async () => {
    servers = await Promise.all(flavours.map(async (flavour) => await faultyServer(flavour, "--resources")));
    const entries = flavours.map((flavour, index) => [slugOf(flavour), servers[index]?.entry ?? {}]);
    const [first] = servers;
    gateway = await startFaulty({
      servers: {
        ...Object.fromEntries(entries),
        other: (await faultyServer("stdio legacy", "--resources", "--server-name", "other")).entry,
        strict: { ...first?.entry, strictResults: true },
      },
      settings: { limits: { resultBytes: 4 * 1024 * 1024, upstreamMessageBytes: 8 * 1024 * 1024 } },
    });
    await untilOnline(gateway, ...flavours.map(slugOf), "strict", "other");
  });
  afterAll(async () => {
    await gateway.endsClean();
    await gateway[Symbol.asyncDispose]();
    for (const server of servers) await server[Symbol.asyncDispose]();
  });

  const shapes = ["result-string", "result-null", "no-result", "deep", "invalid-utf8"];

  test.each(flavours)(
    "FAULT 41: a result of the wrong shape is an error about the server's protocol, at once (%s)",
    async (flavour) => {
      for (const tool of shapes) {
        const answer = await rpc(`${gateway.url}/mcp`, "tools/call", {
          name: "execute_mcp_tool",
          arguments: { tool_path: `${slugOf(flavour)}:${tool}`, arguments: {} },
        });
        if (flavour.startsWith("http") && tool === "invalid-utf8" && answer.json.result !== undefined) {
          // An event that is no UTF-8 is no event: the stream ended without an answer.
          expect(failureOf(answer.json.result).code).toBe("UPSTREAM_CLOSED");
          continue;
        }
        expect(answer.json.error, tool).toMatchObject({ code: -31052, data: { code: "UPSTREAM_PROTOCOL" } });
        expect(answer.json.error.message, tool).toContain(slugOf(flavour));
      }
      expect(({} as Record<string, unknown>)["admin"]).toBeUndefined();
      await gateway.stillServes();
    },
  );

  test.each(flavours)(
    "FAULT 41: what can be mended of a result is shown, and the rest of it stays (%s)",
    async (flavour) => {
      for (const tool of [
        "no-content",
        "content-object",
        "content-string",
        "content-null-block",
        "text-object",
        "image-without-data",
        "is-error-string",
      ]) {
        const result = await execute(gateway.url, `${slugOf(flavour)}:${tool}`);
        expect(CallToolResultSchema.safeParse(result).error, tool).toBeUndefined();
      }
      const status: unknown = await (await fetch(`${gateway.url}/api/status`)).json();
      const { servers: standing } = status as { servers: { server: string; oddities: string[] }[] };
      const oddities = standing.find(({ server }) => server === slugOf(flavour))?.oddities ?? [];
      expect(oddities.join("\n")).toMatch(
        /results were odd: no-content \(content is missing\), content-object \(content is/,
      );
      await gateway.stillServes();
    },
  );

  test.each(flavours)(
    "FAULT 41: a line that breaks off fails its call at once, not at its limit (%s)",
    async (flavour) => {
      const answer = await rpc(`${gateway.url}/mcp`, "tools/call", {
        name: "execute_mcp_tool",
        arguments: { tool_path: `${slugOf(flavour)}:half-answer`, arguments: { line: true } },
      });
      expect(answer.json.error, answer.text).toMatchObject({ code: -31052, data: { code: "UPSTREAM_PROTOCOL" } });
      await gateway.stillServes();
    },
  );

  test.each(flavours)(
    "FAULT 42: structuredContent that does not fit its schema is passed and recorded (%s)",
    async (flavour) => {
      const result = await execute(gateway.url, `${slugOf(flavour)}:structured-mismatch`);
      expect(result).toMatchObject({
        content: [{ type: "text", text: "three" }],
        structuredContent: { count: "three" },
      });
      expect(result.isError).toBeUndefined();
      await gateway.stillServes();
    },
  );

  test("FAULT 42: with strictResults it is an error that names the field", async () => {
    const answer = await rpc(`${gateway.url}/mcp`, "tools/call", {
      name: "execute_mcp_tool",
      arguments: { tool_path: "strict:structured-mismatch", arguments: {} },
    });
    expect(JSON.stringify(answer.json)).toContain("UPSTREAM_PROTOCOL");
    expect(JSON.stringify(answer.json)).toContain("count");
    expect((await execute(gateway.url, "strict:structured")).structuredContent).toEqual({ count: 3 });
    await gateway.stillServes();
  });

  test.each(flavours)(
    "FAULT 43: too many blocks and too many bytes are cut off by a limit that the error names (%s)",
    async (flavour) => {
      const blocks = failureOf(await execute(gateway.url, `${slugOf(flavour)}:big`, { blocks: 10_001, bytes: 16 }));
      expect(blocks).toMatchObject({
        code: "RESULT_TOO_LARGE",
        message: expect.stringContaining("limits.contentBlocks"),
      });
      const bytes = failureOf(await execute(gateway.url, `${slugOf(flavour)}:big`, { blocks: 5, kind: "image" }));
      expect(bytes).toMatchObject({ code: "RESULT_TOO_LARGE", message: expect.stringContaining("limits.resultBytes") });
      for (const count of [2, 1_000]) {
        const whole = await execute(gateway.url, `${slugOf(flavour)}:big`, { blocks: count, bytes: 16 });
        expect(whole.content).toHaveLength(count);
      }
      await gateway.stillServes();
    },
  );

  test.each(flavours)(
    "FAULT 44: a link to another server's resource leads to the server that gave it, and nowhere else (%s)",
    async (flavour) => {
      for (const uri of ["other|bad://text", "toolyard://other/bad%3A%2F%2Ftext", "bad://text"]) {
        const result = await execute(gateway.url, `${slugOf(flavour)}:link`, { uri });
        const link = result.content[0].uri as string;
        expect(link).toBe(`toolyard://${slugOf(flavour)}/${encodeURIComponent(uri)}`);
        const read = await rpc(`${gateway.url}/mcp`, "resources/read", { uri: link });
        if (uri === "bad://text") expect(read.json.result.contents[0]).toMatchObject({ uri: link });
        else expect(read.json).toMatchObject({ error: { code: expect.any(Number) } });
      }
      await gateway.stillServes();
    },
  );

  test.each(flavours)("FAULT 41: an error that is none becomes one that clients can read (%s)", async (flavour) => {
    const failing = async (args: object) =>
      await rpc(`${gateway.url}/mcp`, "tools/call", {
        name: "execute_mcp_tool",
        arguments: { tool_path: `${slugOf(flavour)}:rpc-error`, arguments: args },
      });
    const text = await execute(gateway.url, `${slugOf(flavour)}:error-string`);
    expect(text.error).toEqual({ code: -32603, message: "failed" });
    expect((await failing({ code: "x", message: 5, data: [1] })).json.error).toEqual({
      code: -32603,
      message: "the server gave no message",
      data: [1],
    });
    expect((await failing({ code: 1.5, message: "half" })).json.error).toEqual({ code: -32603, message: "half" });
    expect((await failing({ code: -5, message: "" })).json.error).toMatchObject({ code: -5, message: "" });
  });

  test("the secrets of a server stay inside it", async () => {
    const told = await execute(gateway.url, "stdio-legacy:env");
    // The server itself may tell what it was given; the gateway's own variables it was never given.
    expect(JSON.parse(told.content[0].text)).not.toHaveProperty("GATEWAY_SECRET");
    expect(JSON.parse(told.content[0].text)["SERVER_SECRET"]).toBe(canarySecret);
  });
});
