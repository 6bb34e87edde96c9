import { expect, test } from "vitest";
import type { Era } from "../../../kernel/call/call-context.ts";
import { toJsonBytes } from "../../../kernel/text/json-bytes.ts";
import type { Connection, UpstreamRequest } from "../../upstream/connection.ts";
import { fetchLists } from "./lists.ts";

/** The cursors that a page of each list is asked for with, and the names that came; `nexts` are those of the pages. */
async function pagesOf(era: Era, nexts: readonly unknown[]) {
  const asked: Record<string, unknown[]> = {};
  const connection = {
    peer: { era, serverInfo: {}, instructions: undefined, capabilities: { resources: {}, prompts: {} }, eras: [era] },
    async request({ method, params }: UpstreamRequest) {
      const cursor = params.find(([key]) => key === "cursor")?.[1];
      const cursors = (asked[method] ??= []);
      cursors.push(cursor === undefined ? undefined : JSON.parse(cursor.toString()));
      const items = [{ name: `item${cursors.length}` }];
      const nextCursor = nexts[Math.min(cursors.length, nexts.length) - 1];
      const result = { tools: items, resources: items, resourceTemplates: items, prompts: items, nextCursor };
      return { kind: "result", result: toJsonBytes(result) };
    },
  } as unknown as Connection;
  const cuts: string[] = [];
  const limits = { pages: 10, items: 100, timeoutMs: 60_000 };
  const options = { transport: "http", limits, onCut: (list: string, why: string) => cuts.push(`${list}: ${why}`) };
  const lists = await fetchLists(connection, options as never, new AbortController().signal);
  return { asked, lists, cuts };
}

test("in 2026-07-28 every list goes on at the cursor that is an empty string", async () => {
  const { asked, lists, cuts } = await pagesOf("modern", ["", "3", undefined]);
  for (const method of ["tools/list", "resources/list", "resources/templates/list", "prompts/list"])
    expect(asked[method]).toEqual([undefined, "", "3"]);
  for (const list of [lists.tools, lists.resources, lists.templates, lists.prompts]) expect(list).toHaveLength(3);
  expect(cuts).toEqual([]);
});

test("an empty string for ever ends the list of a modern server when it is repeated", async () => {
  const { asked, lists, cuts } = await pagesOf("modern", [""]);
  expect(asked["tools/list"]).toEqual([undefined, ""]);
  expect(lists.tools).toHaveLength(2);
  expect(cuts).toContain("tools/list: the server repeats a cursor");
});

test("before 2026-07-28 an empty string is how servers write that there is no cursor", async () => {
  const { asked, lists } = await pagesOf("legacy", [""]);
  expect(asked["tools/list"]).toEqual([undefined]);
  expect(lists.tools).toHaveLength(1);
});

test.each(["modern", "legacy"] as const)(
  "null, 0 and false are no cursors, and a number is sent back (%s)",
  async (era) => {
    for (const none of [null, 0, false, [], {}])
      expect((await pagesOf(era, [none])).asked["tools/list"]).toEqual([undefined]);
    expect((await pagesOf(era, [2, 3, null])).asked["prompts/list"]).toEqual([undefined, 2, 3]);
  },
);
