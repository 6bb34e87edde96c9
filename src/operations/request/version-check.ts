import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import type { JsonObject } from "../../kernel/text/json-bytes.ts";
import type { RequestFacts } from "../operation.ts";

/**
 * Throws CONFIG_CHANGED, with the present version, where `If-Match` names another version of it. Without the header, or
 * with `*`, any version is changed.
 *
 * @param what for the message: "the entry of github"
 */
export function requireVersion(
  { ifMatch }: Pick<RequestFacts, "ifMatch">,
  etag: string,
  what: string,
  current: JsonObject,
): void {
  const asked = ifMatch?.trim();
  if (asked === undefined || asked === "*" || asked === etag) return;
  throw new GatewayError("CONFIG_CHANGED", `${what} was changed by somebody else in the meantime`, {
    data: { current: { ...current, etag } },
  });
}
