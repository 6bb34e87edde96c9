/** Bytes of JSON for one token, as o200k counts it on the average of real arguments and results. */
const bytesPerToken = 3.6;

/** Tokens of so many bytes of JSON: an estimate that costs a call nothing, because the text is not read again. */
export function tokensOfBytes(bytes: number): number {
  return Math.ceil(bytes / bytesPerToken);
}
