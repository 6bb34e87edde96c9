import { GatewayError } from "../../kernel/failures/gateway-error.ts";

/** Date.parse alone takes nearly any text that ends in a number for a day of the year 2001. */
const iso = /^\d{4}(?:-\d\d(?:-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?)?)?$/i;

/**
 * A time in a query, as ISO 8601 or ms since 1970, in ms; four digits are a year. Undefined when it is missing or
 * empty. Throws PARAMS_INVALID.
 */
export function readTime(field: string, text: string | undefined): number | undefined {
  if (text === undefined || text === "") return undefined;
  const isoMs = iso.test(text) ? Date.parse(text) : Number.NaN;
  const ms = Number.isNaN(isoMs) && /^\d{1,15}$/.test(text) ? Number(text) : isoMs;
  if (Number.isNaN(ms))
    throw new GatewayError("PARAMS_INVALID", `querystring.${field}: is neither a time in ISO 8601 nor a number of ms`, {
      data: { field: `querystring.${field}` },
      hint: "Compare the request with GET /openapi.json.",
    });
  return ms;
}
