import { isHeaderName, isHeaderValue } from "../../kernel/text/header-value.ts";
import type { HttpRequest } from "./http-client.ts";

/**
 * Writes a request's head, its empty line included (RFC 9112, section 3). Throws for what no header may hold: it could
 * be taken for another request.
 */
export type WriteHead = (request: HttpRequest) => string;

/**
 * `host` is said where the request does not say it. A list of headers is checked and written once, however often
 * sent.
 */
export function createHeadWriter(host: string): WriteHead {
  const texts = new WeakMap<readonly string[], string>();

  return ({ method, path, headers, body }) => {
    let own = texts.get(headers);
    if (own === undefined) texts.set(headers, (own = writeHeaders(headers, host)));
    const start = `${method} ${path} HTTP/1.1\r\nconnection: keep-alive\r\n`;
    return body === null ? `${start}${own}\r\n` : `${start}${own}content-length: ${body.length}\r\n\r\n`;
  };
}

function writeHeaders(headers: readonly string[], host: string): string {
  let text = headers.some((name, at) => at % 2 === 0 && name === "host") ? "" : `host: ${host}\r\n`;
  for (let at = 0; at + 1 < headers.length; at += 2) {
    const name = headers[at] as string;
    const value = headers[at + 1] as string;
    if (!isHeaderName(name) || !isHeaderValue(value))
      throw new Error(`the header ${JSON.stringify(name.slice(0, 100))} holds a character that no header may hold`);
    text += `${name}: ${value}\r\n`;
  }
  return text;
}
