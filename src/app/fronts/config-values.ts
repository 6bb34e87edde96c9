import { availableParallelism } from "node:os";
import { listConfig, type ListedValue } from "../../config/edit/config-listing.ts";
import type { Config } from "../../config/config.ts";
import { parseDocument } from "../../config/file/document.ts";
import { readConfigText } from "../../config/file/file.ts";
import type { ConfigFlags } from "../../config/given.ts";
import { createConfigSecrets } from "../../config/secrets.ts";
import type { Variables } from "../../config/file/substitution.ts";
import { redactTexts } from "../../records/redaction/redacted-value.ts";
import { createRedaction } from "../../records/redaction/redaction.ts";
import { compareConfigs } from "../../config/edit/config-comparison.ts";
import { toGatewayError } from "../../kernel/failures/gateway-error.ts";
import type { ConfigDrift } from "../../operations/services.ts";
import type { GatewayParts } from "../gateway-parts.ts";

/** How a command was started. */
export interface StartedWith {
  readonly flags: ConfigFlags;
  readonly env: Variables;
}

/**
 * Every value of a configuration with where it comes from, without secrets. Rejects with CONFIG_INVALID where the file
 * cannot be read any more.
 */
export async function listValues(current: Config, { flags, env }: StartedWith): Promise<readonly ListedValue[]> {
  const facts = { cores: availableParallelism(), isShared: current.people.principals.size > 0 };
  const { file } = current;
  const document = file === undefined ? undefined : parseDocument(await readConfigText(file), file);
  const { text } = createRedaction({ secrets: createConfigSecrets(() => current) });
  return listConfig({ config: current, document, flags, env, facts }).map((row) => ({
    ...row,
    value: redactTexts(row.value, text),
  }));
}

export interface ConfigDriftDeps {
  readonly gateway: Pick<GatewayParts, "config" | "redaction">;
  /** Reads the configuration file as it is now, with the flags and variables of the start. */
  readonly load: () => Promise<Config>;
  /** The configuration of the start. */
  readonly started: Config;
}

/** Compares the file as it is now with what the gateway has in force. */
export async function readConfigDrift({ gateway, load, started }: ConfigDriftDeps): Promise<ConfigDrift> {
  const file = gateway.config().file ?? null;
  const known = gateway.redaction.text;
  try {
    const next = await load();
    // A secret that is new in the file is not known to the gateway yet.
    const unknown = createRedaction({ secrets: createConfigSecrets(() => next) }).text;
    const differences = compareConfigs({ current: gateway.config(), started, next });
    return { file, refused: null, differences: redactTexts(differences, (text) => unknown(known(text))) };
  } catch (error) {
    return { file, refused: known(toGatewayError(error).message), differences: [] };
  }
}
