import { readFileSync } from "node:fs";
import type { KeptSearch, KeptSearchStore } from "../../catalog/discovery/kept-searches.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import type { PrincipalId } from "../../kernel/ids.ts";
import { isJsonObject } from "../../kernel/text/json-bytes.ts";
import { replaceFile } from "./safe/replace-file.ts";
import { setAside } from "../quarantine.ts";

/** Increased when the format of the file changes. */
const format = 1;

/**
 * Searches that people keep as tests, in one JSON file with mode 0600. Entries that are no search are skipped. A
 * damaged file, or one of a newer format, is set aside before another takes its place; one that cannot be read or
 * renamed is left, and reading throws.
 */
export function createKeptSearchesFile(path: string, onFailure: (error: unknown) => void): KeptSearchStore {
  return {
    read() {
      const text = readText(path);
      if (text === undefined) return [];
      try {
        const kept: unknown = JSON.parse(text);
        if (!isJsonObject(kept) || kept["format"] !== format || !Array.isArray(kept["searches"]))
          throw new Error("the file has an unknown format");
        return kept["searches"].flatMap((search: unknown) => parseSearch(search) ?? []);
      } catch (error) {
        setAside(path, Date.now());
        onFailure(error);
        return [];
      }
    },
    async write(searches) {
      try {
        await replaceFile(path, JSON.stringify({ format, searches }));
      } catch (error) {
        const isFull = error instanceof Error && "code" in error && error.code === "ENOSPC";
        throw new GatewayError(isFull ? "STORE_FULL" : "STORE_UNAVAILABLE", "kept searches cannot be written", {
          cause: error,
        });
      }
    },
  };
}

/** Undefined where there is no file. */
function readText(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw new GatewayError("STORE_UNAVAILABLE", "kept searches cannot be read", { cause: error });
  }
}

function parseSearch(search: unknown): KeptSearch | undefined {
  if (!isJsonObject(search)) return undefined;
  const { id, person, query, tool, rank, keptAtMs } = search;
  const isWhole =
    typeof id === "string" &&
    typeof person === "string" &&
    typeof query === "string" &&
    typeof tool === "string" &&
    (rank === null || Number.isSafeInteger(rank)) &&
    typeof keptAtMs === "number";
  if (!isWhole) return undefined;
  return { id, person: person as PrincipalId, query, tool, rank: rank as number | null, keptAtMs };
}
