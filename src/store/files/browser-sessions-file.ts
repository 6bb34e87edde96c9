import { readFileSync } from "node:fs";
import { isJsonObject } from "../../kernel/text/json-bytes.ts";
import type { BrowserSessionRecord, BrowserSessionStore } from "../store.ts";
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
