import { isJsonObject } from "../../kernel/text/json-bytes.ts";
import { digestOf, type ToolEntry } from "../model/snapshot.ts";

/** How definitions that changed are treated. */
export type DefinitionMode = "check" | "hold" | "note";

export interface DefinitionSettings {
  readonly changes: DefinitionMode;
  readonly newServers: "use" | "hold";
}

/** SHA-256 of the definition as the server wrote it. */
export function ownHash({ original, hash }: Pick<ToolEntry, "original" | "hash">): string {
  return original === undefined ? hash : digestOf(original);
}

/** One version of a tool's definition, as it was judged. */
export interface Pin {
  /** `taken`: in use. `held`: it waits for a person. `blocked`: a person said no. */
  readonly state: "taken" | "held" | "blocked";
  /** Reasons against it, and things noticed, in words that follow the tool's name. */
  readonly because: readonly string[];
  /** The hash of the version in use when this one came; null for the first one. */
  readonly from: string | null;
  readonly seenAtMs: number;
  readonly decidedBy: string | null;
  readonly decidedAtMs: number | null;
}

/** Versions by their hash, the latest last. */
export type Versions = ReadonlyMap<string, Pin>;

/** The versions of one owner's tools, by the server's own names. Replaced as a whole. */
export type Pins = ReadonlyMap<string, Versions>;

export const noPins: Pins = new Map();

/** Versions of one tool: those of a rollout, of eras, and of people whose lists differ. */
const mostVersions = 50;
/** Of all tools of an owner: a server with thousands of tools that changes all of them each time has fewer of each. */
const mostVersionsInAll = 20_000;
const fewestVersions = 2;
/** A server may list other names each time. Forgotten first: what was listed longest ago. */
const mostTools = 20_000;

/** Makes this version the latest of its tool. */
export function addPin(pins: Map<string, Versions>, tool: string, [hash, pin]: readonly [string, Pin]): void {
  const versions = new Map(pins.get(tool));
  versions.delete(hash);
  versions.set(hash, pin);
  const most = Math.min(mostVersions, Math.max(fewestVersions, Math.floor(mostVersionsInAll / pins.size)));
  while (versions.size > most) versions.delete(leastNeeded(versions));
  pins.delete(tool);
  pins.set(tool, versions);
}

/** Takes out tools that are too many. Those of `listed` stay, and those of which a person blocked something. */
export function limitPins(pins: Map<string, Versions>, listed: ReadonlySet<string>): void {
  for (const name of pins.keys()) {
    if (pins.size <= mostTools) break;
    if (!listed.has(name) && ![...(pins.get(name)?.values() ?? [])].some(({ state }) => state === "blocked"))
      pins.delete(name);
  }
}

/** The oldest, but what a person blocked comes last of all. */
function leastNeeded(versions: Versions): string {
  const hashes = [...versions.keys()].slice(0, -1);
  return hashes.find((hash) => versions.get(hash)?.state !== "blocked") ?? (hashes[0] as string);
}

/** The version that is in use, as far as it can be known: the latest that was taken. */
export function latestTaken(versions: Versions | undefined): string | undefined {
  let latest: string | undefined;
  for (const [hash, { state }] of versions ?? []) if (state === "taken") latest = hash;
  return latest;
}

/** Increased when the format of the files changes; another format counts as nothing known. */
export const keptFormat = 1;

/** The first line of a file: the pins as one JSON object, in steps of one tool. */
export function* writingPins(pins: Pins): Generator<undefined, string> {
  const members: string[] = [];
  for (const [tool, versions] of pins) {
    yield;
    members.push(`${JSON.stringify(`:${tool}`)}:${JSON.stringify([...versions].map(toRow))}`);
  }
  return `{"format":${keptFormat},"pins":{${members.join(",")}}}`;
}

function toRow([hash, { state, because, from, seenAtMs, decidedBy, decidedAtMs }]: readonly [string, Pin]): unknown {
  const more = because.length > 0 || from !== null || decidedBy !== null ? [because, from, decidedBy, decidedAtMs] : [];
  return [hash, state, seenAtMs, ...more];
}

/** The same again; damaged rows are left out. */
export function fromKept(kept: unknown): Pins {
  const pins = new Map<string, Versions>();
  for (const [name, rows] of isJsonObject(kept) ? Object.entries(kept) : []) {
    const versions = (Array.isArray(rows) ? (rows as readonly unknown[]) : []).flatMap((row) => fromRow(row) ?? []);
    if (versions.length > 0) pins.set(name.slice(1), new Map(versions));
  }
  return pins;
}

const states = ["taken", "held", "blocked"] as const;

function fromRow(row: unknown): [readonly [string, Pin]] | undefined {
  if (!Array.isArray(row)) return undefined;
  const [hash, given, seenAtMs, because, from, decidedBy, decidedAtMs] = row as readonly unknown[];
  const state = states.find((one) => one === given);
  if (typeof hash !== "string" || state === undefined || typeof seenAtMs !== "number") return undefined;
  const texts = Array.isArray(because)
    ? (because as readonly unknown[]).filter((one) => typeof one === "string")
    : none;
  const pin: Pin = {
    ...{ state, seenAtMs, because: texts.length === 0 ? none : texts, from: typeof from === "string" ? from : null },
    decidedBy: typeof decidedBy === "string" ? decidedBy : null,
    decidedAtMs: typeof decidedAtMs === "number" ? decidedAtMs : null,
  };
  return [[hash, pin]];
}

/** The same list for all, because most pins have nothing against them. */
export const none: readonly string[] = Object.freeze([]);
