import { createHash } from "node:crypto";
import type { ServerResponse } from "node:http";
import { prefixOf } from "../../http/public-url.ts";
import { pageStyle } from "./page-look.ts";

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
  /** Whether it is more than one short form. */
  readonly isWide?: true;
  readonly script?: PageScript;
  /** Where a form of the page may lead in the end, beside the gateway: the origin of an app, or its scheme. */
  readonly formTarget?: string | undefined;
  readonly headers?: Readonly<Record<string, string | readonly string[]>> | undefined;
}

/** Where a page is: which gateway it belongs to, and who is logged in there. */
export interface PagePlace {
  /** The gateway's address as the browser knows it. */
  readonly base: string;
  readonly path: string;
  readonly user: { readonly name: string } | undefined;
}

/** Where somebody finds what an AI client needs: what comes next after an account was made. */
export const clientPath = "/connect";

const styleHash = `sha256-${createHash("sha256").update(pageStyle).digest("base64")}`;

/** Answers with a page that loads nothing and cannot be framed; the only script that runs there is its own. */
export function writePage(visit: PagePlace & { readonly response: ServerResponse }, page: Page): void {
  const { response } = visit;
  if (response.headersSent || response.destroyed) return;
  const { status = 200, headers } = page;
  const text = toDocument(visit, page);
  response.writeHead(status, { ...pageHeaders(page), ...headers, "Content-Length": Buffer.byteLength(text) });
  response.end(text);
}

export function toDocument(place: PagePlace, { title, body, isWide, script }: Page): string {
  // Each as one piece: browsers compare its hash with the one in the header.
  const look: Html = { html: `<style>${pageStyle}</style>` };
  const own: Html = script === undefined ? nothing : { html: `<script>${script.text}</script>` };
  const head = html`<meta charset="utf-8" /><meta name="viewport" content="width=device-width" />
    <title>${title} - Toolyard</title>
    ${look}`;
  const main = isWide
    ? html`<main>
        <h1>${title}</h1>
        ${body}
      </main>`
    : html`<main class="alone">
        <h1>${title}</h1>
        ${toSection(body)}
      </main>`;
  return `<!doctype html><html lang="en"><head>${head.html}</head><body>${toHead(place).html}${main.html}${own.html}</body></html>\n`;
}

/** Whose page it is, on which gateway, and the ways on. */
function toHead(place: PagePlace): Html {
  const { base, path, user } = place;
  const link = (to: string, label: string): Html => {
    const current: Html = path === to ? { html: ' aria-current="page"' } : nothing;
    return html`<a href="${prefixed(place, to)}" ${current}>${label}</a>`;
  };
  const ways =
    user === undefined
      ? nothing
      : html`<nav aria-label="Pages">
          ${link("/ui/", "Dashboard")} ${link(clientPath, "Connect")} ${link("/account", user.name)}
        </nav>`;
  return html`<header>
    <a class="brand" href="${prefixed(place, "/ui/")}"><span class="mark" aria-hidden="true">T</span>Toolyard</a>
    <p>${base.replace(/^https?:\/\//, "")}</p>
    ${ways}
  </header>`;
}

/** A part of a page, with a heading or alone. */
export function toSection(body: Html, title?: string): Html {
  return html`<section>${title === undefined ? nothing : html`<h2>${title}</h2>`}${body}</section>`;
}

/** The path of a page as the browser sees it. */
export function prefixed({ base }: Pick<PagePlace, "base">, path: string): string {
  return `${prefixOf(base)}${path}`;
}

export function pageHeaders({ formTarget, script }: Pick<Page, "formTarget" | "script">): Record<string, string> {
  const target = formTarget === undefined ? "" : ` ${formTarget}`;
  const own = script === undefined ? "" : ` script-src '${script.hash}';`;
  return {
    "Content-Type": "text/html; charset=utf-8",
    "Cache-Control": "no-store",
    "Content-Security-Policy": `default-src 'none'; style-src '${styleHash}';${own} base-uri 'none'; form-action 'self'${target}; frame-ancestors 'none'`,
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

/** Escapes a text for use between tags or in a quoted attribute. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** A script of a page, which works without it as well. */
interface PageScript {
  readonly text: string;
  /** As the page's policy names it. */
  readonly hash: string;
}

function toScript(text: string): PageScript {
  return { text, hash: `sha256-${createHash("sha256").update(text).digest("base64")}` };
}

/**
 * Puts the code of a set-up link into its field: browsers do not send what follows the `#`. It is taken out of the
 * address, so that it is in no history; the next empty field is the one to type in.
 */
export const codeScript = toScript(`"use strict";
const field = document.getElementById("code");
function fill() {
  const code = location.hash.slice(1);
  if (code === "") return;
  field.value = code;
  history.replaceState(null, "", location.pathname + location.search);
  [...field.form.elements].find((one) => one.required && one.value === "")?.focus();
}
addEventListener("hashchange", fill);
fill();`);

/** Shows the buttons that copy: without a script, or where browsers keep the clipboard from it, there are none. */
export const copyScript = toScript(`"use strict";
for (const button of navigator.clipboard ? document.querySelectorAll("[data-copy]") : []) {
  button.hidden = false;
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent);
    const before = button.dataset.label ??= button.textContent;
    button.textContent = "Copied";
    setTimeout(() => (button.textContent = before), 2000);
  });
}`);
