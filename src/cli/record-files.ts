import { existsSync } from "node:fs";
import { join } from "node:path";
import { systemClock } from "../kernel/clock.ts";
import type { GatewayHolder } from "../store/gateway-holder.ts";
import type { RecordStore } from "../store/record-store.ts";
import { openDataDirectory, openLog, readConfig, servedBy, storeIn, type CommandContext } from "./command-context.ts";

/** The databases of a gateway that does not run: nobody has left any, another process has them, or they are open. */
export type RecordFiles =
  | { readonly kind: "none" }
  | { readonly kind: "taken"; readonly by: GatewayHolder }
  | { readonly kind: "open"; readonly records: RecordStore; readonly close: () => Promise<void> };

const closeMs = 10_000;

/**
 * Opens the databases of the gateway of this configuration, if they are there, and holds its lock until they are
 * closed, so that no gateway opens the same files.
 */
export async function openRecordFiles(context: CommandContext): Promise<RecordFiles> {
  const config = await readConfig(context);
  const store = storeIn(openDataDirectory(config, context), context);
  const served = servedBy(config, context);
  if (!existsSync(join(store.lock.placeOf(served), "state.db"))) return { kind: "none" };
  const claim = await store.lock.claim(served, context.version);
  if (claim.kind === "taken") return claim;
  const { lock, folder } = claim;
  const release = async (): Promise<void> => await lock[Symbol.asyncDispose]();
  try {
    if (!existsSync(join(folder, "state.db"))) {
      await release();
      return { kind: "none" };
    }
    const { keepDays, keepCalls } = config.settings.records;
    const records = await store.at(folder, openLog({ config: () => config })).records({
      clock: systemClock,
      keepMs: keepDays * 86_400_000,
      keepCalls,
      redact: (_kind, row) => row,
    });
    await whenOpen(records);
    return {
      kind: "open",
      records,
      async close() {
        await records.close(closeMs);
        await release();
      },
    };
  } catch (error) {
    await release();
    throw error;
  }
}

async function whenOpen(records: RecordStore): Promise<void> {
  if (records.health().status !== "opening") return;
  await new Promise<void>((resolve) => {
    // The thread does not keep the process alive by itself.
    const held = setInterval(() => undefined, closeMs);
    const end = records.onHealth(({ status }) => {
      if (status === "opening") return;
      clearInterval(held);
      end();
      resolve();
    });
  });
}
