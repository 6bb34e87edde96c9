/** Where the members of an envelope stand: libraries write them first or last, around the result. */
const lookedAtBytes = 120;

/** `{"jsonrpc":"2.0","id":7,"result":` and, in whatever order, what else libraries begin an answer with. */
const head =
  /^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*(\d{1,9})\s*,\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"(?:result|error)"\s*:/;
/** The SDK for TypeScript writes `{"result":…,"jsonrpc":"2.0","id":7}`. */
const bodyFirst = /^\s*\{\s*"(?:result|error)"\s*:/;
const tail = /,\s*"jsonrpc"\s*:\s*"2\.0"\s*,\s*"id"\s*:\s*(\d{1,9})\s*\}\s*$/;

/**
 * The id of an answer that is no valid JSON, because the server wrote something else in the middle of it or broke off:
 * the request fails at once then instead of at its deadline. Undefined for anything that does not look like an answer,
 * such as log lines.
 */
export function idOfSpoilt(bytes: Buffer): number | undefined {
  const beginning = bytes.toString("latin1", 0, lookedAtBytes);
  const first = head.exec(beginning)?.[1];
  if (first !== undefined) return Number(first);
  if (!bodyFirst.test(beginning)) return undefined;
  const last = tail.exec(bytes.toString("latin1", Math.max(0, bytes.length - lookedAtBytes)))?.[1];
  return last === undefined ? undefined : Number(last);
}
