import { planEdit, openClientFile, type PlannedEdit } from "../../../config/clients/connect/client-edit.ts";
import { hookChanges, hookFile, type HookCommand } from "../../../config/clients/connect/claude-hook.ts";
import type { Target } from "../../../config/clients/connect/client-connection.ts";
import type { Config } from "../../../config/config.ts";
import { GatewayError } from "../../../kernel/failures/gateway-error.ts";
import type { Surroundings } from "../surroundings/surroundings.ts";
import { surroundingsOf } from "./connection-target.ts";
import { ownCommandFor } from "../surroundings/own-command.ts";

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
