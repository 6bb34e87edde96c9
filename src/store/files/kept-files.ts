import { readFileSync } from "node:fs";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import { isJsonObject, type JsonObject } from "../../kernel/text/json-bytes.ts";
import { replaceFile } from "./safe/replace-file.ts";
import { setAside } from "../quarantine.ts";
import type { KeptSearch, KeptSearchStore } from "../../catalog/discovery/kept-searches.ts";
import type { Approval, ApprovalStore, Grant } from "../store.ts";
import type { PrincipalId } from "../../kernel/ids.ts";

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

/** Searches that people keep as tests. Entries that are no search are skipped. */
export function createKeptSearchesFile(path: string, onFailure: (error: unknown) => void): KeptSearchStore {
  const file = createKeptFile({
    ...{ path, format: 1, what: "kept searches", onFailure },
    parse: (kept): { readonly searches: readonly KeptSearch[] } => ({
      searches: listOf(kept?.["searches"] ?? []).flatMap((search) => parseSearch(search) ?? []),
    }),
  });
  return {
    read: (): readonly KeptSearch[] => file.read().searches,
    write: async (searches) => await file.write({ searches }),
  };
}

/** Calls that wait for a person's yes, and remembered yeses. Entries that lack what decides are skipped. */
export function createApprovalsFile(path: string, onFailure: (error: unknown) => void): ApprovalStore {
  return createKeptFile({
    ...{ path, format: 1, what: "approvals", onFailure },
    parse: (kept) => ({
      approvals: listOf(kept?.["approvals"] ?? []).filter((one): one is Approval => hasTexts(one, approvalTexts)),
      grants: listOf(kept?.["grants"] ?? []).filter((one): one is Grant => hasTexts(one, grantTexts)),
    }),
  });
}

const approvalTexts = ["id", "principal", "instance", "tool", "definition", "binding", "state"];
const grantTexts = ["id", "kind", "principal", "instance", "tool", "definition"];

function hasTexts(value: unknown, names: readonly string[]): boolean {
  return isJsonObject(value) && names.every((name) => typeof value[name] === "string");
}

function listOf(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw new Error("the file has an unknown format");
  return value;
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
