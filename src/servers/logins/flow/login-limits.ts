/** Largest document or token answer that is read: real ones are below 20 KB (fault 105: 10 MB). */
export const answerBytes = 256 * 1024;
/** From the first byte out to the last byte in; an authorization server that takes longer is down. */
export const exchangeTimeoutMs = 15_000;

/** What one exchange may take. */
export interface ExchangeLimits {
  readonly bytes: number;
  readonly timeoutMs: number;
}

export const usualLimits: ExchangeLimits = Object.freeze({ bytes: answerBytes, timeoutMs: exchangeTimeoutMs });
/** Redirects of a metadata document. Requests that carry a secret follow none (faults 103, 105). */
export const redirects = 3;
/** How long a person may take in the browser. */
export const loginTimeoutMs = 300_000;
/** A token is renewed this long before it expires, or after four fifths of its life where that is later. */
export const renewBeforeMs = 60_000;
/** An authorization server that did not answer is not asked again before this. */
export const renewRetryMs = 30_000;
/** How often a connection in use looks whether somebody logged in or out: one stat. */
export const recheckMs = 2_000;
