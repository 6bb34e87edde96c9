import { parsePins, type PinChoice } from "../../config/rows/tool-rows.ts";
import type { PinStore } from "../../catalog/discovery/pins.ts";
import { readFileSync } from "node:fs";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import { isJsonObject, type JsonObject } from "../../kernel/text/json-bytes.ts";
import { replaceFile } from "./safe/replace-file.ts";
import { setAside } from "../quarantine.ts";
import type { KeptSearch, KeptSearchStore } from "../../catalog/discovery/kept-searches.ts";
import type { Approval, ApprovalStore, Grant, KeptApprovals } from "../approval-rows.ts";
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
        if (!isJsonObject(kept) || kept["format"] !== format) throw unknownFormat();
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

/**
 * The pins that people chose who are not in the database. What cannot be pinned is skipped.
 */
export function createPinsFile(path: string, onFailure: (error: unknown) => void): PinStore {
  const file = createKeptFile({
    ...{ path, format: 1, what: "pinned tools", onFailure },
    parse(kept): { readonly pins: Readonly<Record<string, PinChoice>> } {
      const given = kept?.["pins"] ?? {};
      if (!isJsonObject(given)) throw unknownFormat();
      const pins = Object.entries(given).map(([person, choice]) => [person, parsePins(choice)] as const);
      return {
        pins: Object.fromEntries(pins.filter((pin): pin is readonly [string, PinChoice] => pin[1] !== undefined)),
      };
    },
  });
  let chosen: ReadonlyMap<string, PinChoice> | undefined;
  let writing: Promise<unknown> = Promise.resolve();
  const read = (): ReadonlyMap<string, PinChoice> => (chosen ??= new Map(Object.entries(file.read().pins)));

  async function write(person: string, choice: PinChoice | undefined): Promise<void> {
    const next = new Map(read());
    if (choice === undefined) next.delete(person);
    else next.set(person, choice);
    await file.write({ pins: Object.fromEntries(next) });
    chosen = next;
  }

  return {
    of: async (person) => read().get(person),
    async choose(person, choice) {
      const done = writing.then(async () => await write(person, choice));
      writing = done.catch(() => undefined);
      await done;
    },
  };
}

/** Calls that wait for a person's yes, and remembered yeses. Entries that lack what decides are skipped. */
export function createApprovalsFile(path: string, onFailure: (error: unknown) => void): ApprovalStore {
  const file = createKeptFile({
    ...{ path, format: 1, what: "approvals", onFailure },
    parse: (kept): KeptApprovals => ({
      approvals: listOf(kept?.["approvals"] ?? [])
        .filter((one): one is Approval => hasTexts(one, approvalTexts))
        .map((one) => ({ ...ofOneself, ...one })),
      grants: listOf(kept?.["grants"] ?? [])
        .filter((one): one is Grant => hasTexts(one, grantTexts))
        .map((one) => ({ ...ofOneself, ...one })),
    }),
  });
  return {
    read: async () => file.read(),
    async write(next) {
      await file.write(next);
      return true;
    },
  };
}

/** Of those that were kept before somebody else could say yes. */
const ofOneself = { approver: "self", team: null, user: null, roles: [] as readonly string[] } as const;
const approvalTexts = ["id", "principal", "instance", "tool", "definition", "binding", "state"];
const grantTexts = ["id", "kind", "principal", "instance", "tool", "definition"];

function hasTexts(value: unknown, names: readonly string[]): boolean {
  return isJsonObject(value) && names.every((name) => typeof value[name] === "string");
}

function listOf(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw unknownFormat();
  return value;
}

function unknownFormat(): Error {
  return new Error("the file has an unknown format");
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
