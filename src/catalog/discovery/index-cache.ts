import { abortAfter, untilAborted } from "../../kernel/abort.ts";
import { createSizedCache } from "../../kernel/sized-cache.ts";
import type { InstanceCatalog, ToolEntry } from "../model/snapshot.ts";
import { serverTexts } from "../search/fields.ts";
import { buildIndexParts, type IndexPart } from "../search/index-part.ts";
import { bytesOfIndex, bytesOfPart } from "../search/index-size.ts";
import type { Language } from "../search/language.ts";
import { mergeInSteps, type SearchIndex } from "../search/merge.ts";
import { createSlices } from "./slices.ts";

/** The index that a search is done in. */
export interface FoundIndex {
  readonly index: SearchIndex;
  /** Whether tools are missing, because they are still being indexed. */
  readonly isPartial: boolean;
}

/**
 * Indexes of the sets of instances that are searched. What is indexed is told by its content: people who have the same
 * servers search one index, and a server that many of them run is indexed once.
 */
export interface IndexCache {
  /**
   * The index of these instances. One that takes longest is waited for no longer than `longestWaitMs`: then what is
   * indexed so far has to do. Rejects with the signal's reason.
   */
  of(sources: readonly InstanceCatalog[], signal: AbortSignal): Promise<FoundIndex>;
  /** The same, waited for until all of it is there. */
  whole(sources: readonly InstanceCatalog[], signal: AbortSignal): Promise<SearchIndex>;
}

export interface IndexCacheOptions {
  readonly language: Language;
  readonly onBuilt?: (sources: readonly InstanceCatalog[]) => void;
  readonly longestWaitMs?: number;
}

/** Indexes of servers: a hundred thousand different tools. With more in use, each view's first search indexes again. */
const partBytes = 128 * 2 ** 20;
/** Merged indexes, one for each different set that is in use: 0.3 MB for 250 tools, and a merge takes a millisecond. */
const mergedBytes = 64 * 2 ** 20;
/** A hundred thousand tools are indexed in less. */
const usualWaitMs = 3_000;

export function createIndexCache({ language, onBuilt, longestWaitMs = usualWaitMs }: IndexCacheOptions): IndexCache {
  const slices = createSlices();
  const numberOf = createContentNumbers();
  const parts = createSizedCache<number, readonly IndexPart[]>(partBytes);
  const merged = createSizedCache<string, SearchIndex>(mergedBytes);
  /** A view asks with the same array until it changes. */
  const keys = new WeakMap<readonly InstanceCatalog[], string>();
  const builds = new Map<string, Build>();

  function* partsOf(source: InstanceCatalog): Generator<undefined, readonly IndexPart[]> {
    const number = numberOf(source);
    const known = parts.get(number);
    if (known !== undefined) return known;
    const fresh: IndexPart[] = [];
    for (const part of buildIndexParts(source, language)) {
      fresh.push(part);
      yield;
    }
    parts.set(
      number,
      fresh,
      fresh.reduce((sum, part) => sum + bytesOfPart(part), 0),
    );
    return fresh;
  }

  function* buildAll(sources: readonly InstanceCatalog[], done: IndexPart[]): Generator<undefined, SearchIndex> {
    for (const source of sources) {
      for (const part of yield* partsOf(source)) done.push(part);
      yield;
    }
    return yield* mergeInSteps(done, language);
  }

  function buildOf(key: string, sources: readonly InstanceCatalog[]): Build {
    const known = builds.get(key);
    if (known !== undefined) return known;
    const done: IndexPart[] = [];
    const whole = slices.run(buildAll(sources, done)).then((index) => {
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

  /** When all is indexed only the merge is left, and another merge would not be ready any sooner. */
  async function soFar(build: Build): Promise<FoundIndex> {
    if (toolCountOf(build.done) === build.toolCount) return { index: await build.whole, isPartial: false };
    build.soFar ??= slices.run(mergeInSteps([...build.done], language));
    return { index: await build.soFar, isPartial: true };
  }

  function keyOf(sources: readonly InstanceCatalog[]): string {
    let key = keys.get(sources);
    if (key === undefined) keys.set(sources, (key = sources.map(numberOf).join(" ")));
    return key;
  }

  return {
    async of(sources, signal) {
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
        return await soFar(build);
      }
    },
    async whole(sources, signal) {
      const key = keyOf(sources);
      return merged.get(key) ?? (await untilAborted(buildOf(key, sources).whole, signal));
    },
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
 * A number for what is indexed of an instance: the same for two that offer the same tools under the same name, and say
 * the same of themselves. Equal lists of tools are one object (`shared-lists.ts`).
 */
function createContentNumbers(): (source: InstanceCatalog) => number {
  const bySource = new WeakMap<InstanceCatalog, number>();
  const byTools = new WeakMap<readonly ToolEntry[], Map<string, number>>();
  let last = 0;
  return (source) => {
    let number = bySource.get(source);
    if (number !== undefined) return number;
    const { server, about } = serverTexts(source);
    const text = `${server}\n${about}`;
    const known = byTools.get(source.tools) ?? new Map<string, number>();
    byTools.set(source.tools, known);
    number = known.get(text);
    if (number === undefined) known.set(text, (number = last += 1));
    bySource.set(source, number);
    return number;
  };
}
