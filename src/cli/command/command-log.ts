import type { Config } from "../../config/config.ts";
import { createConfigSecrets } from "../../config/secrets.ts";
import type { Log } from "../../kernel/runtime/log.ts";
import { createPinoLog } from "../../records/telemetry/pino-log.ts";
import { createRedaction, joinSecrets } from "../../records/redaction/redaction.ts";

export interface LogOptions {
  readonly config: () => Config;
  /** Takes precedence over the configuration's. */
  readonly level?: string | undefined;
  /** Tokens of logins in use. Undefined while there is no gateway yet. */
  readonly tokens?: (() => ReadonlySet<string> | undefined) | undefined;
  /** Where lines go. Default: stderr. */
  readonly write?: ((line: string) => void) | undefined;
}

/**
 * The log of a command: JSON lines without secrets. The secrets are asked for each time, because a reload or a token
 * refresh brings new ones.
 */
export function openLog({ config, level, tokens, write }: LogOptions): Log {
  return createPinoLog({
    level: level ?? config().settings.logLevel ?? "info",
    redact: createRedaction({ secrets: joinSecrets(createConfigSecrets(config), () => tokens?.()) }).text,
    ...(write === undefined ? {} : { write }),
  });
}
