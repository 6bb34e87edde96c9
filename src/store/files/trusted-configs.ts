import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { UntrustedConfig, type FoundConfig } from "../../config/found-config.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import { isJsonObject } from "../../kernel/text/json-bytes.ts";
import { replaceFile } from "./safe/replace-file.ts";

/** A found configuration file that the user allowed. */
export interface TrustedConfig {
  readonly place: string;
  readonly hash: string;
  readonly allowedAtMs: number;
  /** What was allowed, to show what changes; undefined where it was too long to be kept. */
  readonly text: string | undefined;
}

/** The configuration files that the user allowed, each with the hash of its contents. */
export interface TrustedConfigs {
  /** Rejects with UntrustedConfig unless exactly this was allowed. */
  admit(found: FoundConfig): Promise<void>;
  allow(found: Pick<FoundConfig, "place" | "hash" | "text">): Promise<void>;
  /** Resolves to false where nothing was allowed. */
  forget(place: string): Promise<boolean>;
  find(place: string): Promise<TrustedConfig | undefined>;
  list(): Promise<readonly TrustedConfig[]>;
}

/** Real files are shorter. Of a longer one, changes are not shown. */
const keptCharacters = 64 * 1024;

/** One file for each, readable by its owner only, so that two commands at once lose nothing. */
export function createTrustedConfigs(userData: string): TrustedConfigs {
  const folder = join(userData, "trusted");
  const pathOf = (place: string): string =>
    join(folder, `${createHash("sha256").update(place).digest("hex").slice(0, 32)}.json`);

  async function read(path: string): Promise<TrustedConfig | undefined> {
    try {
      return parseTrusted(JSON.parse(await readFile(path, "utf8")));
    } catch {
      return undefined;
    }
  }

  async function find(place: string): Promise<TrustedConfig | undefined> {
    const kept = await read(pathOf(place));
    return kept?.place === place ? kept : undefined;
  }

  return {
    find,
    async admit(found) {
      const kept = await find(found.place);
      if (kept?.hash !== found.hash) throw new UntrustedConfig(found, kept && (kept.text ?? ""));
    },
    async allow({ place, hash, text }) {
      const kept = { place, hash, allowedAtMs: Date.now(), ...(text.length <= keptCharacters ? { text } : {}) };
      try {
        await mkdir(folder, { recursive: true, mode: 0o700 });
        await replaceFile(pathOf(place), JSON.stringify(kept));
      } catch (error) {
        const said = error instanceof Error ? error.message : String(error);
        throw new GatewayError("DATA_DIR_UNWRITABLE", `what was allowed cannot be kept: ${said}`, { cause: error });
      }
    },
    async forget(place) {
      if ((await find(place)) === undefined) return false;
      await rm(pathOf(place), { force: true });
      return true;
    },
    async list() {
      const names = await readdir(folder).catch(() => []);
      const all = await Promise.all(
        names.filter((name) => name.endsWith(".json")).map((name) => read(join(folder, name))),
      );
      return all.filter((kept) => kept !== undefined).sort((a, b) => (a.place < b.place ? -1 : 1));
    },
  };
}

function parseTrusted(value: unknown): TrustedConfig | undefined {
  if (!isJsonObject(value)) return undefined;
  const { place, hash, allowedAtMs, text } = value;
  if (typeof place !== "string" || typeof hash !== "string" || typeof allowedAtMs !== "number") return undefined;
  return { place, hash, allowedAtMs, text: typeof text === "string" ? text : undefined };
}
