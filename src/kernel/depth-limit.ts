import { GatewayError } from "./gateway-error.ts";
import { settingNow } from "./setting-now.ts";

/**
 * What reading a client's JSON threw: where it nests too deeply, with the limit that holds. The scan itself knows no
 * settings.
 */
export function tellDepthLimit(error: unknown, jsonDepth: number): unknown {
  if (!(error instanceof GatewayError) || error.code !== "BODY_TOO_DEEP") return error;
  return new GatewayError("BODY_TOO_DEEP", error.message, {
    hint: `Nest the JSON less deeply, or raise ${settingNow("limits.jsonDepth", jsonDepth)}.`,
  });
}
