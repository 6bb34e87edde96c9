import { parseExact, stringifyExact } from "../../wire/json/exact-json.ts";
import { createHash } from "node:crypto";
import { mkdir, readFile, unlink } from "node:fs/promises";
import { join } from "node:path";
import type { RawLists } from "../../catalog/model/instance-catalog.ts";
import type { CatalogKeeper, KeptCatalog } from "../../servers/instance/instance-deps.ts";
import { isJsonObject, type JsonObject } from "../../kernel/text/json-bytes.ts";
import { deepestJson } from "../../kernel/limits.ts";
import { slices } from "../../kernel/runtime/slices.ts";
import { openBracket } from "../../wire/json/characters.ts";
import { eachElement, scanMembers, type Span } from "../../wire/json/json-scan.ts";
import { replaceFile } from "./safe/replace-file.ts";

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
        return parseKept(await slices.run(readingKept(await readFile(pathOf(instance)))));
      } catch {
        return undefined;
      }
    },
    save: async (instance, kept) =>
      await inOrder(instance, async () => {
        await mkdir(directory, { recursive: true, mode: 0o700 });
        await replaceFile(pathOf(instance), await slices.run(writingKept({ format, ...kept })));
      }),
    remove: async (instance) =>
      await inOrder(instance, async () => {
        await unlink(pathOf(instance)).catch(() => undefined);
      }),
  };
}

/** The file's text in steps: a list may have many megabytes, and is written whenever it changes. */
function* writingKept({ lists, ...about }: KeptCatalog & { readonly format: number }): Generator<undefined, string> {
  const members: string[] = [];
  for (const [name, value] of Object.entries(lists)) {
    if (value === undefined) continue;
    const texts: string[] = [];
    for (const item of Array.isArray(value) ? (value as readonly unknown[]) : []) {
      yield;
      texts.push(stringifyExact(item));
    }
    members.push(`"${name}":${Array.isArray(value) ? `[${texts.join(",")}]` : stringifyExact(value)}`);
  }
  return `${stringifyExact(about).slice(0, -1)},"lists":{${members.join(",")}}}`;
}

/** The value of the file's text in steps. Throws when it is none. */
function* readingKept(bytes: Buffer): Generator<undefined, JsonObject> {
  const kept: Record<string, unknown> = {};
  for (const member of scanMembers(bytes, 0, bytes.length, deepestJson)) {
    kept[member.key] = member.is("lists") ? yield* readingLists(bytes, member) : valueOf(bytes, member);
  }
  return kept;
}

function* readingLists(bytes: Buffer, { start, end }: Span): Generator<undefined, JsonObject> {
  const lists: Record<string, unknown> = {};
  for (const member of scanMembers(bytes, start, end, deepestJson)) {
    if (bytes[member.start] !== openBracket) {
      lists[member.key] = valueOf(bytes, member);
      continue;
    }
    const items: unknown[] = [];
    for (const element of eachElement(bytes, member.start, member.end, deepestJson)) {
      yield;
      items.push(valueOf(bytes, element));
    }
    lists[member.key] = items;
  }
  return lists;
}

function valueOf(bytes: Buffer, { start, end }: Span): unknown {
  return parseExact(bytes.toString("utf8", start, end));
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
