import { readFileSync } from "node:fs";
import { isJsonObject } from "../../kernel/text/json-bytes.ts";
import { openOnce } from "../../kernel/runtime/late-module.ts";
import type { BrowserSessionRecord, BrowserSessionStore, SharedListStore, SharedPlace } from "../store.ts";
import { replaceFile } from "./safe/replace-file.ts";

/** Increased when the format of the file changes. */
const format = 1;

/** Stores the hashes of browser sessions in one JSON file with mode 0600. If it cannot be read, no one is logged in. */
export function createBrowserSessionsFile(path: string, onFailure: (error: unknown) => void): BrowserSessionStore {
  return {
    read() {
      try {
        const kept: unknown = JSON.parse(readFileSync(path, "utf8"));
        if (!isJsonObject(kept) || kept["format"] !== format || !Array.isArray(kept["sessions"]))
          throw new Error("the file has an unknown format");
        return kept["sessions"].flatMap((session: unknown) => parseSession(session) ?? []);
      } catch (error) {
        if (!(error instanceof Error && "code" in error && error.code === "ENOENT")) onFailure(error);
        return [];
      }
    },
    async write(sessions) {
      try {
        await replaceFile(path, JSON.stringify({ format, sessions }));
      } catch (error) {
        onFailure(error);
        throw error;
      }
    },
  };
}

/** No session lasts longer. */
const longestMs = 7 * 86_400_000;

/** Those with tokens, of all gateways of a database; those of the owner of the data directory stay in its file. */
export async function shareBrowserSessions(
  file: BrowserSessionStore,
  shared: () => Promise<SharedPlace<string | null>>,
  onFailure: (error: unknown) => void,
): Promise<BrowserSessionStore> {
  const { openSharedList } = await import("./shared-lists.ts");
  const listeners = new Set<() => void>();
  let list: SharedListStore<BrowserSessionRecord> | undefined;
  let owners = JSON.stringify(file.read().filter(isOwners));
  const tell = (): void => {
    for (const listener of listeners) listener();
  };

  const open = openOnce(async () => {
    const { items, teamOf } = await shared();
    list = await openSharedList<BrowserSessionRecord>({
      ...{ items, kind: "browser", idOf: ({ keyHash }) => keyHash, parse: parseSession, onFailure },
      teamOf: ({ person }) => teamOf(person),
      endOf: ({ createdAtMs }) => createdAtMs + longestMs,
    });
    list.onChange(tell);
    tell();
    return list;
  });

  /** People of the configuration are served while the database is away. */
  async function openSoon(): Promise<void> {
    await open().catch((error: unknown) => {
      onFailure(error);
      setTimeout(() => void openSoon(), againMs).unref();
    });
  }

  await openSoon();
  return {
    read: () => [...(JSON.parse(owners) as BrowserSessionRecord[]), ...(list?.read() ?? [])].toSorted(byAge),
    async write(sessions, { added = [], changed = [], removed = [] }) {
      const own = sessions.filter(isOwners);
      if (JSON.stringify(own) !== owners) await file.write(own, {});
      owners = JSON.stringify(own);
      const others = (records: readonly BrowserSessionRecord[]) => records.filter((one) => !isOwners(one));
      const change = { added: others(added), changed: others(changed), removed: others(removed) };
      if (Object.values(change).some((records) => records.length > 0)) await (await open()).write(change);
    },
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** Between two tries to read them. */
const againMs = 5_000;

function isOwners({ tokenHash }: BrowserSessionRecord): boolean {
  return tokenHash === null;
}

function byAge(one: BrowserSessionRecord, other: BrowserSessionRecord): number {
  return one.createdAtMs - other.createdAtMs;
}

function parseSession(session: unknown): BrowserSessionRecord | undefined {
  if (!isJsonObject(session)) return undefined;
  const { id, cookieHash, keyHash, tokenHash, person, browser, createdAtMs, usedAtMs } = session;
  const isWhole =
    typeof id === "string" &&
    isHash(cookieHash) &&
    isHash(keyHash) &&
    (tokenHash === null || isHash(tokenHash)) &&
    typeof browser === "string" &&
    typeof createdAtMs === "number" &&
    typeof usedAtMs === "number";
  const known = typeof person === "string" ? person : null;
  return isWhole ? { id, cookieHash, keyHash, tokenHash, person: known, browser, createdAtMs, usedAtMs } : undefined;
}

function isHash(value: unknown): value is string {
  return typeof value === "string" && /^[0-9a-f]{64}$/.test(value);
}
