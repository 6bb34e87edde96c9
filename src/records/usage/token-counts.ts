import { createHash } from "node:crypto";
import type { TokenCountStore } from "../../store/store.ts";
import { createTokenThread, type TokenThreadOptions } from "./token-thread.ts";

/**
 * Exact o200k counts of texts, by what the texts say. They are made in a worker and kept in a file, so that nothing is
 * counted twice, not even after a restart.
 */
export interface TokenCounts extends AsyncDisposable {
  /** Undefined while it was not counted. Before `load` has resolved nothing is known. */
  get(key: TextKey): number | undefined;
  /** Reads what was counted before; once. Never rejects. */
  load(): Promise<void>;
  /**
   * Counts those of the texts that are not known. Resolves when that is done, or cannot be; texts that take too long
   * stay unknown. Never rejects.
   */
  count(texts: readonly string[]): Promise<void>;
}

/** The first 132 bits of a text's SHA-256, in base64url. */
export type TextKey = string & { readonly textKey: true };

const keyCharacters = 22;

export function textKeyOf(text: string): TextKey {
  return createHash("sha256").update(text).digest("base64url").slice(0, keyCharacters) as TextKey;
}

export interface TokenCountsDeps extends TokenThreadOptions {
  readonly store: TokenCountStore;
}

/** The most counts that are kept: the oldest are forgotten. 3 MB in memory, 1.5 MB in the file. */
const mostCounts = 50_000;
/** Characters of a text that is counted at all: a definition of a megabyte is no definition. */
const longestText = 1_000_000;
const mostGiven = 10_000;

/** Knows nothing before `load`. The worker is started by the first text that is not known. */
export function createTokenCounts({ store, ...options }: TokenCountsDeps): TokenCounts {
  const counts = new Map<TextKey, number>();
  /** Those that took too long are not tried again. */
  const given = new Set<TextKey>();
  const thread = createTokenThread(options);
  let loading: Promise<void> | undefined;
  let counting: Promise<void> = Promise.resolve();
  let isDisposed = false;

  async function readStored(): Promise<void> {
    for (const [key, tokens] of (await store.load()) ?? [])
      if (!counts.has(key as TextKey)) put(key as TextKey, tokens);
  }

  function put(key: TextKey, tokens: number): void {
    counts.set(key, tokens);
    const oldest = counts.size > mostCounts ? counts.keys().next().value : undefined;
    if (oldest !== undefined) counts.delete(oldest);
  }

  /** False when there is no sense in going on. */
  async function countOne(text: string): Promise<boolean> {
    const key = textKeyOf(text);
    if (counts.has(key) || given.has(key) || text.length > longestText) return true;
    const counted = await thread.count(text);
    if (isDisposed || counted === "unavailable") return false;
    if (counted !== "failed") put(key, counted);
    else if (given.size < mostGiven) given.add(key);
    return true;
  }

  async function countAll(texts: readonly string[]): Promise<void> {
    await load();
    const before = counts.size;
    for (const text of texts) if (isDisposed || !(await countOne(text))) break;
    if (counts.size !== before) store.save([...counts]);
  }

  async function load(): Promise<void> {
    await (loading ??= readStored());
  }

  return {
    get: (key) => counts.get(key),
    load,
    // One list after the other: there is one thread, and texts of two lists are often the same.
    count: (texts) => (counting = counting.then(async () => await countAll(texts))),
    async [Symbol.asyncDispose]() {
      isDisposed = true;
      await thread[Symbol.asyncDispose]();
      await counting;
      await store[Symbol.asyncDispose]();
    },
  };
}
