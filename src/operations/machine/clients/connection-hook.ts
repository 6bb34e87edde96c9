import { openClientFile, planEdit, type PlannedEdit } from "../../../config/clients/connect/client-edit.ts";
import type { Target } from "../../../config/clients/connect/client-connection.ts";
import type { Config } from "../../../config/config.ts";
import { GatewayError } from "../../../kernel/failures/gateway-error.ts";
import type { Surroundings } from "../surroundings/surroundings.ts";
import { surroundingsOf } from "./connection-target.ts";
import { ownCommandFor } from "../surroundings/own-command.ts";
import { isDeepStrictEqual } from "node:util";
import { isJsonObject } from "../../../kernel/text/json-bytes.ts";
import type { EntryChange } from "../../../config/entry/entry-change.ts";
import { type ClientSurroundings, toPath } from "../../../config/clients/table/client-places.ts";
import type { ClientScope } from "../../../config/clients/table/client-row.ts";
import { type ClientValues, valueAt } from "../../../config/clients/connect/client-text.ts";
import { plainName } from "../../../config/clients/connect/settings-text.ts";

/** The file with our hook instead of that with our entry. Throws CONFIG_INVALID for clients without hooks. */
export function hookTarget(place: Surroundings, target: Target): Target {
  if (target.row.id !== "claude-code")
    throw new GatewayError("CONFIG_INVALID", `${target.row.label} has no such hooks`, {
      hint: "--hook is for claude-code.",
    });
  return { ...target, path: hookFile(target.scope, surroundingsOf(place)), format: "json" };
}

/** What puts our hook before the calls of this entry. Throws CONFIG_INVALID without a configuration that has rules. */
export async function planHook(
  place: Surroundings,
  { config, target, name }: { readonly config: Config; readonly target: Target; readonly name: string },
): Promise<readonly PlannedEdit[]> {
  const { path } = hookTarget(place, target);
  if (config.file === undefined)
    throw new GatewayError("CONFIG_INVALID", "there is no configuration whose rules the hook could apply", {
      hint: "Name it with --config.",
    });
  const own = ownCommandFor(place, true);
  const hook = { command: own.command, args: [...own.args, "hook", "claude-code", "--config", config.file] };
  return await planIn(path, name, hook);
}

/** What takes our hook out again, where there is one. */
export async function planWithoutHook(
  place: Surroundings,
  { row, scope }: Target,
  name: string,
): Promise<readonly PlannedEdit[]> {
  return row.id === "claude-code" ? await planIn(hookFile(scope, surroundingsOf(place)), name, undefined) : [];
}

async function planIn(path: string, name: string, hook: HookCommand | undefined): Promise<readonly PlannedEdit[]> {
  const opened = await openClientFile(path, "json");
  const changes = hookChanges(opened.values, name, { hook, platform: process.platform });
  return changes.length === 0 ? [] : [await planEdit(opened, changes)];
}

/** The command that Claude Code is to run before a call. */
interface HookCommand {
  readonly command: string;
  readonly args: readonly string[];
}

/** Seconds. It takes a fraction of one; a machine without time for it must not leave a call without its answer. */
const timeoutS = 30;
const hooksAt = ["hooks", "PreToolUse"] as const;

/**
 * Claude Code's settings for this scope, in which hooks stand. For a project they are those that only its user has: a
 * command of this machine would refuse every call on another.
 */
function hookFile(scope: ClientScope, surroundings: ClientSurroundings): string {
  const { CLAUDE_CONFIG_DIR: folder } = surroundings.env;
  if (scope !== "user") return toPath("project:.claude/settings.local.json", surroundings);
  return folder
    ? toPath("project:settings.json", { ...surroundings, cwd: folder })
    : toPath("home:.claude/settings.json", surroundings);
}

/** The changes that put our hook before the calls of the entry with this name; without a name, those that remove it. */
function hookChanges(
  values: ClientValues,
  name: string,
  { hook, platform }: { readonly hook: HookCommand | undefined; readonly platform: NodeJS.Platform },
): readonly EntryChange[] {
  const ours = `mcp__${plainName(name)}__`;
  const older = `${ours}execute_mcp_tool`;
  const matcher = `${older}|${ours}execute_read_only_mcp_tool`;
  const listed = valueAt(values, hooksAt);
  const groups: readonly unknown[] = Array.isArray(listed) ? listed : [];
  const at = groups.findIndex((group) => isOurs(group, [matcher, older]));
  if (hook === undefined) return at === -1 ? [] : [removal(values, groups, at)];
  const group = { matcher, hooks: [toHook(hook, platform)] };
  if (isDeepStrictEqual(groups[at], group)) return [];
  return [{ path: [...hooksAt, at === -1 ? groups.length : at], value: group }];
}

/** With the list, and the object around it, where nothing else is in them. */
function removal(values: ClientValues, groups: readonly unknown[], at: number): EntryChange {
  if (groups.length > 1) return { path: [...hooksAt, at], value: undefined };
  const isAlone = Object.keys(valueAt(values, ["hooks"]) ?? {}).length === 1;
  return { path: isAlone ? ["hooks"] : hooksAt, value: undefined };
}

function isOurs(group: unknown, matchers: readonly unknown[]): boolean {
  if (!isJsonObject(group) || !matchers.includes(group["matcher"]) || !Array.isArray(group["hooks"])) return false;
  const [only, another] = group["hooks"] as readonly unknown[];
  if (!isJsonObject(only) || another !== undefined) return false;
  return /\bhook claude-code\b/.test([only["command"], only["args"]].flat().join(" "));
}

/** As one line for the shell, which every version runs; on Windows as words, because it may have two shells. */
function toHook({ command, args }: HookCommand, platform: NodeJS.Platform): object {
  const run = platform === "win32" ? { command, args } : { command: [command, ...args].map(quoted).join(" ") };
  // Without it, a hook that cannot be started or takes too long lets the call through.
  return { type: "command", ...run, timeout: timeoutS, onFailure: "block" };
}

function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
