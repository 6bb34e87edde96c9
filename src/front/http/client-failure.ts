import { asciiJson } from "../../wire/json/ascii-json.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import { settingNow } from "../../kernel/text/number-text.ts";
import { problemHeaders, problemTitle, toProblem } from "./problem.ts";

/** A request that Node's HTTP parser or its timers refused, as a failure of our table. */
export function toClientFailure(
  error: NodeJS.ErrnoException,
  { headersTimeoutMs, bodyTimeoutMs }: { readonly headersTimeoutMs: number; readonly bodyTimeoutMs: number },
): GatewayError {
  switch (error.code) {
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return new GatewayError("BODY_TIMEOUT", "the rest of the request did not arrive in time", {
        hint:
          `Send the head of a request within ${headersTimeoutMs / 1_000} s, and all of it within ` +
          `${settingNow("limits.bodyTimeoutMs", bodyTimeoutMs)}.`,
      });
    case "HPE_HEADER_OVERFLOW":
      return new GatewayError("HEADERS_TOO_LARGE", "the headers of the request are larger than 16 KB");
    default:
      return new GatewayError("REQUEST_INVALID", `the request is not valid HTTP: ${error.message}`, {
        hint: "Send HTTP/1.1 requests (RFC 9112).",
      });
  }
}

/** A complete response for a connection that has no request to answer. The connection is closed after it. */
export function toRawRefusal(failure: GatewayError): string {
  const { http } = failure.row;
  const text = asciiJson(toProblem(failure));
  const headers = { ...problemHeaders(failure), Connection: "close", "Content-Length": String(text.length) };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${http} ${problemTitle(http)}\r\n${lines.join("")}\r\n${text}`;
}
