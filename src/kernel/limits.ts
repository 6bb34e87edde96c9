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
