import { keepingOf } from "../../app/records/record-keeping.ts";
import type { Config } from "../../config/config.ts";
import { systemClock } from "../../kernel/runtime/clock.ts";
import type { GatewayHolder } from "../../store/gateway-holder.ts";
import type { RecordStore } from "../../store/record-store.ts";
import { openDataDirectory, storeIn } from "../../operations/machine/surroundings/surroundings.ts";
import { servedBy, type CommandContext } from "../command/command-context.ts";
import { openLog } from "../command/command-log.ts";

/**
 * The records of a configuration, opened by a command while no gateway runs with it. Its lock is held meanwhile, so
 * that no gateway opens the same files; disposing writes what waits and gives it back.
 */
export interface UnservedStore extends AsyncDisposable {
  readonly records: RecordStore;
}

const closeMs = 10_000;

/**
 * The store, with both databases tried, or who holds the lock.
 *
 * @param check called with the folder when it is held; what it throws ends the attempt
 */
export async function openUnservedStore(
  context: CommandContext,
  config: Config,
  check: (folder: string) => void = () => undefined,
): Promise<UnservedStore | GatewayHolder> {
  const store = storeIn(openDataDirectory(config, context), context);
  const claim = await store.lock.claim(servedBy(config, context), context.version);
  if (claim.kind === "taken") return claim.by;
  const { lock, folder } = claim;
  try {
    check(folder);
    const records = await store.at(folder, openLog({ config: () => config })).records({
      clock: systemClock,
      ...keepingOf(config.settings),
      redact: (_kind, row) => row,
    });
    await whenOpen(records);
    return {
      records,
      async [Symbol.asyncDispose]() {
        await records.close(closeMs);
        await lock[Symbol.asyncDispose]();
      },
    };
  } catch (error) {
    await lock[Symbol.asyncDispose]();
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
