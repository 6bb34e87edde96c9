import type { IncomingMessage } from "node:http";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import type { JsonObject } from "../../kernel/text/json-bytes.ts";

/**
 * Throws CONFIG_CHANGED, with what is there now, where `If-Match` names another version of it. Without the header, or
 * with `*`, whatever is there is changed.
 *
 * @param what for the message: "the entry of github"
 */
export function requireVersion(
  { headers }: Pick<IncomingMessage, "headers">,
  etag: string,
  what: string,
  current: JsonObject,
): void {
  const asked = headers["if-match"]?.trim();
  if (asked === undefined || asked === "*" || asked === etag) return;
  throw new GatewayError("CONFIG_CHANGED", `${what} was changed by somebody else in the meantime`, {
    data: { current: { ...current, etag } },
  });
}
