import { createHash } from "node:crypto";
import type { ServerResponse } from "node:http";
import { prefixOf } from "../../http/public-url.ts";

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

/**
 * How pages for people look: as the dashboard does (`web/src/style.css`, whose colours are compared with these by a
 * test), without its file, which a page in front of the login cannot count on. Fields are as wide as a phone, and high
 * enough for a finger; on a phone text has 16 pixels, below which some enlarge the page when a field is touched.
 */
const colours: Readonly<Record<string, readonly [light: string, dark: string]>> = {
  bg: ["#f9fbfb", "#111416"],
  surface: ["#ffffff", "#191d20"],
  side: ["#f1f4f4", "#0d1011"],
  line: ["#dfe4e5", "#2a3034"],
  "line-strong": ["#7c888b", "#6f7a80"],
  text: ["#15191b", "#e6eaeb"],
  muted: ["#57636a", "#9ba7ad"],
  accent: ["#0b6b61", "#57c4b6"],
  "on-accent": ["#ffffff", "#06231f"],
  ok: ["#1a7440", "#63c68a"],
  warn: ["#8a5300", "#e3ab4f"],
  bad: ["#b3261e", "#ff8f84"],
};

const rules = `
:root{color-scheme:light dark;${Object.entries(colours)
  .map(([name, [light, dark]]) => `--${name}:light-dark(${light},${dark});`)
  .join("")}
--mono:ui-monospace,"Cascadia Mono","SF Mono",Menlo,Consolas,monospace;
font:87.5%/1.5 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif;background:var(--bg);color:var(--text);
-webkit-text-size-adjust:100%}
*,::before,::after{box-sizing:border-box}
body{margin:0;overflow-wrap:anywhere}
header{display:flex;flex-wrap:wrap;gap:.3rem 1rem;align-items:center;padding:.7rem 1.5rem;background:var(--side);
border-bottom:1px solid var(--line)}
.brand{display:flex;gap:.5rem;align-items:center;font-weight:700;font-size:1.05rem;color:var(--text);
text-decoration:none}
.mark{display:grid;place-items:center;width:1.5rem;height:1.5rem;border-radius:5px;background:var(--accent);
color:var(--on-accent);font-size:.95rem}
header p{margin:0;color:var(--muted)}
nav{margin-left:auto;display:flex;flex-wrap:wrap;gap:.2rem 1.1rem}
nav a{color:var(--text);text-decoration:none;padding:.2rem 0}
nav a[aria-current]{font-weight:600;box-shadow:0 2px 0 var(--accent)}
main{max-width:52rem;margin:0 auto;padding:1.4rem 1rem 3rem}
main.alone{max-width:30rem;padding-top:8vh}
h1{font-size:1.4rem;line-height:1.25;margin:0 0 1rem;font-weight:650;letter-spacing:-.01em}
h2{font-size:1rem;margin:0 0 .5rem;font-weight:650}
p,ul,ol,pre{margin:0 0 .6rem}
ul,ol{padding-left:1.4rem}
a{color:var(--accent);text-underline-offset:3px}
section{background:var(--surface);border:1px solid var(--line);border-radius:8px;padding:.9rem 1rem;
margin:0 0 1.1rem;min-width:0}
section>:last-child,form>:last-child{margin-bottom:0}
code,pre{font-family:var(--mono);font-size:.92em}
pre{padding:.6rem .7rem;background:var(--bg);border:1px solid var(--line);border-radius:6px;white-space:pre-wrap}
form{margin:0 0 .8rem}
label{display:block;margin:.7rem 0 .2rem;font-weight:550}
label:first-of-type{margin-top:0}
.line{font-weight:400}
input,select,button,.button{font:inherit;color:inherit;border:1px solid var(--line-strong);border-radius:6px;
background:var(--surface);padding:.35rem .6rem;min-height:2.4rem}
input,select{width:100%}
input:hover,select:hover,button:hover,.button:hover{border-color:var(--accent)}
button,.button{display:inline-block;margin:.8rem .4rem 0 0;padding:.35rem .9rem;cursor:pointer;text-decoration:none;
background:var(--surface);color:var(--text)}
.main,.button[rel=noreferrer]{background:var(--accent);border-color:var(--accent);color:var(--on-accent);font-weight:600}
:disabled{opacity:.6;cursor:default}
td button,.copy{margin:0;min-height:2rem;padding:.15rem .6rem}
[hidden]{display:none}
input[type=checkbox]{width:1.2rem;height:1.2rem;min-height:0;vertical-align:text-bottom;margin:0 .4rem 0 0;
accent-color:var(--accent)}
table{width:100%;border-collapse:collapse}
td,th{text-align:left;padding:.4rem .6rem .4rem 0;border-bottom:1px solid var(--line);vertical-align:top;
overflow-wrap:anywhere}
th{color:var(--muted);font-weight:550;overflow-wrap:normal}
td:last-child,th:last-child{padding-right:0}
td button{overflow-wrap:normal}
td form{margin:0}
.muted{color:var(--muted)}
.copied{display:flex;gap:.6rem;align-items:flex-start;justify-content:space-between}
.copied>:first-child{flex:1;min-width:0}
[role=alert],.warning,.good{border:1px solid var(--line);border-left:3px solid var(--warn);border-radius:6px;
background:var(--surface);padding:.55rem .75rem;margin:0 0 .9rem}
[role=alert]{border-left-color:var(--bad);font-weight:600}
[role=alert]::first-letter{text-transform:uppercase}
.good{border-left-color:var(--ok)}
details{border-top:1px solid var(--line);padding:.5rem 0}
details[open]{padding-bottom:.8rem}
summary{cursor:pointer;font-weight:550;min-height:1.7rem}
:focus-visible{outline:2px solid var(--accent);outline-offset:1px;border-radius:4px}
@media(width<48rem){:root{font-size:100%}header{padding:.6rem 1rem}main.alone{padding-top:1.4rem}nav{margin-left:0}}
`;

export const pageStyle = rules.replaceAll("\n", "");

const styleHash = `sha256-${createHash("sha256").update(pageStyle).digest("base64")}`;
