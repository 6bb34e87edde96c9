import { expect, test } from "vitest";
import { sampleCatalog, sampleInstance } from "../../../test/sample-catalog.ts";
import type { InstanceId, PrincipalId } from "../../kernel/ids.ts";
import { createCurrentCatalog } from "../model/current.ts";
import type { InstanceCatalog } from "../model/snapshot.ts";
import { createLanguage } from "../search/language.ts";
import { toolAt, type SearchIndex } from "../search/merge.ts";
import { createIndexCache } from "./index-cache.ts";
import { createLexicalEngine } from "./lexical.ts";

const never = new AbortController().signal;
const language = createLanguage();

/** The same servers as instances of one person's own, as the gateway holds them. */
function catalogOf(people: readonly string[], offers: readonly InstanceCatalog[] = sampleCatalog()) {
  const catalog = createCurrentCatalog();
  const id = (person: string, server: string) => `${server}-${person}` as InstanceId;
  for (const person of people)
    for (const part of structuredClone(offers)) catalog.put({ ...part, instance: id(person, part.server) });
  return {
    catalog,
    of: (person: string) => offers.map(({ server }) => catalog.get(id(person, server)) as InstanceCatalog),
  };
}

const pathsOf = (index: SearchIndex): string[] =>
  Array.from({ length: index.toolCount }, (_, number) => toolAt(index, number).path);

test("people with the same servers search one index, made once", async () => {
  const { of } = catalogOf(["alice", "bob"]);
  const built: number[] = [];
  const cache = createIndexCache({ language, onBuilt: (sources) => void built.push(sources.length) });
  const [alice, bob] = await Promise.all([cache.whole(of("alice"), never), cache.whole(of("bob"), never)]);
  expect(bob).toBe(alice);
  expect((await cache.of(of("bob"), never)).index).toBe(alice);
  expect(built).toEqual([5]);
});

test("every instance finds its own tools in an index that is shared", async () => {
  const { of } = catalogOf(["alice", "bob"]);
  const cache = createIndexCache({ language });
  for (const person of ["alice", "bob"]) {
    const own = of(person);
    const index = await cache.whole(own, never);
    expect(pathsOf(index)).toEqual(own.flatMap((part) => part.tools.map((tool) => tool.path)));
    // The very objects of that person's view: what a policy allows is asked of them.
    const tools = new Set(own.flatMap((part) => part.tools));
    for (let number = 0; number < index.toolCount; number += 1) expect(tools.has(toolAt(index, number))).toBe(true);
  }
});

test("the same tools under another name, or of a server that says something else, are another index", async () => {
  const cache = createIndexCache({ language });
  const tools = [{ name: "post", description: "Post a message" }];
  const found = async (part: InstanceCatalog) => await cache.whole([part], never);
  const plain = await found(sampleInstance("slack", tools));
  const renamed = await found(sampleInstance("chat", tools));
  expect(pathsOf(renamed)).toEqual(["chat:post"]);
  expect(renamed).not.toBe(plain);
  const { catalog } = catalogOf([]);
  catalog.put(sampleInstance("slack", tools));
  catalog.put({ ...sampleInstance("slack", tools, "Talk to the team."), instance: "other" as InstanceId });
  const [one, other] = [catalog.get("slack" as InstanceId), catalog.get("other" as InstanceId)];
  expect(one?.tools).toBe(other?.tools);
  const [quiet, talking] = [await found(one as InstanceCatalog), await found(other as InstanceCatalog)];
  expect([quiet.terms.has(language.stem("team")), talking.terms.has(language.stem("team"))]).toEqual([false, true]);
});

/** Enough that they are not indexed within a turn or three. */
function manyServers(): InstanceCatalog[] {
  const description = "Reads something from somewhere and writes it elsewhere. ".repeat(20);
  return Array.from({ length: 300 }, (_, server) =>
    sampleInstance(
      `s${server}`,
      Array.from({ length: 20 }, (_tool, tool) => ({ name: `tool_${server}_${tool}`, description })),
    ),
  );
}

test("a search that waited long enough goes on with what is indexed so far, and says so", async () => {
  const engine = createLexicalEngine({ language, longestWaitMs: 0 });
  const parts = manyServers();
  const request = { principal: "local" as PrincipalId, parts, query: "tool_299_1", limit: 5 };
  const early = await engine.search(request, never);
  expect(early.degraded).toBe("indexing");
  expect(early.tools.map(({ tool }) => tool.path)).not.toContain("s299:tool_299_1");
  await engine.prepare(parts, never);
  const late = await engine.search(request, never);
  expect(late.degraded).toBeUndefined();
  expect(late.tools[0]?.tool.path).toBe("s299:tool_299_1");
});

test("whoever gives up leaves the index to the others", async () => {
  const cache = createIndexCache({ language });
  const parts = manyServers();
  const leaving = new AbortController();
  const [left, stayed] = [cache.of(parts, leaving.signal), cache.whole(parts, never)];
  leaving.abort(new Error("gone"));
  await expect(left).rejects.toThrow("gone");
  expect((await stayed).toolCount).toBe(6_000);
});
