import { readFileSync } from "node:fs";
import type { InstanceId, PrincipalId } from "../../kernel/ids.ts";
import { isJsonObject } from "../../kernel/json-bytes.ts";
import { replaceFile } from "./replace-file.ts";

/** What is kept of a token; `identity/` declares the same shape. */
interface TokenRecord {
  readonly hash: string;
  readonly instance: InstanceId;
  readonly principal: PrincipalId;
  readonly createdAtMs: number;
  readonly madeUnder: readonly string[];
}

/** Changes when the file's shape does. */
const format = 2;

/** Hashes of instance tokens in one JSON file of the data directory, mode 0600. An unreadable file means no token is valid. */
export function createInstanceTokensFile(path: string, onFailure: (error: unknown) => void) {
  return {
    read(): readonly TokenRecord[] {
      try {
        const kept: unknown = JSON.parse(readFileSync(path, "utf8"));
        if (!isJsonObject(kept) || kept["format"] !== format || !Array.isArray(kept["tokens"]))
          throw new Error("the file has another shape");
        return kept["tokens"].flatMap((token: unknown) => parseToken(token) ?? []);
      } catch (error) {
        if (!(error instanceof Error && "code" in error && error.code === "ENOENT")) onFailure(error);
        return [];
      }
    },
    write: async (tokens: readonly TokenRecord[]): Promise<void> =>
      await replaceFile(path, JSON.stringify({ format, tokens })),
  };
}

function parseToken(token: unknown): TokenRecord | undefined {
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
