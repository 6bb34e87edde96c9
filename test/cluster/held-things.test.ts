import { describe, expect, test } from "vitest";
import type { RunningGateway } from "../harness/gateway.ts";
import { as } from "../harness/known-people.ts";
import { hasNoPostgres } from "../harness/postgres.ts";
import { rpc } from "../harness/rpc.ts";
import { pageOf, readAs, useThreeNodes } from "./held-nodes.ts";

const bytes = 8 * 1024 ** 2;

describe.skipIf(hasNoPostgres)("a result that was cut at one node", () => {
  const nodes = useThreeNodes();
  const { at } = nodes;

  /** The URI of the rest, and what the result shows of it. */
  async function cut(node: RunningGateway): Promise<{ readonly uri: string; readonly shown: string }> {
    const params = { name: "effects-big", arguments: { bytes } };
    const { json } = await rpc(`${node.url}/mcp/flat`, "tools/call", params, as("alice"));
    const [note, shown] = json.result.content.map(({ text }: { readonly text: string }) => text) as string[];
    return { uri: /toolyard:\/\/result\/\S+\?part=\d+/.exec(note ?? "")?.[0] ?? "", shown: shown ?? "" };
  }

  test("is read on at the others, page for page", async () => {
    const { uri, shown } = await cut(at(0));
    expect(uri).toMatch(/^toolyard:\/\/result\/one\.[\w-]{22}\?part=2$/);
    let length = shown.length;
    let next: string | undefined = uri;
    for (let turn = 1; next !== undefined && turn < 1_000; turn += 1) {
      const page = pageOf(await readAs(at(turn), "alice", next));
      length += page.text.length;
      next = page.next;
    }
    expect(length).toBe(bytes);
  });

  test("is nobody else's at any node, in the same words as one that is not there", async () => {
    const { uri } = await cut(at(0));
    const [id] = /one\.[\w-]{22}/.exec(uri) ?? [""];
    const other = `one.${"A".repeat(22)}`;
    for (const node of nodes.all) {
      const refused = (await readAs(node, "bob", uri)).text;
      expect(refused).toContain("RESOURCE_UNKNOWN");
      const missing = (await readAs(node, "bob", uri.replace(id, other))).text;
      expect(refused.replaceAll(id, "").replace(/"id":\d+/, "")).toBe(
        missing.replaceAll(other, "").replace(/"id":\d+/, ""),
      );
    }
  });

  test("of a node that there never was is refused", async () => {
    const { text } = await readAs(at(1), "alice", `toolyard://result/nowhere.${"A".repeat(22)}?part=2`);
    expect(text).toContain("NODE_ENDED");
  });

  test("goes on at another node when its own is stopped, for the one whose it is", async () => {
    const { uri } = await cut(at(0));
    expect(await at(0).stop("SIGTERM")).toBe(0);
    for (const node of [at(1), at(2)]) {
      expect(pageOf(await readAs(node, "alice", uri)).text).toMatch(/^x+$/);
      expect((await readAs(node, "bob", uri)).text).toMatch(/NODE_ENDED|RESOURCE_UNKNOWN/);
    }
  });

  test("ends with its node when that one is killed, which the reader is told", async () => {
    const { uri } = await cut(at(1));
    await at(1).stop("SIGKILL");
    const { text } = await readAs(at(2), "alice", uri);
    expect(text).toContain("NODE_ENDED");
    expect(text).toContain("the node two has ended");
  });
});
