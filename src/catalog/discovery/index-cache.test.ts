import { createHash } from "node:crypto";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { until } from "../../../test/harness/until.ts";
import { sampleCatalog, sampleInstance } from "../../../test/sample-catalog.ts";
import type { InstanceId, PrincipalId } from "../../kernel/ids.ts";
import { createCurrentCatalog } from "../model/current.ts";
import type { InstanceCatalog } from "../model/snapshot.ts";
import { createLanguage } from "../search/language.ts";
import { buildIndexParts } from "../search/index/index-part.ts";
import { mergeParts, toolAt, type SearchIndex } from "../search/index/merge.ts";
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

/** The hash of each array of an index or part. */
function arraysOf(holder: object): Record<string, string> {
  const arrays = Object.entries(holder).filter((pair): pair is [string, Uint8Array] => ArrayBuffer.isView(pair[1]));
  return Object.fromEntries(
    arrays.map(([name, { buffer, byteOffset, byteLength }]) => [
      name,
      createHash("sha256")
        .update(Buffer.from(buffer, byteOffset, byteLength))
        .digest("hex"),
    ]),
  );
}

test("an index that is made in turns between other work is the one that is made at once", async () => {
  const offers = Array.from({ length: 150 }, (_, at) =>
    sampleInstance(
      `server${at}`,
      Array.from({ length: 1 + (at % 20) }, (_tool, number) => ({
        name: `${["get", "list", "delete"][number % 3]}_thing${(at * 7 + number) % 900}`,
        description: `Does what is needed with GitHub issues, number ${number} of ${at}`,
        _meta: { "toolyard/phrases": [`somebody says ${at % 11}`] },
      })),
    ),
  );
  let turns = 0;
  let isMade = false;
  const countTurns = (): void => {
    turns += 1;
    if (!isMade) setImmediate(countTurns);
  };
  setImmediate(countTurns);
  const cache = createIndexCache({ language: createLanguage() });
  const inTurns = await cache.whole(offers, never);
  isMade = true;
  expect(turns).toBeGreaterThan(1);
  const other = createLanguage();
  const atOnce = mergeParts(
    offers.flatMap((offer) => [...buildIndexParts(offer, other)]),
    other,
  );
  expect([...inTurns.terms]).toEqual([...atOnce.terms]);
  expect(arraysOf(inTurns)).toEqual(arraysOf(atOnce));
  expect(inTurns.parts.map(arraysOf)).toEqual(atOnce.parts.map(arraysOf));
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

test("the index of a list that exists no more goes, however small it is beside what it refers to", async () => {
  setFlagsFromString("--expose_gc");
  const collect = runInNewContext("gc") as () => void;
  const cache = createIndexCache({ language });
  const catalog = createCurrentCatalog();
  const definitions: WeakRef<object>[] = [];
  const versions = 12;
  for (let version = 0; version < versions; version += 1) {
    const description = `version ${version} of the only tool`;
    const offered = sampleInstance("changing", [{ name: "only", description, inputSchema: { type: "object" } }]);
    catalog.put(offered);
    const current = catalog.get(offered.instance) as InstanceCatalog;
    const { index } = await cache.of([current], never);
    expect(index.toolCount).toBe(1);
    definitions.push(new WeakRef(current.tools[0] as object));
  }
  const kept = (): number => definitions.filter((one) => one.deref() !== undefined).length;
  // What has ended is told after a collection, and only the next one takes what was let go then.
  await until(() => {
    collect();
    return kept() <= 2;
  });
  expect(kept()).toBeGreaterThan(0);
});
