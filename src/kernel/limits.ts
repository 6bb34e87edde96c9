/** Beyond this setTimeout fires at once (Node: 2^31 - 1), so that no time may be longer: 24.8 days. */
export const longestMs = 2_147_483_647;

/**
 * How many levels JSON may nest when a server sends it, and the most that clients can be allowed
 * (`limits.jsonDepth`): definitions nest deeper than calls do. Far below the levels at which JSON.stringify throws.
 */
export const deepestJson = 1_000;

/**
 * How long a first request waits for servers that have never been seen before: a search, a call, or whatever comes to
 * a server's own endpoint.
 */
export const firstWaitMs = 2_000;
