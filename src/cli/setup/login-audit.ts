import type { Config } from "../../config/config.ts";
import { sleep } from "../../kernel/runtime/abort.ts";
import { systemClock } from "../../kernel/runtime/clock.ts";
import { GatewayError, toGatewayError } from "../../kernel/failures/gateway-error.ts";
import { createAuditLog } from "../../records/audit/audit-log.ts";
import { loginFacts } from "../../records/audit/audit-events.ts";
import type { CommandContext } from "../command/command-context.ts";
import { plainText } from "../../kernel/text/plain-text.ts";
import { openUnservedStore, type UnservedStore } from "../gateway/unserved-store.ts";

/** Where a command lists a login that it makes or removes. To be opened before it does. */
export interface LoginAudit extends AsyncDisposable {
  /** Resolves when it is on the disk. Where that fails, it is said and the login stays. */
  note(instance: string, what: "login" | "logout"): Promise<void>;
}

/**
 * Opens the audit while no gateway runs with the configuration. A gateway that runs notices logins by itself, and lists
 * them. Rejects with STORE_UNAVAILABLE where the audit is strict and cannot be written.
 */
export async function openLoginAudit(context: CommandContext, config: Config): Promise<LoginAudit> {
  const { audit, store } = config.settings.records;
  if (audit === "off" || store === "off") return listsNothing;
  let opened: UnservedStore | undefined;
  try {
    opened = await open(context, config);
    const problem = opened?.records.health().problems.find(({ database }) => database !== "records");
    if (problem !== undefined) throw new GatewayError("STORE_UNAVAILABLE", problem.message, { hint: problem.hint });
  } catch (error) {
    await opened?.[Symbol.asyncDispose]();
    if (audit === "strict") throw error;
    complain(error);
    return listsNothing;
  }
  return opened === undefined ? listsNothing : listIn(opened);
}

const listsNothing: LoginAudit = Object.freeze({
  note: async () => undefined,
  [Symbol.asyncDispose]: async () => undefined,
});

/** For a gateway that starts, or another command that has the files open. */
const waitMs = 10_000;
const againMs = 50;

/** Undefined where a gateway runs. */
async function open(context: CommandContext, config: Config): Promise<UnservedStore | undefined> {
  const deadlineMs = systemClock.monotonic() + waitMs;
  for (;;) {
    const found = await openUnservedStore(context, config);
    if ("records" in found) return found;
    if (found.url !== null || systemClock.monotonic() > deadlineMs) return undefined;
    await sleep(againMs, new AbortController().signal);
  }
}

function listIn(store: UnservedStore): LoginAudit {
  // Nothing in an entry of a login is secret.
  const log = createAuditLog({ clock: systemClock, redact: (text) => text });
  log.open(store.records);
  return {
    note: async (instance, what) => void (await log.write(loginFacts(instance, what)).catch(complain)),
    [Symbol.asyncDispose]: async () => await store[Symbol.asyncDispose](),
  };
}

function complain(error: unknown): void {
  const { message, hint } = toGatewayError(error);
  process.stderr.write(`toolyard: not in the audit: ${plainText(message)}\n  ${plainText(hint ?? "")}\n`);
}
