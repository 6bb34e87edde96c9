import { parseExact, stringifyExact } from "../../wire/json/exact-json.ts";
import { createHash } from "node:crypto";
import { mkdir, readFile, unlink } from "node:fs/promises";
import { join } from "node:path";
import type { RawLists } from "../../catalog/model/instance-catalog.ts";
import type { CatalogKeeper, KeptCatalog } from "../../servers/instance/instance-deps.ts";
import { isJsonObject } from "../../kernel/json-bytes.ts";
import { replaceFile } from "./replace-file.ts";

/** Increased when the format of the files changes; files in another format are ignored. */
const format = 1;

/**
 * Stores catalogs in one file per instance in `directory`. A file that cannot be read counts as absent; a failure to
 * write is reported to `onFailure`.
 */
export function createCatalogFiles(directory: string, onFailure: (message: string) => void): CatalogKeeper {
  const writing = new Map<string, Promise<void>>();

  function pathOf(instance: string): string {
    const readable = instance.replace(/[^A-Za-z0-9_-]/g, "_").slice(0, 60);
    return join(directory, `${readable}-${createHash("sha256").update(instance).digest("hex").slice(0, 16)}.json`);
  }

  /** Runs operations on one file one after the other, so that the last one requested takes effect last. */
  async function inOrder(instance: string, work: () => Promise<void>): Promise<void> {
    const next = (writing.get(instance) ?? Promise.resolve()).then(work);
    const settled = next.catch((error: unknown) =>
      onFailure(
        `the catalog of ${instance} cannot be saved: ${error instanceof Error ? error.message : String(error)}`,
      ),
    );
    writing.set(instance, settled);
    await settled;
    if (writing.get(instance) === settled) writing.delete(instance);
  }

  return {
    async load(instance) {
      try {
        return parseKept(parseExact(await readFile(pathOf(instance), "utf8")));
      } catch {
        return undefined;
      }
    },
    save: async (instance, kept) =>
      await inOrder(instance, async () => {
        await mkdir(directory, { recursive: true, mode: 0o700 });
        await replaceFile(pathOf(instance), stringifyExact({ format, ...kept }));
      }),
    remove: async (instance) =>
      await inOrder(instance, async () => {
        await unlink(pathOf(instance)).catch(() => undefined);
      }),
  };
}

/**
 * Checks only the outer structure, because somebody may have edited the file; the items of its lists are checked
 * later, like a server's answer.
 */
function parseKept(value: unknown): KeptCatalog | undefined {
  if (!isJsonObject(value) || value["format"] !== format) return undefined;
  const { hash, savedAtMs, lists } = value;
  if (typeof hash !== "string" || typeof savedAtMs !== "number" || !isJsonObject(lists)) return undefined;
  const whole =
    ["tools", "resources", "templates", "prompts", "eras"].every((key) => Array.isArray(lists[key])) &&
    isJsonObject(lists["capabilities"]) &&
    isJsonObject(lists["serverInfo"]) &&
    (lists["instructions"] === undefined || typeof lists["instructions"] === "string") &&
    (lists["ttlMs"] === undefined || typeof lists["ttlMs"] === "number");
  if (!whole) return undefined;
  // Written by a version that knew no skills, it has none until the server's lists are read again.
  const skills = Array.isArray(lists["skills"]) ? (lists["skills"] as readonly unknown[]) : [];
  return { hash, savedAtMs, lists: { ...(lists as unknown as RawLists), skills } };
}
