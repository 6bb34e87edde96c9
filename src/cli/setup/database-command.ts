import { isAbsolute, join } from "node:path";
import { countText } from "../../kernel/text/number-text.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import type { DatabaseCheck, StoreUpkeep } from "../../store/store-upkeep.ts";
import type { CommandContext } from "../command/command-context.ts";
import { isOn } from "../../config/given.ts";
import { plainText } from "../../kernel/text/plain-text.ts";
import { type UnservedStore, openUnservedStore } from "../gateway/unserved-store.ts";
import { whileWaiting } from "../terminal/waiting-line.ts";
import { misused } from "../terminal/wrong-usage.ts";
import type { checkDatabases, writeBackup } from "../../operations/gateway/database-operations.ts";
import { readConfig } from "../../operations/machine/surroundings/surroundings.ts";
import { ownersClient } from "../gateway/gateway-client.ts";
import { findGateway } from "../gateway/running-gateways.ts";

/** `toolyard backup FILE`. */
export async function backup(context: CommandContext): Promise<number> {
  const path = readPath(context);
  if (path === undefined) return misused("backup FILE");
  return await refusing(async () => {
    await using source = await openUpkeep(context);
    const { bytes } = await whileWaiting("Writing the backup", async () => await source.backup(path));
    tell(context, { path, bytes }, `people, rights and audit are in ${path}: ${countText(bytes)} bytes`);
    return 0;
  });
}

/** `toolyard restore FILE`, while no gateway runs. */
export async function restore(context: CommandContext): Promise<number> {
  const path = readPath(context);
  if (path === undefined) return misused("restore FILE");
  return await refusing(async () => {
    await using source = await openUpkeep(context);
    const { unserved } = source;
    if (unserved === undefined)
      throw new GatewayError("BACKUP_UNUSABLE", "a gateway runs with this state", {
        hint: "Stop it with `toolyard stop`, restore, and start it again.",
      });
    const { kept } = await whileWaiting("Restoring", async () => await unserved.records.upkeep.restore(path));
    return await tellRestored(context, unserved, { path, kept });
  });
}

async function tellRestored(
  context: CommandContext,
  { records }: UnservedStore,
  { path, kept }: { readonly path: string; readonly kept: string | null },
): Promise<number> {
  const verdict = await records.verifyAudit();
  await records.audit({
    ...{ atMs: Date.now(), actor: "owner", via: "owner", team: null, ip: null },
    ...{ action: "state.restore", object: path, outcome: "ok", detail: JSON.stringify({ kept }) },
  });
  const isWhole = verdict.kind === "whole";
  const before = kept === null ? "" : `; what was there before is ${kept}`;
  tell(context, { path, kept, isWhole }, `${path} is in force${before}`);
  if (!isWhole)
    process.stderr.write(
      `toolyard: its audit cannot be verified: ${plainText(verdict.reason)}\n  A backup of another data directory needs that directory's key (TOOLYARD_KEY).\n`,
    );
  return 0;
}

/** `toolyard db check` and `db migrate`. Checking ends with 1 where something is wrong. */
export async function db(context: CommandContext): Promise<number> {
  const [task = "check"] = context.positionals;
  if (task !== "check" && task !== "migrate") return misused("db check, or db migrate");
  return await refusing(async () => {
    await using source = await openUpkeep(context);
    // Opening a database brings it up to date.
    const checks = await whileWaiting("Checking the databases", async () => await source.check());
    const isWhole = checks.every(({ faults }) => faults.length === 0);
    if (isOn(context, "json")) process.stdout.write(`${JSON.stringify({ ok: isWhole, databases: checks })}\n`);
    else for (const check of checks) process.stdout.write(`${toLines(check)}\n`);
    return isWhole ? 0 : 1;
  });
}

function toLines({ database, place, engine, bytes, steps, faults }: DatabaseCheck): string {
  const last = steps.at(-1) ?? "none";
  const about = `${database}: ${engine}, ${countText(bytes)} bytes, schema ${last}, ${place}`;
  return [about, ...(faults.length === 0 ? ["in order"] : faults)].map(plainText).join("\n  ");
}

/** A backup that cannot be used is a mistake in the command line. */
async function refusing(run: () => Promise<number>): Promise<number> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof GatewayError) || error.code !== "BACKUP_UNUSABLE") throw error;
    process.stderr.write(`toolyard: ${plainText(error.message)}\n  ${plainText(error.hint)}\n`);
    return 2;
  }
}

function tell(context: CommandContext, facts: object, text: string): void {
  process.stdout.write(isOn(context, "json") ? `${JSON.stringify({ ok: true, ...facts })}\n` : `${plainText(text)}\n`);
}

function readPath({ positionals, cwd }: CommandContext): string | undefined {
  const [file] = positionals;
  if (file === undefined) return undefined;
  return isAbsolute(file) ? file : join(cwd, file);
}

/** How a command gets at the databases: through the gateway that has them, or by itself while none runs. */
export interface UpkeepSource extends Pick<StoreUpkeep, "backup" | "check">, AsyncDisposable {
  /** Undefined where a gateway runs. */
  readonly unserved: UnservedStore | undefined;
}

async function openUpkeep(context: CommandContext): Promise<UpkeepSource> {
  const holder = await findGateway(context).catch((error: unknown) => {
    if (error instanceof GatewayError && error.code === "GATEWAY_UNREACHABLE") return undefined;
    throw error;
  });
  const store = holder ?? (await openUnservedStore(context, await readConfig(context)));
  if ("records" in store) {
    const { backup, check } = store.records.upkeep;
    return { backup, check, unserved: store, [Symbol.asyncDispose]: async () => await store[Symbol.asyncDispose]() };
  }
  const gateway = ownersClient(store);
  return {
    unserved: undefined,
    async backup(path) {
      const body = { path };
      return { path, ...(await gateway.ask<typeof writeBackup>("PUT /api/system/backup", { body })) };
    },
    async check() {
      return (await gateway.ask<typeof checkDatabases>("GET /api/system/db", {})).databases;
    },
    [Symbol.asyncDispose]: async () => undefined,
  };
}
