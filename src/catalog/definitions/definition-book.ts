import type { ServerConfig } from "../../config/config.ts";
import type { Clock } from "../../kernel/runtime/clock.ts";
import type { AboutInstallation } from "../../kernel/events/event.ts";
import type { InstanceCatalog, ToolEntry } from "../model/snapshot.ts";
import { definitionOwner } from "./definition-origin.ts";
import type { DefinitionJudge, Judged } from "./definition-judge.ts";
import { pinnedIn, textsIn, type PinnedEntry } from "../model/pinned-texts.ts";
import {
  fromKept,
  keptFormat,
  noPins,
  ownHash,
  type DefinitionMode,
  type DefinitionSettings,
  type Pin,
  type Pins,
} from "./definition-pins.ts";

/**
 * Where definitions outlive the process: one text for each owner. Its first line is held in memory, too; each further
 * line is a version of a tool, with its definition.
 */
export interface DefinitionStore {
  /** Undefined where there is none, or it cannot be read. */
  read(owner: string): Promise<string | undefined>;
  /** Rejects when it cannot be written. */
  write(owner: string, text: string): Promise<void>;
}

/** Something that those who look after the gateway are told of. */
export interface DefinitionNews {
  readonly what: "changed" | "held";
  readonly tools: readonly string[];
  readonly reasons: readonly string[];
}

export interface DefinitionBookDeps {
  readonly store: DefinitionStore;
  readonly clock: Pick<Clock, "now">;
  readonly settings: () => DefinitionSettings;
  /** The code that judges definitions: loaded when a new one is listed. */
  readonly judge: () => Promise<DefinitionJudge>;
  readonly onNews: (about: AboutInstallation, news: DefinitionNews) => void;
  readonly onUnwritten: (error: unknown) => void;
}

/** One version of a tool that a person decides about. */
export interface ChosenVersion {
  readonly tool: string;
  readonly hash: string;
}

/** Decides whether a version may be used. */
export interface Verdict {
  readonly state: "taken" | "blocked";
  readonly by: string;
}

/** What servers' definitions of tools were, and which of them may be used. */
export interface DefinitionBook {
  /** Reads a server's file; nothing happens where that was done. */
  open(server: ServerConfig): Promise<void>;
  /** Judges the definitions of tools and prompts, and instructions, that were never seen before. */
  review(server: ServerConfig, about: AboutInstallation, catalog: InstanceCatalog): Promise<void>;
  /** The same catalog with marks on everything that is held back, by everything known now. */
  recall(server: ServerConfig, catalog: InstanceCatalog): InstanceCatalog;
  /** Whether a change of a definition of this server may have to wait for a person. */
  mayHold(server: ServerConfig): boolean;
  /** The pin of this version of a tool; undefined for one that was never judged. */
  pinOf(server: ServerConfig, tool: ToolEntry): Pin | undefined;
  /** The definitions of these versions, as JSON texts; those that are too long to be kept are missing. */
  textsOf(server: ServerConfig, hashes: ReadonlySet<string>): Promise<ReadonlyMap<string, string>>;
  /** Rejects when it cannot be written; then nothing is decided. */
  decide(server: ServerConfig, chosen: readonly ChosenVersion[], verdict: Verdict): Promise<void>;
}

interface Owner {
  /** Of the installation; null for servers of the configuration. */
  readonly team: string | null;
  pins: Pins;
  /** The end of the work on it that was begun last: one after the other. */
  work: Promise<unknown>;
  /** When a change was told of last. */
  toldMs: number;
}

/** Owners as far as they were opened. */
function createOwners(store: DefinitionStore) {
  const owners = new Map<string, Owner>();
  const opening = new Map<string, Promise<void>>();

  async function load(key: string, team: string | null): Promise<void> {
    const text = await store.read(key);
    owners.set(key, { team, pins: readPins(text), work: Promise.resolve(), toldMs: Number.NEGATIVE_INFINITY });
    opening.delete(key);
  }

  return {
    async open(server: ServerConfig): Promise<Owner> {
      const key = definitionOwner(server);
      if (!owners.has(key)) {
        if (!opening.has(key)) opening.set(key, load(key, server.installed?.team ?? null));
        await opening.get(key);
      }
      return owners.get(key) as Owner;
    },
    pinsOf: (server: ServerConfig): Pins => owners.get(definitionOwner(server))?.pins ?? noPins,
    /** Whether another server has a tool of this name: one for all, or of the same team. Other teams' are not told. */
    isElsewhere(own: Owner, name: string): boolean {
      for (const other of owners.values())
        if (other !== own && (other.team ?? own.team) === own.team && other.pins.has(name)) return true;
      return false;
    },
  };
}

async function inTurn<T>(owner: Owner, work: () => Promise<T>): Promise<T> {
  const run = owner.work.then(work);
  owner.work = run.catch(() => undefined);
  return await run;
}

/** A server that changes something every second is told of once a minute. */
const quietMs = 60_000;

/** Knows nothing at first: a server's file is read when it is opened. */
export function createDefinitionBook(deps: DefinitionBookDeps): DefinitionBook {
  const { store, clock, settings } = deps;
  const owners = createOwners(store);
  const modeOf = (server: ServerConfig): DefinitionMode => server.definitions ?? settings().changes;
  const open = async (server: ServerConfig): Promise<Owner> => await owners.open(server);

  function tell(owner: Owner, about: AboutInstallation, { held, changed }: Judged): void {
    const nowMs = clock.now();
    if (held.tools.length > 0) deps.onNews(about, { what: "held", ...held });
    if (changed.tools.length === 0 || nowMs - owner.toldMs < quietMs) return;
    owner.toldMs = nowMs;
    deps.onNews(about, { what: "changed", ...changed });
  }

  async function judgeNew(
    owner: Owner,
    server: ServerConfig,
    tools: readonly PinnedEntry[],
  ): Promise<Judged | undefined> {
    const isNew = (tool: ToolEntry): boolean => owner.pins.get(tool.upstreamName)?.has(ownHash(tool)) !== true;
    if (!tools.some(isNew)) return undefined;
    const key = definitionOwner(server);
    const { judge, fileOf } = await deps.judge();
    const judged = await judge({
      ...{ pins: owner.pins, tools, kept: await store.read(key), nowMs: clock.now() },
      ...{ mode: modeOf(server), newServers: settings().newServers },
      others: { has: (name) => owners.isElsewhere(owner, name) },
    });
    owner.pins = judged.pins;
    // What cannot be written is judged again after a restart, by what was known before.
    await store.write(key, await fileOf(judged.pins, judged.lines)).catch(deps.onUnwritten);
    return judged;
  }

  return {
    open: async (server) => void (await open(server)),
    async review(server, about, catalog) {
      const owner = await open(server);
      const judged = await inTurn(owner, async () => await judgeNew(owner, server, pinnedIn(catalog)));
      if (judged !== undefined) tell(owner, about, judged);
    },
    recall(server, catalog) {
      const pins = owners.pinsOf(server);
      return withHeld(catalog, (tool) => heldBecause(pins, modeOf(server), tool));
    },
    mayHold: (server) => modeOf(server) !== "note",
    pinOf: (server, tool) => owners.pinsOf(server).get(tool.upstreamName)?.get(ownHash(tool)),
    async textsOf(server, hashes) {
      const { textsIn } = await deps.judge();
      return textsIn(await store.read(definitionOwner(server)), hashes);
    },
    async decide(server, chosen, { state, by }) {
      const owner = await open(server);
      const key = definitionOwner(server);
      await inTurn(owner, async () => {
        const next = new Map(owner.pins);
        for (const { tool, hash } of chosen) {
          const versions = next.get(tool);
          const pin = versions?.get(hash);
          if (versions === undefined || pin === undefined) continue;
          const others = [...versions].filter(([other]) => other !== hash);
          const decided: Pin = { ...pin, state, decidedBy: by, decidedAtMs: clock.now() };
          next.set(tool, new Map([...others, [hash, decided]]));
        }
        const [, ...lines] = (await store.read(key))?.split("\n") ?? [];
        const { fileOf } = await deps.judge();
        await store.write(key, await fileOf(next, lines));
        owner.pins = next;
      });
    },
  };
}

function readPins(text: string | undefined): Pins {
  const end = text?.indexOf("\n") ?? 0;
  try {
    const kept = JSON.parse((end === -1 ? text : text?.slice(0, end)) ?? "") as { readonly [name: string]: unknown };
    return kept["format"] === keptFormat ? fromKept(kept["pins"]) : noPins;
  } catch {
    return noPins;
  }
}

/** Why a tool is held back whose definition was never judged: the server has to be asked what it lists. */
export const unseen = "its definition was not looked at yet";

/**
 * Why a tool is held back; undefined for one that may be used. Where nothing is known of any tool of the server, its
 * lists are from before definitions were looked at.
 */
function heldBecause(pins: Pins, mode: DefinitionMode, tool: ToolEntry): string | undefined {
  if (pins.size === 0) return undefined;
  const pin = pins.get(tool.upstreamName)?.get(ownHash(tool));
  if (pin?.state === "blocked") return "it was blocked";
  if (mode === "note" || pin?.state === "taken") return undefined;
  if (pin === undefined) return unseen;
  return pin.because.join("; ");
}

/** The same object where nothing is otherwise than it was. */
function withHeld(catalog: InstanceCatalog, reasonOf: (tool: ToolEntry) => string | undefined): InstanceCatalog {
  let isSame = true;
  const because = textsIn(catalog).flatMap((entry) => {
    const reason = reasonOf(entry);
    return reason === undefined ? [] : [[entry.upstreamName, reason] as const];
  });
  isSame = JSON.stringify(because) === JSON.stringify(Object.entries(catalog.heldTexts ?? {}));
  const tools = catalog.tools.map((tool) => {
    const reason = reasonOf(tool);
    if (tool.held === reason) return tool;
    isSame = false;
    const { held: _, ...entry } = tool;
    return Object.freeze(reason === undefined ? entry : { ...entry, held: reason });
  });
  if (isSame) return catalog;
  const { heldTexts: _, ...rest } = catalog;
  const heldTexts = because.length === 0 ? {} : { heldTexts: Object.freeze(Object.fromEntries(because)) };
  return Object.freeze({ ...rest, ...heldTexts, tools: Object.freeze(tools) });
}
