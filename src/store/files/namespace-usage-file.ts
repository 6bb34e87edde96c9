import type { InstanceId, PrincipalId } from "../../kernel/ids.ts";
import { isJsonObject } from "../../kernel/json-bytes.ts";
import { createLearnedFile } from "./learned-file.ts";

/** How often a namespace and its tools were used; `instance/` declares the same shape. */
interface Use {
  readonly principal: PrincipalId;
  readonly instance: InstanceId;
  readonly loads: number;
  readonly calls: number;
  readonly lastUsedAtMs: number;
  readonly tools: Readonly<Record<string, number>>;
}

/** Changes when the file's shape does: older ones are then not read. */
const format = 1;

/** Counts of use in one JSON file, replaced atomically. Somebody may have edited it: what is odd is left out. */
export function createNamespaceUsageFile(path: string, onFailure: (error: unknown) => void) {
  const file = createLearnedFile(path, onFailure);
  return {
    async load(): Promise<readonly Use[] | undefined> {
      const kept = await file.load();
      if (!isJsonObject(kept) || kept["format"] !== format || !Array.isArray(kept["uses"])) return undefined;
      return kept["uses"].flatMap((use: unknown) => parseUse(use) ?? []);
    },
    save: (uses: readonly Use[]): void => file.save({ format, uses }),
    [Symbol.asyncDispose]: async (): Promise<void> => await file[Symbol.asyncDispose](),
  };
}

function parseUse(use: unknown): Use | undefined {
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
