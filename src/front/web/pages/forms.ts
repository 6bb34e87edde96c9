import { randomBytes, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { GatewayError } from "../../../kernel/failures/gateway-error.ts";
import { readCookie } from "../../../people/identity/session-cookie.ts";
import { html, type Html } from "./page.ts";

/** Forms that only our own pages can send. */
export interface Forms {
  /** What a page puts into each of its forms, and the cookie that goes with it where the browser has none. */
  open(visit: FormVisit): OpenForm;
  /**
   * The fields of a form. Rejects with REQUEST_INVALID, BODY_TOO_LARGE, or FORBIDDEN when it does not come from a page
   * that this browser was shown.
   */
  read(visit: FormVisit): Promise<URLSearchParams>;
}

/** One request of a browser. */
export interface FormVisit {
  readonly request: IncomingMessage;
  /** The gateway's address as the browser knows it. */
  readonly base: string;
  /** The session, where there is one: a form of before the login is not one of after it. */
  readonly session: string | undefined;
}

export interface OpenForm {
  readonly field: Html;
  readonly cookies: readonly string[];
}

const mostBytes = 16 * 1024;
const cookieForm = /^[A-Za-z0-9_-]{43}$/;

/**
 * @param blind a keyed hash
 * @param isOpen whether a browser is logged in with this session
 */
export function createForms(blind: (text: string) => string, isOpen: (session: string) => boolean): Forms {
  const nameAt = (base: string): string => `${base.startsWith("https:") ? "__Host-" : ""}ty_form`;
  const tokenOf = (cookie: string, session: string | undefined): string => blind(`form ${cookie} ${session ?? ""}`);

  return {
    open({ request, base, session }) {
      const known = readCookie(request, nameAt(base));
      const isGood = known !== undefined && cookieForm.test(known);
      const cookie = isGood ? known : randomBytes(32).toString("base64url");
      const field = html`<input type="hidden" name="form" value="${tokenOf(cookie, session)}" />`;
      return { field, cookies: isGood ? [] : [toCookie(nameAt(base), cookie, base)] };
    },
    async read({ request, base, session }) {
      checkSite(request, base);
      const wasOpen = session !== undefined && isOpen(session);
      const fields = new URLSearchParams(await readText(request));
      // It may have been taken away while the form was on its way.
      if (wasOpen && !isOpen(session))
        throw new GatewayError("FORBIDDEN", "you are not logged in any more", { hint: "Log in again." });
      const cookie = readCookie(request, nameAt(base)) ?? "";
      const [given, wanted] = [Buffer.from(fields.get("form") ?? ""), Buffer.from(tokenOf(cookie, session))];
      if (!cookieForm.test(cookie) || given.length !== wanted.length || !timingSafeEqual(given, wanted))
        throw new GatewayError("FORBIDDEN", "this form is too old, or was opened in another browser", {
          hint: "Go back, load the page again, and send it once more.",
        });
      return fields;
    },
  };
}

/** A cookie for this host alone, which no script can read and no other site's form sends along. */
export function toCookie(name: string, value: string, base: string, maxAgeS?: number): string {
  const age = maxAgeS === undefined ? "" : `; Max-Age=${maxAgeS}`;
  return `${name}=${value}; Path=/; HttpOnly; SameSite=Lax${age}${base.startsWith("https:") ? "; Secure" : ""}`;
}

/** Browsers say which site a form comes from. One that says nothing cannot be told from another site's. */
function checkSite({ headers }: IncomingMessage, base: string): void {
  const { origin } = headers;
  const site = headers["sec-fetch-site"];
  const isOwn = origin === undefined ? site === "same-origin" : origin === new URL(base).origin;
  if (!isOwn || (site !== undefined && site !== "same-origin"))
    throw new GatewayError("FORBIDDEN", "this form comes from another site", { hint: "" });
}

async function readText(request: IncomingMessage): Promise<string> {
  if (!/^application\/x-www-form-urlencoded\s*(?:;|$)/i.test(request.headers["content-type"] ?? ""))
    throw new GatewayError("MEDIA_TYPE_UNSUPPORTED", "a form is sent as application/x-www-form-urlencoded");
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > mostBytes) throw new GatewayError("BODY_TOO_LARGE", `the form has more than ${mostBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}
