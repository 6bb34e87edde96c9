import { readFileSync } from "node:fs";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import { isJsonObject, type JsonObject } from "../../kernel/text/json-bytes.ts";
import { replaceFile } from "./safe/replace-file.ts";
import { setAside } from "../quarantine.ts";

/** A file in which all of something is kept as one JSON object. */
export interface KeptFile<Kept> {
  readonly path: string;
  /** Increased when the format of the file changes. */
  readonly format: number;
  /** The contents, for messages: `kept searches`. */
  readonly what: string;
  /** Reads the object; throws for one that it does not understand. Undefined: there is no file. */
  readonly parse: (kept: JsonObject | undefined) => Kept;
  readonly onFailure: (error: unknown) => void;
}

/**
 * Such a file, with mode 0600. A damaged one, or one of a newer format, is set aside before another takes its place;
 * one that cannot be read or renamed is left, and reading throws.
 */
export function createKeptFile<Kept extends object>(file: KeptFile<Kept>) {
  const { path, format, what, parse, onFailure } = file;
  return {
    read(): Kept {
      const text = readText(path, what);
      if (text === undefined) return parse(undefined);
      try {
        const kept: unknown = JSON.parse(text);
        if (!isJsonObject(kept) || kept["format"] !== format) throw new Error("the file has an unknown format");
        return parse(kept);
      } catch (error) {
        setAside(path, Date.now());
        onFailure(error);
        return parse(undefined);
      }
    },
    async write(kept: Kept): Promise<void> {
      try {
        await replaceFile(path, JSON.stringify({ format, ...kept }));
      } catch (error) {
        const isFull = error instanceof Error && "code" in error && error.code === "ENOSPC";
        throw new GatewayError(isFull ? "STORE_FULL" : "STORE_UNAVAILABLE", `${what} cannot be written`, {
          cause: error,
        });
      }
    },
  };
}

/** Undefined where there is no file. */
function readText(path: string, what: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw new GatewayError("STORE_UNAVAILABLE", `${what} cannot be read`, { cause: error });
  }
}
