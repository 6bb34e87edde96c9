import { createHash } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { badServer, startGateway } from "../harness/gateway.ts";
import { execute, modernRpc, rpc, type RawAnswer } from "../harness/rpc.ts";
import { until } from "../harness/until.ts";
import { fourServers, startFourServers, type FourServers } from "./four-servers.ts";

const extension = "io.modelcontextprotocol/skills";
const refunds = "skill://acme/refunds/SKILL.md";
let four: FourServers;

beforeAll(async () => (four = await startFourServers("--skills", "--resources", "--ttl-ms", "4000")));
afterAll(async () => await four[Symbol.asyncDispose]());

const hello = {
  protocolVersion: "2025-11-25",
  capabilities: {},
  clientInfo: { name: "test", version: "1" },
} as const;

/** An address of a server as it is where all servers are shown. */
const shared = (server: string, uri: string): string => `skill://${server}/${uri.slice("skill://".length)}`;

/** The entry that a server gave, with its addresses as they are where all servers are shown. */
function toShared(server: string, { json }: RawAnswer): Entry {
  const entry = json.result.skill as Entry;
  const resources = entry.resources.map((file) => ({ ...file, uri: shared(server, file.uri) }));
  return { ...entry, uri: shared(server, entry.uri), resources };
}

interface Entry {
  readonly uri: string;
  readonly frontmatter: object;
  readonly resources: readonly { readonly uri: string; readonly digest: string; readonly size: number }[];
}

const sends = { legacy: rpc, modern: modernRpc };
const matrix = fourServers.flatMap((server) => (["legacy", "modern"] as const).map((client) => ({ client, server })));

describe.each(matrix)("a $client client of $server", ({ client, server }) => {
  const send = sends[client];
  const url = (): string => `${four.gateway.url}/mcp/server/${server}`;

  test("MUST: skills/list and skills/get pass at the server's own endpoint, entries as they are [SEP-2640]", async () => {
    const first = (await send(url(), "skills/list")).json.result;
    expect(first).toMatchObject({ skills: [], nextCursor: "second page" });
    const { result } = (await send(url(), "skills/list", { cursor: "second page" })).json;
    const [entry] = result.skills as [Entry];
    expect(entry).toMatchObject({
      uri: refunds,
      frontmatter: { name: "refunds", description: "Gives money back: größer als 5 €", "x-own": { kept: [1] } },
    });
    expect(entry.resources.map(({ uri }) => uri)).toEqual([refunds, "skill://acme/refunds/examples/email.md"]);
    if (client === "modern" && server.startsWith("modern")) expect(result).toMatchObject({ ttlMs: 4_000 });
    expect((await send(url(), "skills/get", { uri: refunds })).json.result.skill).toEqual(entry);
    const hidden = (await send(url(), "skills/get", { uri: "skill://hidden/SKILL.md" })).json.result.skill as Entry;
    expect(hidden.frontmatter).toMatchObject({ name: "hidden" });
    expect((await send(url(), "skills/get", { uri: "skill://nobody/SKILL.md" })).json.error.code).toBe(-32602);
  });

  test("MUST: a skill's files have the digests and sizes that its entry names, wherever they are read [SEP-2640]", async () => {
    const entry = (await send(url(), "skills/get", { uri: refunds })).json.result.skill as Entry;
    for (const { uri, digest, size } of entry.resources)
      for (const [endpoint, address] of [
        [url(), uri],
        [`${four.gateway.url}/mcp`, shared(server, uri)],
        [`${four.gateway.url}/mcp/flat`, shared(server, uri)],
        [`${four.gateway.url}/mcp/namespaces`, `toolyard://${server}/raw/${uri}`],
      ] as const) {
        const read = (await send(endpoint, "resources/read", { uri: address })).json.result;
        const bytes = Buffer.from(read.contents[0].text as string);
        expect(read.contents[0].uri).toBe(address);
        expect(bytes.length).toBe(size);
        expect(`sha256:${createHash("sha256").update(bytes).digest("hex")}`).toBe(digest);
      }
  });

  test("directories are read where the server offers it", async () => {
    const { result } = (await send(url(), "resources/directory/read", { uri: "skill://acme/refunds" })).json;
    expect(result.resources).toMatchObject([{ name: "SKILL.md" }, { mimeType: "inode/directory" }]);
    expect((await send(url(), "resources/directory/read", { uri: refunds })).json.error.code).toBe(-32602);
  });
});

const together = ["/mcp", "/mcp/flat", "/mcp/namespaces"].flatMap((path) =>
  (["legacy", "modern"] as const).map((client) => ({ client, path })),
);

describe.each(together)("a $client client of all servers at $path", ({ client, path }) => {
  const send = sends[client];
  const url = (): string => `${four.gateway.url}${path}`;

  test("MUST: skills of all servers are listed once each, under addresses that say whose they are [SEP-2640]", async () => {
    const { result } = (await send(url(), "skills/list")).json;
    const entries = result.skills as readonly Entry[];
    expect(entries.map(({ uri }) => uri)).toEqual(fourServers.map((server) => shared(server, refunds)));
    for (const [at, server] of fourServers.entries()) {
      const own = await send(`${four.gateway.url}/mcp/server/${server}`, "skills/get", { uri: refunds });
      expect(entries[at]).toEqual({ ...toShared(server, own), _meta: { "toolyard/server": server } });
    }
    if (client === "modern") expect(result).toMatchObject({ resultType: "complete", ttlMs: 4_000 });
    else expect(result).not.toHaveProperty("ttlMs");
  });

  test.each(fourServers)(
    "MUST: skills/get answers for every skill of %s, listed or not, and with -32602 for anything else [SEP-2640]",
    async (server) => {
      for (const uri of [refunds, "skill://hidden/SKILL.md"]) {
        const own = await send(`${four.gateway.url}/mcp/server/${server}`, "skills/get", { uri });
        for (const address of [shared(server, uri), `toolyard://${server}/raw/${uri}`, `${server}|${uri}`]) {
          const { skill } = (await send(url(), "skills/get", { uri: address })).json.result;
          expect(skill).toEqual(toShared(server, own));
        }
      }
      for (const uri of [shared(server, "skill://nobody/SKILL.md"), "skill://nobody/SKILL.md", "nothing", refunds]) {
        expect((await send(url(), "skills/get", { uri })).json.error.code).toBe(-32602);
      }
      expect((await send(url(), "skills/get")).json.error.code).toBe(-32602);
    },
  );

  test.each(fourServers)("directories of %s are read by their addresses here", async (server) => {
    const root = shared(server, "skill://acme/refunds");
    const { resources } = (await send(url(), "resources/directory/read", { uri: root })).json.result;
    expect(resources).toMatchObject([{ uri: `${root}/SKILL.md` }, { uri: `${root}/examples` }]);
    const file = await send(url(), "resources/directory/read", { uri: `${root}/SKILL.md` });
    expect(file.json.error.code).toBe(-32602);
  });

  test("a client that knows no skills finds each SKILL.md among the resources", async () => {
    const { resources } = (await send(url(), "resources/list")).json.result;
    const found = (resources as readonly { readonly uri: string }[]).filter(({ uri }) => uri.startsWith("skill://"));
    const about = { name: "refunds", description: expect.stringContaining("größer"), mimeType: "text/markdown" };
    expect(found).toEqual(fourServers.map((server) => ({ uri: shared(server, refunds), ...about })));
  });

  test("MUST: skills are declared where skills/list is answered, with directories where all servers read them [SEP-2640]", async () => {
    const { capabilities } =
      client === "modern"
        ? (await modernRpc(url(), "server/discover")).json.result
        : (await rpc(url(), "initialize", { ...hello })).json.result;
    expect(capabilities.extensions[extension]).toEqual({ directoryRead: true });
  });
});

test("a server's own endpoint declares skills as the server does", async () => {
  for (const server of fourServers) {
    const answer = await modernRpc(`${four.gateway.url}/mcp/server/${server}`, "server/discover");
    expect(answer.json.result.capabilities.extensions[extension]).toEqual({ directoryRead: true });
  }
});

test("MUST: where no server offers skills they are not declared, and asking for them is -32601 [SEP-2640]", async () => {
  await using gateway = await startGateway({
    config: { mcpServers: { plain: badServer("--resources", "--tool-name", "one") } },
  });
  await until(async () => JSON.stringify(await execute(gateway.url, "plain:one")).includes("content"));
  for (const path of ["/mcp", "/mcp/flat", "/mcp/namespaces", "/mcp/server/plain"]) {
    const url = gateway.url + path;
    const { capabilities } = (await modernRpc(url, "server/discover")).json.result;
    expect(capabilities.extensions ?? {}).not.toHaveProperty([extension]);
    for (const method of ["skills/list", "skills/get", "resources/directory/read"])
      expect((await modernRpc(url, method, { uri: refunds })).json.error.code).toBe(-32601);
  }
});
