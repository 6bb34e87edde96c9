import { GatewayError } from "./failures/gateway-error.ts";
import { settingNow } from "./text/number-text.ts";

/** The longest delay that setTimeout takes (2^31 - 1 ms, 24.8 days); with a longer one it fires at once. */
export const longestMs = 2_147_483_647;

/**
 * How many levels the JSON of a server may nest. It is also the most that `limits.jsonDepth` can allow clients.
 * Definitions nest deeper than calls do; JSON.stringify fails only far beyond this depth.
 */
export const deepestJson = 1_000;

/**
 * How long a first request (a search, a call, anything at a server's own endpoint) waits for servers whose tools are
 * not yet known.
 */
export const firstWaitMs = 2_000;

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
