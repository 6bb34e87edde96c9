import type { InstanceId, PrincipalId } from "../../kernel/ids.ts";
import { isJsonObject } from "../../kernel/text/json-bytes.ts";
import type { KeptUse, NamespaceUsageStore } from "../store.ts";
import { createLearnedFile } from "./learned-file.ts";

/** Increased when the format of the file changes; a file in another format is ignored. */
const format = 1;

/**
 * Stores counts of use in one JSON file, which is replaced atomically. Invalid entries are skipped, because somebody
 * may have edited the file.
 */
export function createNamespaceUsageFile(path: string, onFailure: (error: unknown) => void): NamespaceUsageStore {
  const file = createLearnedFile(path, onFailure);
  return {
    async load() {
      const kept = await file.load();
      if (!isJsonObject(kept) || kept["format"] !== format || !Array.isArray(kept["uses"])) return undefined;
      return kept["uses"].flatMap((use: unknown) => parseUse(use) ?? []);
    },
    save: (uses) => file.save({ format, uses }),
    [Symbol.asyncDispose]: async () => await file[Symbol.asyncDispose](),
  };
}

function parseUse(use: unknown): KeptUse | undefined {
  if (!isJsonObject(use)) return undefined;
  const { principal, instance, loads, calls, lastUsedAtMs, tools } = use;
  if (
    typeof principal !== "string" ||
    typeof instance !== "string" ||
    !isCount(loads) ||
    !isCount(calls) ||
    !isCount(lastUsedAtMs) ||
    !isJsonObject(tools)
  )
    return undefined;
  const counted = Object.entries(tools).filter((entry): entry is [string, number] => isCount(entry[1]));
  return {
    principal: principal as PrincipalId,
    instance: instance as InstanceId,
    loads,
    calls,
    lastUsedAtMs,
    tools: Object.fromEntries(counted),
  };
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value) && value >= 0;
}
