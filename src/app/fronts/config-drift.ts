import { compareConfigs } from "../../config/edit/config-comparison.ts";
import type { Config } from "../../config/config.ts";
import { createConfigSecrets } from "../../config/secrets.ts";
import { toGatewayError } from "../../kernel/failures/gateway-error.ts";
import { redactTexts } from "../../records/redaction/redacted-value.ts";
import { createRedaction } from "../../records/redaction/redaction.ts";
import type { ConfigDrift } from "../../operations/services.ts";
import type { GatewayParts } from "../gateway-parts.ts";

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
