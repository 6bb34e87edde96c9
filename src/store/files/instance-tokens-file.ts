import { readFileSync } from "node:fs";
import type { InstanceId, PrincipalId } from "../../kernel/ids.ts";
import { isJsonObject } from "../../kernel/text/json-bytes.ts";
import type { InstanceTokenRecord, InstanceTokenStore } from "../store.ts";
import { replaceFile } from "./safe/replace-file.ts";

/** Increased when the format of the file changes. */
const format = 2;

/**
 * Stores the hashes of instance tokens in one JSON file with mode 0600. If the file cannot be read, no token is
 * valid.
 */
export function createInstanceTokensFile(path: string, onFailure: (error: unknown) => void): InstanceTokenStore {
  return {
    read() {
      try {
        const kept: unknown = JSON.parse(readFileSync(path, "utf8"));
        if (!isJsonObject(kept) || kept["format"] !== format || !Array.isArray(kept["tokens"]))
          throw new Error("the file has an unknown format");
        return kept["tokens"].flatMap((token: unknown) => parseToken(token) ?? []);
      } catch (error) {
        if (!(error instanceof Error && "code" in error && error.code === "ENOENT")) onFailure(error);
        return [];
      }
    },
    write: async (tokens) => await replaceFile(path, JSON.stringify({ format, tokens })),
  };
}

function parseToken(token: unknown): InstanceTokenRecord | undefined {
  if (!isJsonObject(token)) return undefined;
  const { hash, instance, principal, createdAtMs, madeUnder } = token;
  const isWhole =
    typeof hash === "string" &&
    /^[0-9a-f]{64}$/.test(hash) &&
    typeof instance === "string" &&
    typeof principal === "string" &&
    typeof createdAtMs === "number" &&
    Array.isArray(madeUnder) &&
    madeUnder.every((credential) => typeof credential === "string");
  return isWhole
    ? { hash, instance: instance as InstanceId, principal: principal as PrincipalId, createdAtMs, madeUnder }
    : undefined;
}
