import { createHash } from "node:crypto";
import type { ServerResponse } from "node:http";
import { escapeHtml } from "../../http/escape-html.ts";

/** A piece of a page, whose texts are escaped. */
export interface Html {
  readonly html: string;
}

/** Puts a page together: the pieces are ours, and every text between them is escaped. */
export function html(pieces: TemplateStringsArray, ...values: readonly (Html | string | readonly Html[])[]): Html {
  const written = values.map((value) => {
    if (typeof value === "string") return escapeHtml(value);
    return "html" in value ? value.html : value.map((one) => one.html).join("");
  });
  return { html: pieces.map((piece, index) => toOneLine(piece) + (written[index] ?? "")).join("") };
}

/** How a piece is broken into lines in the code says nothing on the page. */
function toOneLine(piece: string): string {
  return piece.replace(/\s*\n\s*(?=\/?>)/g, "").replace(/\s*\n\s*/g, " ");
}

export const nothing: Html = { html: "" };

export interface Page {
  readonly title: string;
  readonly body: Html;
  readonly status?: number | undefined;
  /** Where a form of the page may lead in the end, beside the gateway: the origin of an app, or its scheme. */
  readonly formTarget?: string | undefined;
  readonly headers?: Readonly<Record<string, string | readonly string[]>> | undefined;
}

/**
 * Colours are those of the system, which has light and dark ones with enough contrast; `Highlight` is not among those
 * that can be seen on its own. Fields are as wide as a phone,
 * and high enough for a finger.
 */
const style =
  ":root{color-scheme:light dark;font:16px/1.5 system-ui,sans-serif}body{max-width:32rem;margin:2rem auto;padding:0 1rem;overflow-wrap:anywhere}" +
  "h1{font-size:1.5rem}h2{font-size:1.15rem;margin-top:2rem}label{display:block;margin-top:1rem}" +
  "input,select,button{font:inherit;padding:.6rem;box-sizing:border-box}input,select{width:100%}" +
  "button{margin:1rem .5rem 0 0;min-width:8rem;cursor:pointer}table{width:100%;border-collapse:collapse}" +
  "td,th{text-align:left;padding:.4rem .4rem .4rem 0;border-top:1px solid GrayText;vertical-align:top;overflow-wrap:anywhere}" +
  "th,td button{overflow-wrap:normal}td button{margin:0;min-width:0;padding:.4rem}code{font:14px/1.5 ui-monospace,monospace;overflow-wrap:anywhere}" +
  "a{color:inherit}.button{display:inline-block;padding:.6rem 1rem;border:1px solid;border-radius:.2rem}.line{margin-top:.5rem}" +
  "input[type=checkbox]{width:1.5rem;height:1.5rem;vertical-align:middle;margin-right:.5rem}" +
  "[role=alert],.warning{border-left:.3rem solid;padding:.1rem 0 .1rem .8rem;margin:1rem 0;font-weight:600}" +
  ":focus-visible{outline:3px solid LinkText;outline-offset:2px}";
const styleHash = `sha256-${createHash("sha256").update(style).digest("base64")}`;

/** Answers with a page that has no script, loads nothing, and cannot be framed. */
export function writePage(response: ServerResponse, { title, body, status = 200, formTarget, headers }: Page): void {
  if (response.headersSent || response.destroyed) return;
  const text = toDocument(title, body);
  response.writeHead(status, { ...pageHeaders(formTarget), ...headers, "Content-Length": Buffer.byteLength(text) });
  response.end(text);
}

export function toDocument(title: string, body: Html): string {
  // As one piece: browsers compare its hash with the one in the header.
  const look: Html = { html: `<style>${style}</style>` };
  const head = html`<meta charset="utf-8" /><meta name="viewport" content="width=device-width" />
    <title>${title} - Toolyard</title>
    ${look}`;
  const main = html`<main>
    <h1>${title}</h1>
    ${body}
  </main>`;
  return `<!doctype html><html lang="en"><head>${head.html}</head><body>${main.html}</body></html>\n`;
}

export function pageHeaders(formTarget: string | undefined): Record<string, string> {
  const target = formTarget === undefined ? "" : ` ${formTarget}`;
  return {
    "Content-Type": "text/html; charset=utf-8",
    "Cache-Control": "no-store",
    "Content-Security-Policy": `default-src 'none'; style-src '${styleHash}'; base-uri 'none'; form-action 'self'${target}; frame-ancestors 'none'`,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    // Not `no-referrer`: with that, browsers do not say which page a form comes from.
    "Referrer-Policy": "same-origin",
  };
}

/** Sends the browser on with GET. */
export function redirect(response: ServerResponse, location: string, cookies: readonly string[] = []): void {
  if (response.headersSent || response.destroyed) return;
  response
    .writeHead(303, {
      Location: location,
      "Cache-Control": "no-store",
      "Referrer-Policy": "same-origin",
      ...(cookies.length === 0 ? {} : { "Set-Cookie": [...cookies] }),
      "Content-Length": 0,
    })
    .end();
}
