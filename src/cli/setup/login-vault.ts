import { keepingOf } from "../../app/records/record-keeping.ts";
import type { Config } from "../../config/config.ts";
import { systemClock } from "../../kernel/runtime/clock.ts";
import { openDataDirectory, storeIn } from "../../operations/machine/surroundings/surroundings.ts";
import type { PrincipalId } from "../../kernel/ids.ts";
import type { SecretStore } from "../../store/store.ts";
import { servedBy, type CommandContext } from "../command/command-context.ts";
import { openLog } from "../command/command-log.ts";

/** Where the gateways of a configuration keep logins at servers; the database is left by disposing. */
export interface LoginVault extends AsyncDisposable {
  readonly vault: SecretStore;
}

const closeMs = 10_000;

/** Of the data directory, or of the database that gateways share. Nothing is asked there before it is used. */
export async function openLoginVault(
  context: CommandContext,
  config: Config,
  person: string | null,
): Promise<LoginVault> {
  const { settings, people } = config;
  const store = storeIn(openDataDirectory(config, context), context);
  if (settings.database === undefined || settings.records.store === "off")
    return { vault: await store.secrets(), [Symbol.asyncDispose]: async () => undefined };
  // A gateway that runs meanwhile is one of several for the database.
  const records = await store
    .at(store.lock.placeOf(servedBy(config, context)), openLog({ config: () => config }))
    .records({
      ...{ clock: systemClock, ...keepingOf(settings), redact: (_kind, row) => row },
    });
  const team = person === null ? null : (people.principals.get(person as PrincipalId)?.team ?? null);
  return {
    vault: await store.secrets({ items: records.shared, teamOf: () => team }),
    [Symbol.asyncDispose]: async () => await records.close(closeMs),
  };
}
