import { abortAfter, untilAborted } from "../../kernel/runtime/abort.ts";
import { createSizedCache } from "../../kernel/runtime/sized-cache.ts";
import type { InstanceCatalog, ToolEntry } from "../model/snapshot.ts";
import { serverTexts } from "../search/language/fields.ts";
import { buildIndexParts, type IndexPart } from "../search/index/index-part.ts";
import { bytesOfIndex, bytesOfPart } from "../search/index/index-size.ts";
import type { PhrasesOf } from "../search/language/phrase-book.ts";
import type { Language } from "../search/language.ts";
import { mergeInSteps, type SearchIndex } from "../search/index/merge.ts";
import { slices } from "../../kernel/runtime/slices.ts";

/** The index that a search is done in. */
export interface FoundIndex {
  readonly index: SearchIndex;
  /** Whether tools are missing, because they are still being indexed. */
  readonly isPartial: boolean;
}

/**
 * Indexes of the sets of instances that are searched. An index is identified by its content: people who have the same
 * servers search one index, and a server that many of them run is indexed once.
 */
export interface IndexCache {
  /**
   * The index of these instances. One that takes longest is waited for no longer than `longestWaitMs`: after that, the
   * part indexed so far is used. Rejects with the signal's reason.
   */
  of(sources: readonly InstanceCatalog[], signal: AbortSignal): Promise<FoundIndex>;
  /** Tools have new phrases: what holds them is indexed again, the newest set before the next search asks for it. */
  renew(hashes: ReadonlySet<string>): void;
  /** The same, waited for until all of it is there. */
  whole(sources: readonly InstanceCatalog[], signal: AbortSignal): Promise<SearchIndex>;
}

export interface IndexCacheOptions {
  readonly language: Language;
  readonly phrasesOf?: PhrasesOf | undefined;
  readonly onBuilt?: (sources: readonly InstanceCatalog[]) => void;
  readonly longestWaitMs?: number;
}

/** Indexes of servers: a hundred thousand different tools. With more in use, each view's first search indexes again. */
const partBytes = 128 * 2 ** 20;
/** Merged indexes, one for each different set that is in use: 0.3 MB for 250 tools, and a merge takes a millisecond. */
const mergedBytes = 64 * 2 ** 20;
/** Servers whose texts are looked at in one step: a millisecond. */
const numberedAtOnce = 100;
/** A hundred thousand tools are indexed in less. */
const usualWaitMs = 3_000;

export function createIndexCache(options: IndexCacheOptions): IndexCache {
  const { language, onBuilt, longestWaitMs = usualWaitMs } = options;
  const numbers = createContentNumbers();
  const merged = createSizedCache<string, SearchIndex>(mergedBytes);
  const partsOf = createPartsOf(options, numbers, (number) => {
    for (const key of merged.keys()) if (key.split(" ").includes(String(number))) merged.delete(key);
  });
  /** A view asks with the same array until it changes. */
  let keys = new WeakMap<readonly InstanceCatalog[], string>();
  let newest: readonly InstanceCatalog[] | undefined;
  const builds = new Map<string, Build>();

  function buildOf(key: string, sources: readonly InstanceCatalog[]): Build {
    const known = builds.get(key);
    if (known !== undefined) return known;
    const done: IndexPart[] = [];
    const whole = slices.run(buildAll({ partsOf, language }, sources, done)).then((index) => {
      merged.set(key, index, bytesOfIndex(index));
      onBuilt?.(sources);
      return index;
    });
    const build: Build = { done, toolCount: toolCountOf(sources), whole, soFar: undefined };
    builds.set(key, build);
    const end = (): boolean => builds.delete(key);
    whole.then(end, end);
    return build;
  }

  /** A view of many servers that was not asked for before: what they are told by is read a few at a time. */
  const isUnnumbered = (sources: readonly InstanceCatalog[]): boolean =>
    sources.length > numberedAtOnce && !keys.has(sources);

  function* numberAll(sources: readonly InstanceCatalog[]): Generator<undefined, void> {
    for (const [at, source] of sources.entries()) {
      numbers.of(source);
      if (at % numberedAtOnce === 0) yield;
    }
  }

  function keyOf(sources: readonly InstanceCatalog[]): string {
    let key = keys.get(sources);
    if (key === undefined) keys.set(sources, (key = sources.map(numbers.of).join(" ")));
    return key;
  }

  return {
    renew(hashes) {
      numbers.renew(hashes);
      keys = new WeakMap();
      // What fails here fails again, and is told, where somebody searches.
      if (newest !== undefined) buildOf(keyOf(newest), newest).whole.catch(() => undefined);
    },
    async of(sources, signal) {
      newest = sources;
      if (isUnnumbered(sources)) await slices.run(numberAll(sources));
      const key = keyOf(sources);
      const known = merged.get(key);
      if (known !== undefined) return { index: known, isPartial: false };
      const build = buildOf(key, sources);
      const limit = abortAfter(longestWaitMs, signal);
      try {
        return { index: await untilAborted(build.whole, limit), isPartial: false };
      } catch (error) {
        signal.throwIfAborted();
        if (!limit.aborted) throw error;
        return await soFar(build, language);
      }
    },
    async whole(sources, signal) {
      if (isUnnumbered(sources)) await slices.run(numberAll(sources));
      const key = keyOf(sources);
      return merged.get(key) ?? (await untilAborted(buildOf(key, sources).whole, signal));
    },
  };
}

function* buildAll(
  { partsOf, language }: { readonly partsOf: PartsOf } & Pick<IndexCacheOptions, "language">,
  sources: readonly InstanceCatalog[],
  done: IndexPart[],
): Generator<undefined, SearchIndex> {
  for (const source of sources) {
    for (const part of yield* partsOf(source)) done.push(part);
    yield;
  }
  return yield* mergeInSteps(done, language);
}

/** When all is indexed only the merge is left, and another merge would not be ready any sooner. */
async function soFar(build: Build, language: IndexCacheOptions["language"]): Promise<FoundIndex> {
  if (toolCountOf(build.done) === build.toolCount) return { index: await build.whole, isPartial: false };
  build.soFar ??= slices.run(mergeInSteps([...build.done], language));
  return { index: await build.soFar, isPartial: true };
}

/** The indexed pieces of an instance, made once for all instances that offer the same. */
type PartsOf = (source: InstanceCatalog) => Generator<undefined, readonly IndexPart[]>;

/**
 * An index is dropped with the list of tools that it is made of, whatever its estimated size: the definitions that an
 * index refers to may be a thousand times as large as the index. `onGone` runs for each number that ends so.
 */
function createPartsOf(
  { language, phrasesOf }: IndexCacheOptions,
  numbers: ContentNumbers,
  onGone: (number: number) => void,
): PartsOf {
  const parts = createSizedCache<number, readonly IndexPart[]>(partBytes);
  const lists = new FinalizationRegistry((number: number) => {
    parts.delete(number);
    onGone(number);
  });
  return function* (source: InstanceCatalog): Generator<undefined, readonly IndexPart[]> {
    const number = numbers.of(source);
    const known = parts.get(number);
    if (known !== undefined) return known;
    const fresh: IndexPart[] = [];
    for (const part of buildIndexParts(source, language, phrasesOf)) {
      fresh.push(part);
      yield;
    }
    lists.register(source.tools, number);
    parts.set(
      number,
      fresh,
      fresh.reduce((sum, part) => sum + bytesOfPart(part), 0),
    );
    return fresh;
  };
}

/** An index that is being made, for all who wait for it. */
interface Build {
  /** The servers that are indexed already. */
  readonly done: readonly IndexPart[];
  readonly toolCount: number;
  readonly whole: Promise<SearchIndex>;
  soFar: Promise<SearchIndex> | undefined;
}

function toolCountOf(lists: readonly { readonly tools: readonly ToolEntry[] }[]): number {
  return lists.reduce((sum, { tools }) => sum + tools.length, 0);
}

/**
 * A number for the indexed content of an instance: the same for two that offer the same tools under the same name, and
 * describe themselves alike. Equal lists of tools are one object (`model/current.ts`).
 */
function createContentNumbers(): ContentNumbers {
  let bySource = new WeakMap<InstanceCatalog, number>();
  /** How often each tool has got new phrases. */
  const renewals = new Map<string, number>();
  const byTools = new WeakMap<readonly ToolEntry[], Map<string, number>>();
  let last = 0;
  function renewalsOf(tools: readonly ToolEntry[]): number {
    if (renewals.size === 0) return 0;
    return tools.reduce((sum, { hash }) => sum + (renewals.get(hash) ?? 0), 0);
  }

  function of(source: InstanceCatalog): number {
    let number = bySource.get(source);
    if (number !== undefined) return number;
    const { server, about } = serverTexts(source);
    const text = `${server}\n${about}\n${renewalsOf(source.tools)}`;
    const known = byTools.get(source.tools) ?? new Map<string, number>();
    byTools.set(source.tools, known);
    number = known.get(text);
    if (number === undefined) known.set(text, (number = last += 1));
    bySource.set(source, number);
    return number;
  }

  return {
    of,
    renew(hashes) {
      for (const hash of hashes) renewals.set(hash, (renewals.get(hash) ?? 0) + 1);
      bySource = new WeakMap();
    },
  };
}

interface ContentNumbers {
  of(source: InstanceCatalog): number;
  /** These tools have new phrases: whatever offers them has another number from now on. */
  renew(hashes: ReadonlySet<string>): void;
}
