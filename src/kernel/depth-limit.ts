import { GatewayError } from "./failures/gateway-error.ts";
import { settingNow } from "./runtime/setting-now.ts";

/**
 * Adds the limit in force to the hint of a BODY_TOO_DEEP failure, because the scanner that throws it knows no
 * settings. Returns any other error unchanged.
 */
export function tellDepthLimit(error: unknown, jsonDepth: number): unknown {
  if (!(error instanceof GatewayError) || error.code !== "BODY_TOO_DEEP") return error;
  return new GatewayError("BODY_TOO_DEEP", error.message, {
    hint: `Nest the JSON less deeply, or raise ${settingNow("limits.jsonDepth", jsonDepth)}.`,
  });
}
