import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { InstanceCatalog } from "../../src/catalog/model/snapshot.ts";
import { buildIndexParts } from "../../src/catalog/search/index/index-part.ts";
import { createStemTable } from "../../src/catalog/search/language/stem-table.ts";
import { createToolReader } from "../../src/catalog/search/language/tool-words.ts";
import { bytesOfIndex, bytesOfPart } from "../../src/catalog/search/index/index-size.ts";
import { createLanguage } from "../../src/catalog/search/language.ts";
import { mergeParts } from "../../src/catalog/search/index/merge.ts";
import { bytesOfGroup, planQuery } from "../../src/catalog/search/rank/query.ts";
import { emptyScores, memoryBytes, scoreGroups } from "../../src/catalog/search/rank/score.ts";
import { createKeptResults } from "../../src/engine/results/kept-results.ts";
import { createRuntime } from "../../src/engine/validation/runtime.ts";
import { measureSchema } from "../../src/engine/validation/validator-cache.ts";
import type { JsonObject } from "../../src/kernel/text/json-bytes.ts";
import { bytesPerCharacter, toValidator } from "../../src/engine/validation/validators.ts";
import type { PrincipalId } from "../../src/kernel/ids.ts";
import { createSpillFiles } from "../../src/store/files/file-store.ts";
import { keptText } from "../harness/kept-text.ts";
import { createManualClock } from "../harness/manual-clock.ts";
import { sampleInstance } from "../sample-catalog.ts";
import { readPublicTools } from "../servers/public-tools.ts";

setFlagsFromString("--expose_gc");
const collect = runInNewContext("gc") as () => void;

/** What lives, in bytes. */
function living(): number {
  for (let round = 0; round < 3; round += 1) collect();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

/** What is held by what `make` returns, and the estimate of it. */
function compare<T>(make: () => T, estimate: (made: T) => number): { readonly held: number; readonly said: number } {
  const before = living();
  const made = make();
  const held = living() - before;
  return { held, said: estimate(made) };
}

const real = readPublicTools();
/** Real definitions, of which no two are the same object and no two words of a name are the same. */
const catalogs: readonly InstanceCatalog[] = Array.from({ length: 60 }, (_, at) =>
  sampleInstance(
    `server${at}`,
    real.slice(0, 100).map(({ name, description, inputSchema }, index) => ({
      name: `${name}_${at}x${index}`,
      description: `${description ?? ""} word${at}${index}`,
      inputSchema,
    })),
  ),
);
const tools = catalogs.flatMap((catalog) => catalog.tools);

/** A cache that is limited by what it is said to hold must not hold much more; and not much less, or it is no use. */
function expectTrue({ held, said }: { readonly held: number; readonly said: number }): void {
  expect(held).toBeLessThan(said * 1.5);
  expect(held).toBeGreaterThan(said * 0.4);
}

describe("what a cache is limited by is what it holds", () => {
  const language = createLanguage();
  // The memory of stems is the language's own.
  for (const catalog of catalogs) Array.from(buildIndexParts(catalog, language));

  test("indexes of servers", () => {
    const make = () => catalogs.flatMap((catalog) => Array.from(buildIndexParts(catalog, language)));
    expectTrue(compare(make, (made) => made.reduce((sum, part) => sum + bytesOfPart(part), 0)));
  });

  test("an index of them all", () => {
    const made = catalogs.flatMap((catalog) => Array.from(buildIndexParts(catalog, language)));
    mergeParts(made, language);
    expectTrue(compare(() => mergeParts(made, language), bytesOfIndex));
  });

  test("words of definitions, which have a limit for their hashes and one for their numbers", () => {
    const limit = 2 ** 15;
    const stems = createStemTable({ stem: language.stem, isStopword: language.isStopword });
    const short = tools.map(({ hash }, at) => ({
      hash: `${hash}${at}`,
      definition: { name: "a", inputSchema: {} },
    }));
    for (const many of [short, tools]) {
      const make = () => {
        const read = createToolReader(stems, limit);
        for (const tool of many) read(tool);
        return read;
      };
      make();
      // What else the process frees or keeps meanwhile counts in each measurement.
      const held = Math.min(...[1, 2, 3].map(() => compare(make, () => 0).held));
      expect(held).toBeLessThan(limit * 4 * 2 * 1.5);
    }
  });

  test("words of searches", () => {
    const made = catalogs.flatMap((catalog) => Array.from(buildIndexParts(catalog, language)));
    const index = mergeParts(made, language);
    const words = [...new Set(real.flatMap(({ description }) => description.toLowerCase().match(/[a-z]{4,12}/g)))]
      .filter((word) => word !== null)
      .slice(0, 900);
    planQuery(index, "warm up");
    const plans = compare(
      () => words.map((word) => planQuery(index, word).groups),
      (made) => made.flat().reduce((sum, group) => sum + bytesOfGroup(group), 0),
    );
    expectTrue(plans);
  });

  test("what words of searches add to tools, however many were searched for, and whatever indexes are gone", () => {
    const own = createLanguage();
    const search = (at: number): void => {
      const part = catalogs.slice(at, at + 1).flatMap((catalog) => Array.from(buildIndexParts(catalog, own)));
      const index = mergeParts(part, own);
      for (let word = 0; word < 400; word += 1)
        scoreGroups(index, planQuery(index, `${word}x${at} folder${word}`).groups, emptyScores(index));
    };
    search(0);
    const many = () => {
      for (let at = 0; at < 20; at += 1) search(at);
    };
    const { held } = compare(many, () => 0);
    expect(held).toBeGreaterThan(memoryBytes * 0.4);
    expect(held).toBeLessThan(memoryBytes * 1.5);
  });

  test("checks of arguments", () => {
    const runtime = createRuntime(() => 0, 1_000);
    const schemas = Array.from({ length: 30 }, () =>
      structuredClone(real.map(({ inputSchema }) => inputSchema)),
    ).flat();
    const bytesOf = (schema: JsonObject): number => bytesPerCharacter * (measureSchema(schema, 256 * 1024) ?? 0);
    const make = () => schemas.map((schema) => toValidator(schema, runtime));
    expectTrue(compare(make, () => schemas.reduce((sum, schema) => sum + bytesOf(schema), 0)));
  });

  describe("results", () => {
    let folder: string;
    beforeAll(async () => (folder = await mkdtemp(join(tmpdir(), "toolyard-sizes-"))));
    afterAll(async () => await rm(folder, { recursive: true }));

    test("that can be read on", async () => {
      await using kept = createKeptResults({
        files: createSpillFiles(join(folder, "results"), () => undefined),
        clock: createManualClock(),
        limits: () => ({ keepMs: 600_000, memoryBytes: 1e9, diskBytes: 1e9 }),
      });
      const keep = (length: number) => kept.keep("anna" as PrincipalId, keptText("word ".repeat(length / 5), 1_000));
      keep(1_000);
      expectTrue(
        compare(
          () => Array.from({ length: 50 }, () => keep(400_000)),
          () => kept.figures.memoryBytes,
        ),
      );
    });
  });
});
