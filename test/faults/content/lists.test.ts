import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { get } from "../../harness/rest.ts";
import { rpc } from "../../harness/rpc.ts";
import {
  discover,
  faultyServer,
  flavours,
  slugOf,
  startFaulty,
  untilOnline,
  type FaultyGateway,
  type FaultyServer,
} from "../servers/faulty-gateway.ts";

/** Definitions with everything that a later revision, a vendor or an attacker might write. */
const definitions: readonly string[] = [
  '{"zeta":1,"name":"first","title":"The First","description":"Reads things","inputSchema":{"type":"object","properties":{"b":{"type":"string"},"a":{"type":"integer","default":3}},"x-vendor":{"deep":[1,{"k":null}]}},"outputSchema":{"type":"object","properties":{"n":{"type":"number"}}},"annotations":{"readOnlyHint":true,"x-hint":"kept"},"icons":[{"src":"javascript:alert(1)","mimeType":"image/svg+xml","sizes":["any"]}],"execution":{"taskSupport":"optional"},"_meta":{"vendor.example/key":{"kept":true},"ui":{"resourceUri":"ui://first/main","visibility":["model"]}}}',
  '{"name":"second","inputSchema":{"type":"object","__proto__":{"admin":true},"constructor":{"prototype":1},"properties":{"__proto__":{"type":"string"}}},"unknown":[true,null,1.5,"\\u0000"]}',
  '{"name":"third","description":null,"inputSchema":{"$ref":"https://example.invalid/schema.json"}}',
];
/** The same as they are listed: only what no client can read is another. */
const listed = [
  ...definitions.slice(0, 2),
  '{"name":"third","inputSchema":{"$ref":"https://example.invalid/schema.json","type":"object"}}',
];

describe("lists as the servers wrote them", () => {
  let gateway: FaultyGateway;
  let servers: FaultyServer[];
  let directory: string;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), "toolyard-lists-"));
    const file = join(directory, "tools.json");
    await writeFile(file, `[${definitions.join(",")}]`);
    const exact = join(directory, "numbers.json");
    await writeFile(
      exact,
      '[{"name":"wide","inputSchema":{"type":"object","properties":{"n":{"type":"integer","maximum":9223372036854775807}}}}]',
    );
    servers = await Promise.all(
      flavours.map(
        async (flavour) =>
          await faultyServer(flavour, "--tools-json", file, "--resources", "--prompts", "--page-size", "1"),
      ),
    );
    gateway = await startFaulty({
      servers: {
        ...Object.fromEntries(flavours.map((flavour, index) => [slugOf(flavour), servers[index]?.entry ?? {}])),
        paged: (await faultyServer("stdio modern", "--tools", "57", "--page-size", "5")).entry,
        numbers: (await faultyServer("stdio legacy", "--tools-json", exact)).entry,
      },
    });
    await untilOnline(gateway, ...flavours.map(slugOf), "paged", "numbers");
  });
  afterAll(async () => {
    await gateway.endsClean();
    await gateway[Symbol.asyncDispose]();
    for (const server of servers) await server[Symbol.asyncDispose]();
    await rm(directory, { recursive: true, force: true });
  });

  test.each(flavours)("one server as it is: every definition with every field, in its order (%s)", async (flavour) => {
    const answer = await rpc(`${gateway.url}/mcp/server/${slugOf(flavour)}`, "tools/list");
    expect(answer.json.result.tools.map((tool: unknown) => JSON.stringify(tool))).toEqual(listed);
    expect(({} as Record<string, unknown>)["admin"]).toBeUndefined();
    await gateway.stillServes();
  });

  test.each(flavours)("flat: only the name and the UI's address are other ones (%s)", async (flavour) => {
    const { tools } = (await rpc(`${gateway.url}/mcp/flat`, "tools/list")).json.result as {
      tools: { name: string; _meta?: { ui: { resourceUri: string } } }[];
    };
    const slug = slugOf(flavour);
    const own = tools.filter((tool) => tool.name.startsWith(`${slug}-`));
    expect(
      own.map((tool) =>
        JSON.stringify(tool)
          .replace(`"name":"${slug}-`, '"name":"')
          .replace(`ui://${slug}/first/main`, "ui://first/main"),
      ),
    ).toEqual(listed);
    expect(own[0]?._meta?.ui.resourceUri).toBe(`ui://${slug}/first/main`);
  });

  test("discover gives a tool's _meta with the UI's address in the form that can be read here", async () => {
    const found = await discover(gateway, { query: "first reads things", server: "stdio-legacy" });
    expect(found.tools[0]).toMatchObject({
      tool_path: "stdio-legacy:first",
      _meta: { "vendor.example/key": { kept: true }, ui: { resourceUri: "stdio-legacy|ui://first/main" } },
    });
  });

  test("all pages of all lists are fetched", async () => {
    expect((await rpc(`${gateway.url}/mcp/server/paged`, "tools/list")).json.result.tools).toHaveLength(57);
    for (const flavour of flavours) {
      const endpoint = `${gateway.url}/mcp/server/${slugOf(flavour)}`;
      expect((await rpc(endpoint, "resources/list")).json.result.resources).toHaveLength(3);
      expect((await rpc(endpoint, "prompts/list")).json.result.prompts).toHaveLength(2);
      expect((await rpc(endpoint, "resources/templates/list")).json.result.resourceTemplates).toHaveLength(1);
    }
  });

  test("numbers in a schema keep every digit, and still count as numbers", async () => {
    const maximum = '"maximum":9223372036854775807}';
    expect((await rpc(`${gateway.url}/mcp/server/numbers`, "tools/list")).text).toContain(maximum);
    expect((await rpc(`${gateway.url}/mcp/flat`, "tools/list")).text).toContain(maximum);
    expect((await get(`${gateway.url}/api/tools/numbers:wide`)).text).toContain(maximum);
    const call = async (n: string): Promise<string> =>
      (
        await rpc(
          `${gateway.url}/mcp`,
          "tools/call",
          `{"name":"execute_mcp_tool","arguments":{"tool_path":"numbers:wide","arguments":{"n":${n}}}}`,
        )
      ).text;
    expect(await call("1e30")).toContain("ARGUMENTS_INVALID");
    expect(await call("7")).not.toContain("ARGUMENTS_INVALID");
  });
});
