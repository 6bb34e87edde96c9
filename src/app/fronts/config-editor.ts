import { createHash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { setImmediate } from "node:timers/promises";
import { compareConfigs } from "../../config/edit/config-comparison.ts";
import {
  openConfigFile,
  readPrevious,
  saveConfig,
  type EditableConfig,
  editConfig,
} from "../../config/edit/config-edit.ts";
import type { Config } from "../../config/config.ts";
import { problemsOf, InvalidConfig } from "../../config/file/problems.ts";
import { placedRows } from "../../config/rows/row-reading.ts";
import { createConfigSecrets } from "../../config/secrets.ts";
import { settingsTable } from "../../config/settings/settings-table.ts";
import type {
  ConfigCheck,
  ConfigFile,
  ConfigProblem,
  Management,
  SettingStanding,
  ConfigEntries,
  ConfigEntry,
} from "../../operations/request/management.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import { redactTexts } from "../../records/redaction/redacted-value.ts";
import { createRedaction } from "../../records/redaction/redaction.ts";
import { listValues, type StartedWith } from "./config-values.ts";
import type { GatewayParts } from "../gateway-parts.ts";
import { lookAtEntry } from "../../config/edit/entry-patch.ts";
import { hideMembers } from "../../config/edit/config-listing.ts";
import { parseDocument } from "../../config/file/document.ts";
import type { EntryChange } from "../../config/entry/entry-change.ts";
import { findServers } from "../../config/file/source.ts";
import { readEntryRules } from "../../config/entry/tool-rule.ts";

export interface ConfigEditorDeps {
  readonly gateway: Pick<GatewayParts, "config" | "redaction">;
  /** Where the file is, or would be made. */
  readonly file: () => string;
  /** What a text would mean, with the flags and variables of the start. Rejects with CONFIG_INVALID. */
  readonly loadText: (text: string) => Promise<Config>;
  /** Called before the file is written. */
  readonly beforeSave: (opened: EditableConfig, text: string) => Promise<void>;
  /** The configuration of the start. */
  readonly started: Config;
  readonly startedWith: StartedWith;
}

/** The configuration file, for the operator of the gateway: as text, which keeps comments and layout. */
export function createConfigEditor(deps: ConfigEditorDeps): Omit<Management, "machine"> {
  const { gateway, file, loadText, beforeSave, started } = deps;

  async function check(text: string): Promise<ConfigCheck> {
    const known = gateway.redaction.text;
    try {
      const next = await loadText(text.trim() === "" ? "{}" : text);
      const unknown = createRedaction({ secrets: createConfigSecrets(() => next) }).text;
      const hide = (shown: string): string => unknown(known(shown));
      return {
        isUsable: true,
        problems: next.warnings.map((warning) => toProblem(hide(warning), true)),
        differences: redactTexts(compareConfigs({ current: gateway.config(), started, next }), hide),
      };
    } catch (error) {
      const problems = problemsOf(error).map((problem) => toProblem(known(problem), false));
      return { isUsable: false, problems, differences: [] };
    }
  }

  async function settings(): Promise<readonly SettingStanding[]> {
    const current = gateway.config();
    const listed = new Map((await listValues(current, deps.startedWith)).map((row) => [row.path, row]));
    const atStart = new Map((await listValues(started, deps.startedWith)).map((row) => [row.path, row.value]));
    return placedRows(settingsTable).map(({ path: steps, row }) => {
      const path = ["toolyard", ...steps].join(".");
      const { value = null, origin = "default" } = listed.get(path) ?? {};
      const needsRestart = row.isReadAtStart === true;
      const before = needsRestart ? (atStart.get(path) ?? null) : null;
      const runsWith = isDeepStrictEqual(before, value) ? null : before;
      return { path, value, origin, from: fromOf(origin, current.file), needsRestart, runsWith };
    });
  }

  return {
    settings,
    values: async () => await listValues(gateway.config(), deps.startedWith),
    edit: (text, changes) =>
      editText(
        { file: file(), text },
        changes.map(({ path, value }) => ({ path, value })),
      ),
    ...createEntryChanges(deps),
    previous: async () => await readPrevious(file()),
    read: async () => toFile(await openConfigFile(file())),
    check,
    async save(text, etag) {
      const opened = await openConfigFile(file());
      const now = toFile(opened);
      if (now.etag !== etag)
        throw new GatewayError("CONFIG_CHANGED", `${now.file} was changed by somebody else in the meantime`, {
          data: { current: { text: now.text, etag: now.etag } },
        });
      const { isUsable, problems } = await check(text);
      if (!isUsable) throw new GatewayError("CONFIG_INVALID", problems[0]?.message ?? "the text is no configuration");
      await beforeSave(opened, text);
      await saveConfig(opened, text);
      return toFile({ ...opened, text });
    },
  };
}

function fromOf(origin: string, file: string | undefined): SettingStanding["from"] {
  if (origin === "default") return "default";
  return file !== undefined && origin.startsWith(`${file}:`) ? "file" : "given";
}

function toFile({ file, text }: Pick<EditableConfig, "file" | "text">): ConfigFile {
  return { file, text, etag: `"${createHash("sha256").update(text).digest("base64url").slice(0, 27)}"` };
}

/** Problems begin with their place: `/home/me/toolyard.json:3:5: mcpServers.x: why`. */
function toProblem(text: string, isWarning: boolean): ConfigProblem {
  const place = /^.*?:(\d+):(\d+): /s.exec(text);
  if (place === null) return { line: null, column: null, message: text, isWarning };
  return { line: Number(place[1]), column: Number(place[2]), message: text.slice(place[0].length), isWarning };
}

/** Changes of single entries of the configuration file: each reads it, and writes what it means of it. */
function createEntryChanges({
  gateway,
  file,
  loadText,
  beforeSave,
}: ConfigEditorDeps): Pick<Management, "entries" | "changeEntries"> {
  // The secrets of the configuration in force.
  const hideKnown = (text: string): string => gateway.redaction.text(text);
  let turn: Promise<unknown> = Promise.resolve();

  async function read(opened: Pick<EditableConfig, "file" | "text">): Promise<ConfigEntries> {
    const text = opened.text.trim() === "" ? "{}" : opened.text;
    const config = await loadText(text);
    const document = parseDocument(text, opened.file);
    const unknown = createRedaction({ secrets: createConfigSecrets(() => config) }).text;
    const places = findServers(document);
    const servers = config.servers.flatMap(({ slug, key, disabledReason }, at): ConfigEntry[] => {
      const path = places[at]?.path;
      if (path === undefined) return [];
      const value = document.value(path);
      const shown = redactTexts(hideMembers(value, value, ["mcpServers", "entry"]), (part) => unknown(hideKnown(part)));
      const rules = readEntryRules({ document, path });
      return [{ slug, key, document, path, shown, rules, problem: disabledReason }];
    });
    return { file: opened.file, servers };
  }

  async function change(plan: (now: ConfigEntries) => readonly EntryChange[]): Promise<ConfigEntries> {
    const opened = await openConfigFile(file());
    const before = await read(opened);
    const changes = plan(before);
    if (changes.length === 0) return before;
    const text = await editInTurns(opened, changes);
    const after = await read({ file: opened.file, text });
    refuseWorse(before, after);
    await beforeSave(opened, text);
    await saveConfig(opened, text);
    return after;
  }

  return {
    entries: async () => await read(await openConfigFile(file())),
    async changeEntries(plan) {
      // Of two at the same moment the second sees what the first has made. Requests are limited before they come here.
      const mine = turn.then(async () => await change(plan));
      turn = mine.catch(() => undefined);
      return await mine;
    },
  };
}

/** Each is an edit of the whole text: so many take no longer than others may wait. */
const editsPerTurn = 5;

/** Rejects with CONFIG_INVALID for a text in which that cannot be done. */
async function editInTurns(opened: EditableConfig, changes: readonly EntryChange[]): Promise<string> {
  let { text } = opened;
  for (let at = 0; at < changes.length; at += editsPerTurn) {
    if (at > 0) await setImmediate();
    text = editText({ file: opened.file, text }, changes.slice(at, at + editsPerTurn));
  }
  return text;
}

/** Throws CONFIG_INVALID for a text in which that cannot be done. */
function editText(opened: Pick<EditableConfig, "file" | "text">, changes: readonly EntryChange[]): string {
  try {
    return editConfig(opened, changes);
  } catch (error) {
    if (error instanceof GatewayError) throw error;
    const why = error instanceof Error ? error.message : String(error);
    throw new GatewayError("CONFIG_INVALID", `this text cannot be changed so: ${why}`, { cause: error });
  }
}

/**
 * A wrong entry takes its server away, which the author of a change to one field would not notice. Earlier mistakes may
 * stay, and a variable that is not set yet is no mistake. Throws CONFIG_INVALID.
 */
function refuseWorse(before: ConfigEntries, after: ConfigEntries): void {
  const [wrongKey] = after.servers[0]?.document.wrongKeys ?? [];
  if (wrongKey !== undefined) throw new InvalidConfig([wrongKey.problem]);
  for (const entry of after.servers) {
    if (entry.problem === undefined) continue;
    const earlier = before.servers.find(({ slug }) => slug === entry.slug);
    const known = new Set(earlier === undefined ? [] : lookAtEntry(earlier).problems.map(withoutPlace));
    const added = lookAtEntry(entry).problems.filter((problem) => !known.has(withoutPlace(problem)));
    if (added.length > 0) throw new InvalidConfig(added);
  }
}

/** Problems begin with their place, which moves when something before it changes. */
function withoutPlace(problem: string): string {
  return problem.replace(/^.*?:\d+:\d+: /s, "");
}
