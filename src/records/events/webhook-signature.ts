import { createHmac } from "node:crypto";

/** The header of a delivery that says by whom and when it was written. */
export const signatureHeader = "Toolyard-Signature";

/**
 * `t=<seconds>,v1=<HMAC-SHA256 of "seconds.body" with the secret, in hexadecimal>`. A receiver that refuses old
 * seconds cannot be sent the same delivery again by somebody who has seen it.
 */
export function signWebhook(body: string, secret: string, nowMs: number): string {
  const seconds = Math.floor(nowMs / 1_000);
  return `t=${seconds},v1=${createHmac("sha256", secret).update(`${seconds}.${body}`).digest("hex")}`;
}
