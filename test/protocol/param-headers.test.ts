import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { startGateway, type RunningGateway } from "../harness/gateway.ts";
import { modernRpc, rpc, type RawAnswer } from "../harness/rpc.ts";
import { until } from "../harness/until.ts";
import { readRecord, startBadHttp, type HttpServer } from "./servers.ts";

let directory: string;
let gateway: RunningGateway;
let server: HttpServer;
const file = (name: string): string => join(directory, name);

/** A tool whose string parameters of these names are mirrored. */
const tool = (name: string, ...mirrored: readonly string[]) => ({
  name,
  inputSchema: {
    type: "object",
    properties: Object.fromEntries(
      mirrored.map((header) => [header.toLowerCase(), { type: "string", "x-mcp-header": header }]),
    ),
  },
});

/** What the server lists from now on; the gateway is told nothing. */
const lists = async (...tools: object[]): Promise<void> => await writeFile(file("tools.json"), JSON.stringify(tools));

/** Headers of the calls of a tool that reached the server, in order. */
const received = (name: string): readonly Readonly<Record<string, string>>[] =>
  readRecord(file("record.jsonl")).flatMap(({ message, headers }) =>
    message?.method === "tools/call" && message.params.name === name ? [headers as Record<string, string>] : [],
  );

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "toolyard-params-"));
});
afterAll(async () => await rm(directory, { recursive: true, force: true }));

beforeEach(async () => {
  await rm(file("record.jsonl"), { force: true });
  await lists(tool("search", "Region"));
  const flags = ["--era", "modern", "--checks-params", "--tools-json", file("tools.json")];
  server = await startBadHttp(...flags, "--record", file("record.jsonl"));
  gateway = await startGateway({ config: { mcpServers: { params: { type: "http", url: server.url } } } });
  await until(async () => (await rpc(`${gateway.url}/mcp/flat`, "tools/list")).text.includes("params-search"));
});
afterEach(async () => {
  await gateway[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});

const transparent = (): string => `${gateway.url}/mcp/server/params`;

async function callModern(name: string, args: object, headers: Record<string, string> = {}): Promise<RawAnswer> {
  return await modernRpc(transparent(), "tools/call", { name, arguments: args }, {}, headers);
}

describe("a transparent exposure", () => {
  test("MUST: a header parameter that nobody here knows is passed on as it stands, beside those that are mirrored [streamable-http]", async () => {
    const coded = `=?base64?${Buffer.from("größer").toString("base64")}?=`;
    const unknown = {
      "Mcp-Param-Tenant": "acme  corp",
      "mcp-param-coded": coded,
      "mcp-param-odd": "=?base64?not base64?=",
      "mcp-param-empty": "",
    };
    const own = { "mcp-param-region": "here" };
    expect((await callModern("search", { region: "here" }, { ...own, ...unknown })).json.result).toBeDefined();
    expect((await callModern("never-listed", { region: "here" }, { ...own, ...unknown })).json.result).toBeDefined();
    for (const name of ["search", "never-listed"])
      expect(received(name)).toEqual([
        expect.objectContaining({
          "mcp-name": name,
          "mcp-param-region": "here",
          "mcp-param-tenant": "acme  corp",
          "mcp-param-coded": coded,
          "mcp-param-odd": "=?base64?not base64?=",
          "mcp-param-empty": "",
        }),
      ]);
  });

  test("header parameters of a client reach no server through the other exposures", async () => {
    const headers = { "mcp-param-tenant": "acme" };
    const args = { tool_path: "params:search", arguments: { region: "here" } };
    await modernRpc(`${gateway.url}/mcp`, "tools/call", { name: "execute_mcp_tool", arguments: args }, {}, headers);
    await modernRpc(
      `${gateway.url}/mcp/flat`,
      "tools/call",
      { name: "params-search", arguments: { region: "here" } },
      {},
      { ...headers, "mcp-param-region": "here" },
    );
    expect(received("search").map((sent) => [sent["mcp-param-region"], sent["mcp-param-tenant"]])).toEqual([
      ["here", undefined],
      ["here", undefined],
    ]);
  });
});

const exposures = ["meta", "flat", "server"] as const;
const clients = ["legacy", "modern"] as const;
const matrix = exposures.flatMap((exposure) => clients.map((client) => ({ exposure, client })));

/** A call in an era, at an exposure, without any header parameter. */
async function call({ exposure, client }: (typeof matrix)[number], name: string, args: object): Promise<RawAnswer> {
  const send = client === "legacy" ? rpc : modernRpc;
  const url = `${gateway.url}/mcp`;
  if (exposure === "server") return await send(transparent(), "tools/call", { name, arguments: args });
  return exposure === "flat"
    ? await send(`${url}/flat`, "tools/call", { name: `params-${name}`, arguments: args })
    : await send(url, "tools/call", {
        name: "execute_mcp_tool",
        arguments: { tool_path: `params:${name}`, arguments: args },
      });
}

describe.each(matrix)("a $client client, exposure $exposure, of a server whose list has changed", (where) => {
  test("SHOULD: on -32020 the list is fetched again, and the call made once more with the headers that it asks for [streamable-http]", async () => {
    // By the old list nothing of this call is mirrored, so that a modern client has nothing to send either.
    await lists(tool("search", "Region", "Level"));
    const answer = await call(where, "search", { level: "grün" });
    expect(answer.json.result.structuredContent, answer.text).toMatchObject({ tool: "search" });
    const level = `=?base64?${Buffer.from("grün").toString("base64")}?=`;
    expect(received("search").map((sent) => sent["mcp-param-level"])).toEqual([undefined, level]);
    // From now on it is known.
    if (where.client === "legacy") await call(where, "search", { level: "x" });
    else await callModern("search", { level: "x" }, { "mcp-param-level": "x" });
    expect(received("search").map((sent) => sent["mcp-param-level"])).toEqual([undefined, level, "x"]);
  });

  test("a second -32020 is the answer: nothing is called a third time", async () => {
    const refused = await call(where, "search", { refuse: true });
    expect(refused.json.error).toMatchObject({ code: -31052 });
    expect(received("search")).toHaveLength(2);
  });
});

test.each(clients)(
  "a %s client's call of a tool that was not listed yet is made with what its new entry mirrors",
  async (client) => {
    await lists(tool("search", "Region"), tool("added", "Region"));
    const answer = await call({ exposure: "server", client }, "added", { region: "here" });
    expect(answer.json.result.structuredContent, answer.text).toMatchObject({ tool: "added" });
    expect(received("added").map((sent) => sent["mcp-param-region"])).toEqual([undefined, "here"]);
  },
);
