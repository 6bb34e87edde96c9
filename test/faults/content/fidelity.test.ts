import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { execute, modernRpc, rpc } from "../../harness/rpc.ts";
import {
  faultyServer,
  flavours,
  slugOf,
  startFaulty,
  untilOnline,
  type FaultyGateway,
  type FaultyServer,
} from "../servers/faulty-gateway.ts";

/** What the server writes between the braces of its result, byte for byte. */
const written: Readonly<Record<string, string>> = {
  numbers:
    '"content":[{"type":"text","text":"numbers"}],"structuredContent":{"big":9007199254740993,"negativeZero":-0,"huge":1e400,"digits":0.10000000000000000555,"exponent":1E+2}',
  "key-order":
    '"structuredContent":{"b":1,"a":2,"2":3,"1":4,"esc":"\\u0041\\/"},"content":[{"text":"keys","type":"text"}]',
  "duplicate-keys": '"content":[{"type":"text","text":"first","text":"second"}]',
  "unknown-fields":
    '"content":[{"type":"text","text":"known","x-block":{"deep":[1]}},{"type":"text","text":"{\\"type\\":\\"hologram\\",\\"frames\\":3}"}],"x-result":true,"_meta":{',
  "proto-result": '"structuredContent":{"__proto__":{"admin":true},"constructor":{"prototype":{"admin":true}}}',
};

describe("what passes through passes as bytes", () => {
  let gateway: FaultyGateway;
  let servers: FaultyServer[];

  beforeAll(async () => {
    servers = await Promise.all(
      flavours.map(async (flavour) => await faultyServer(flavour, "--resources", "--prompts")),
    );
    gateway = await startFaulty({
      servers: Object.fromEntries(flavours.map((flavour, index) => [slugOf(flavour), servers[index]?.entry ?? {}])),
    });
    await untilOnline(gateway, ...flavours.map(slugOf));
  });
  afterAll(async () => {
    await gateway.endsClean();
    await gateway[Symbol.asyncDispose]();
    for (const server of servers) await server[Symbol.asyncDispose]();
  });

  test.each(flavours)(
    "results arrive as the server wrote them, but for blocks of no known type, at clients of both eras (%s)",
    async (flavour) => {
      for (const [tool, bytes] of Object.entries(written)) {
        const call = {
          name: "execute_mcp_tool",
          arguments: { tool_path: `${slugOf(flavour)}:${tool}`, arguments: {} },
        };
        expect((await rpc(`${gateway.url}/mcp`, "tools/call", call)).text, tool).toContain(bytes);
        expect((await modernRpc(`${gateway.url}/mcp`, "tools/call", call)).text, tool).toContain(bytes);
      }
      const vendor = await modernRpc(`${gateway.url}/mcp`, "tools/call", {
        name: "execute_mcp_tool",
        arguments: { tool_path: `${slugOf(flavour)}:unknown-fields`, arguments: {} },
      });
      expect(vendor.json.result._meta).toMatchObject({
        "vendor.example/trace": "kept",
        "io.modelcontextprotocol/serverInfo": { name: "toolyard" },
      });
      await gateway.stillServes();
    },
  );

  test.each(flavours)("arguments arrive as the client wrote them (%s)", async (flavour) => {
    const bytes =
      '{"z":9007199254740993,"a":-0,"n":1e400,"2":1,"1":2,"esc":"\\u0041\\/","text":"漢字 😀","__proto__":{"admin":true}}';
    const meta = await rpc(
      `${gateway.url}/mcp`,
      "tools/call",
      `{"name":"execute_mcp_tool","arguments":{"tool_path":"${slugOf(flavour)}:echo","arguments":${bytes}}}`,
    );
    expect(meta.json.result.content[0].text).toBe(bytes);
    expect(meta.text).toContain(`"structuredContent":${bytes}`);
    const own = await rpc(
      `${gateway.url}/mcp/server/${slugOf(flavour)}`,
      "tools/call",
      `{"name":"echo","arguments":${bytes}}`,
    );
    expect(own.json.result.content[0].text).toBe(bytes);
    expect(({} as Record<string, unknown>)["admin"]).toBeUndefined();
  });

  test.each(flavours)("a large result is copied without a change (%s)", async (flavour) => {
    // Asked for whole: by default a model gets no more than it can read.
    const answer = await rpc(`${gateway.url}/mcp`, "tools/call", {
      name: "execute_mcp_tool",
      arguments: { tool_path: `${slugOf(flavour)}:big`, arguments: { blocks: 3, bytes: 400_000 } },
      _meta: { "toolyard/maxTokens": 0 },
    });
    const { result } = answer.json;
    expect(result.content.map((block: { text: string }) => block.text === "QUFB".repeat(100_000))).toEqual([
      true,
      true,
      true,
    ]);
  });

  test.each(flavours)("links and embedded resources can be read where they were given out (%s)", async (flavour) => {
    for (const tool of ["link", "embedded"]) {
      const result = await execute(gateway.url, `${slugOf(flavour)}:${tool}`);
      const uri = (result.content[0].uri ?? result.content[0].resource.uri) as string;
      const native = await rpc(`${gateway.url}/mcp`, "resources/read", { uri });
      expect(native.json.result.contents[0].uri).toBe(uri);
      const asTool = await rpc(`${gateway.url}/mcp`, "tools/call", { name: "read_mcp_resource", arguments: { uri } });
      expect(asTool.json.result.content[0]).toMatchObject({ type: "resource", resource: { uri } });
    }
    // One server as it is: its own URIs.
    const own = await rpc(`${gateway.url}/mcp/server/${slugOf(flavour)}`, "tools/call", {
      name: "link",
      arguments: {},
    });
    expect(own.json.result.content[0]).toEqual({
      type: "resource_link",
      uri: "bad://text",
      name: "linked",
      "x-kept": 1,
    });
  });

  test.each(flavours)("isError, pictures, sounds and errors of the server pass (%s)", async (flavour) => {
    expect(await execute(gateway.url, `${slugOf(flavour)}:fail`, { text: "no" })).toMatchObject({
      isError: true,
      content: [{ type: "text", text: "no" }],
    });
    expect((await execute(gateway.url, `${slugOf(flavour)}:image`)).content[0]).toMatchObject({
      type: "image",
      mimeType: "image/png",
    });
    expect((await execute(gateway.url, `${slugOf(flavour)}:audio`)).content[0]).toMatchObject({
      type: "audio",
      mimeType: "audio/wav",
    });
    const answer = await rpc(`${gateway.url}/mcp`, "tools/call", {
      name: "execute_mcp_tool",
      arguments: {
        tool_path: `${slugOf(flavour)}:rpc-error`,
        arguments: { code: -32055, message: "mine", data: { kept: [1] } },
      },
    });
    expect(answer.json.error).toEqual({ code: -32055, message: "mine", data: { kept: [1] } });
  });
});
