import { setImmediate } from "node:timers/promises";
import { lookAtEntry } from "../../config/edit/entry-patch.ts";
import { editConfig, openConfigFile, saveConfig, type EditableConfig } from "../../config/edit/config-edit.ts";
import { hideMembers } from "../../config/edit/config-listing.ts";
import type { Config } from "../../config/config.ts";
import { parseDocument } from "../../config/file/document.ts";
import type { EntryChange } from "../../config/entry/entry-change.ts";
import { InvalidConfig } from "../../config/file/problems.ts";
import { createConfigSecrets } from "../../config/secrets.ts";
import { findServers } from "../../config/file/source.ts";
import { readEntryRules } from "../../config/entry/tool-rule.ts";
import type { ConfigEntries, ConfigEntry, Management } from "../../operations/request/management.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import { redactTexts } from "../../records/redaction/redacted-value.ts";
import { createRedaction } from "../../records/redaction/redaction.ts";

export interface EntryChangesDeps {
  readonly file: () => string;
  /** What a text would mean, with the flags and variables of the start. Rejects with CONFIG_INVALID. */
  readonly loadText: (text: string) => Promise<Config>;
  /** Called before the file is written. */
  readonly beforeSave: (opened: EditableConfig, text: string) => Promise<void>;
  /** Takes out the secrets of the configuration in force. */
  readonly hideKnown: (text: string) => string;
}

/** Changes of single entries of the configuration file: each reads it, and writes what it means of it. */
export function createEntryChanges({
  file,
  loadText,
  beforeSave,
  hideKnown,
}: EntryChangesDeps): Pick<Management, "entries" | "changeEntries"> {
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
export function editText(opened: Pick<EditableConfig, "file" | "text">, changes: readonly EntryChange[]): string {
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
