import { createHash } from "node:crypto";
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { DefinitionStore } from "../../catalog/definitions/definition-book.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import { replaceFile } from "./safe/replace-file.ts";

/**
 * Keeps the definitions of servers in one file per owner in `directory`. A file that cannot be read counts
 * as absent, which is reported to `onFailure`.
 */
export function createDefinitionFiles(directory: string, onFailure: (error: unknown) => void): DefinitionStore {
  // Owners have addresses in them, which may be secret.
  const pathOf = (owner: string): string => {
    const [name = ""] = owner.replace(/[^A-Za-z0-9_\n-]/g, "_").split("\n");
    return join(
      directory,
      `${name.slice(0, 60)}-${createHash("sha256").update(owner).digest("hex").slice(0, 16)}.jsonl`,
    );
  };

  return {
    async read(owner) {
      try {
        return await readFile(pathOf(owner), "utf8");
      } catch (error) {
        if (!(error instanceof Error && "code" in error && error.code === "ENOENT")) onFailure(error);
        return undefined;
      }
    },
    async write(owner, text) {
      try {
        await mkdir(directory, { recursive: true, mode: 0o700 });
        await replaceFile(pathOf(owner), text);
      } catch (error) {
        const isFull = error instanceof Error && "code" in error && error.code === "ENOSPC";
        throw new GatewayError(isFull ? "STORE_FULL" : "STORE_UNAVAILABLE", "definitions cannot be written", {
          cause: error,
        });
      }
    },
  };
}
