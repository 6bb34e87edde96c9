import type { KeptSearch, KeptSearchStore } from "../../catalog/discovery/kept-searches.ts";
import type { Approval, ApprovalStore, Grant } from "../store.ts";
import type { PrincipalId } from "../../kernel/ids.ts";
import { isJsonObject } from "../../kernel/text/json-bytes.ts";
import { createKeptFile } from "./kept-file.ts";

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
