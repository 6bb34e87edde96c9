import { createHash } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { modernRpc, rpc } from "../harness/rpc.ts";
import { fourServers, startFourServers, type FourServers } from "./four-servers.ts";

const extension = "io.modelcontextprotocol/skills";
const refunds = "skill://acme/refunds/SKILL.md";
let four: FourServers;

beforeAll(async () => (four = await startFourServers("--skills", "--resources", "--ttl-ms", "4000")));
afterAll(async () => await four[Symbol.asyncDispose]());

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
        [`${four.gateway.url}/mcp`, `toolyard://${server}/${encodeURIComponent(uri)}`],
        [`${four.gateway.url}/mcp/flat`, `toolyard://${server}/${encodeURIComponent(uri)}`],
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

test("MUST: skills are declared where skills/list is answered, and nowhere else [SEP-2640]", async () => {
  const declared = async (path: string): Promise<object> =>
    (await modernRpc(`${four.gateway.url}${path}`, "server/discover")).json.result.capabilities.extensions ?? {};
  for (const server of fourServers)
    expect(await declared(`/mcp/server/${server}`)).toMatchObject({ [extension]: { directoryRead: true } });
  for (const path of ["/mcp", "/mcp/flat", "/mcp/namespaces"]) {
    expect(await declared(path)).not.toHaveProperty([extension]);
    expect((await modernRpc(`${four.gateway.url}${path}`, "skills/list")).json.error.code).toBe(-32601);
  }
});
