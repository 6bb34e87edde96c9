import { GatewayError, toGatewayError } from "../../../kernel/failures/gateway-error.ts";
import { sha256 } from "../../../people/authorization-server/access-changes.ts";
import { readCookie } from "../../../people/identity/session-cookie.ts";
import { loginCookieName, type WantedEntry } from "../../../people/sign-in/login-states.ts";
import type { ProviderLogins } from "../../../people/sign-in/provider-logins.ts";
import { readSmallBody } from "../../../people/authorization-server/oauth/client-requests.ts";
import { toCookie, type Forms } from "./forms.ts";
import { invitePath } from "./invite-page.ts";
import { sessionCookie } from "./login-pages.ts";
import { html, nothing, prefixed, redirect, writePage, type Html } from "./page.ts";
import { homeOf, isKnown, safeNext, type PersonLookup, type KnownVisit, type Visit } from "../visit.ts";

type Directory = PersonLookup["directory"];

export interface ProviderPagesDeps extends Pick<PersonLookup, "directory"> {
  /** Loaded with the first login at an identity provider. */
  readonly logins: () => Promise<ProviderLogins>;
  readonly forms: Forms;
  /** What people call a provider; undefined where there is none of this name. */
  readonly titleOf: (name: string) => string | undefined;
  /** Whether a text can be the name of a user or a team. */
  readonly isName: (text: string) => boolean;
  /** Rejects with UNAUTHORIZED where somebody who has a password gives another one. */
  readonly confirm: (visit: KnownVisit, password: string) => Promise<void>;
  /** Whether the first admin is still to be made. */
  readonly isNew: () => boolean;
  /** Told why something with a provider did not work. */
  readonly report: (failure: GatewayError, provider: string) => void;
}

/** The way to an identity provider and back: everything below `/auth/oidc/`. */
export function createProviderPages(deps: ProviderPagesDeps): (visit: Visit) => Promise<void> {
  const { logins, titleOf, report } = deps;

  return async (visit) => {
    const [, name = "", step = ""] =
      /^\/auth\/oidc\/([a-z0-9-]{1,40})\/(start|callback|logout)$/.exec(visit.path) ?? [];
    const title = titleOf(name);
    if (title === undefined) throw new GatewayError("ROUTE_UNKNOWN", "there is no such identity provider");
    const isPost = visit.request.method === "POST";
    if (isPost !== (step !== "callback"))
      throw new GatewayError("HTTP_METHOD_UNSUPPORTED", isPost ? "this page is read with GET" : "this takes a POST");
    try {
      if (step === "logout") return await logOut(visit, name, await logins());
      if (step === "start") return await start(visit, { name, title }, deps);
      await finish(visit, name, await logins(), deps.directory);
    } catch (error) {
      const failure = toGatewayError(error);
      report(failure, name);
      if (step === "logout") return answerLogout(visit, failure);
      showFailure(visit, failure);
    }
  };
}

interface Named {
  readonly name: string;
  readonly title: string;
}

async function start(
  visit: Visit,
  { name, title }: Named,
  { logins, forms, confirm, ...names }: ProviderPagesDeps,
): Promise<void> {
  const { request, base, hash } = visit;
  // Who is logged in links an account to theirs, with a form that only their session can send.
  const known = visit.query.has("link") && isKnown(visit) ? visit : undefined;
  const isLinking = known !== undefined;
  const fields = await forms.read({ request, base, session: isLinking ? hash : undefined });
  // A browser left open must not give a stranger a lasting way in.
  if (isLinking) await confirm(known, fields.get("password") ?? "");
  // Who comes with a code has an account from now on, and is shown it.
  const ownPage = isLinking || fields.has("code") ? "/account" : "";
  const next = isLinking ? ownPage : safeNext(fields.get("next"), ownPage);
  const entry = isLinking ? { kind: "user" as const, session: hash ?? "" } : toEntry(fields, next, names);
  const redirectUri = callbackAt(base, name);
  const { url, cookie } = await (await logins()).begin(name, { redirectUri, next, entry, isKnown: isKnown(visit) });
  const there: Html = { html: `<meta http-equiv="refresh" content="0;url=${html`${url}`.html}" />` };
  // As a page and not as a redirect: browsers hold those of a form against what the form's page allows, all the way.
  writePage(visit, {
    title: "One moment",
    body: html`${there}
      <p>You are on your way to <a href="${url}">${title}</a>.</p>`,
    headers: { "Set-Cookie": toCookie(nameAt(base, cookie.name), cookie.value, base, cookie.maxAgeS) },
  });
}

/** An invitation or a link that somebody uses with an account elsewhere. Throws REQUEST_INVALID. */
function toEntry(
  fields: URLSearchParams,
  next: string,
  { isName, isNew }: Pick<ProviderPagesDeps, "isName" | "isNew">,
): WantedEntry | undefined {
  const code = fields.get("code") ?? "";
  if (code === "")
    return next.startsWith(invitePath) ? { kind: "invite", secret: next.slice(invitePath.length) } : undefined;
  const [name, team] = [fields.get("name") ?? "", fields.get("team") ?? ""];
  if (isNew() && (name === "" || team === ""))
    throw new GatewayError("REQUEST_INVALID", "your name and the name of the first team are missing", {
      hint: "Go back and fill them in. The code is still good.",
    });
  for (const text of [name, team])
    if (text !== "" && !(isName(text) && text === text.toLowerCase()))
      throw new GatewayError("REQUEST_INVALID", "a name has small letters, digits and hyphens", { hint: "" });
  return { kind: "setup", code: sha256(code.trim().replace(/^.*#/, "")), name, team };
}

async function finish(visit: Visit, name: string, logins: ProviderLogins, people: Directory): Promise<void> {
  const { request, response, base, ip, browser, session } = visit;
  const url = new URL(`${callbackAt(base, name)}?${visit.query.toString()}`);
  const cookieOf = (cookie: string): string | undefined => readCookie(request, nameAt(base, cookie));
  const done = await logins.finish(name, { url, cookieOf, ip, browser, session });
  const next = safeNext(done.next, homeOf(people, done.session.row.userId));
  redirect(response, `${base}${next}`, [sessionCookie(done.session, base), ...forgotten(visit)]);
}

/** OpenID Connect Back-Channel Logout 1.0, sections 2.5 and 2.8. */
async function logOut(visit: Visit, name: string, logins: ProviderLogins): Promise<void> {
  const { request } = visit;
  if (!/^application\/x-www-form-urlencoded\s*(?:;|$)/i.test(request.headers["content-type"] ?? ""))
    throw new GatewayError("MEDIA_TYPE_UNSUPPORTED", "a logout token comes in a form");
  const token = new URLSearchParams(await readSmallBody(request)).get("logout_token");
  if (token === null) throw new GatewayError("REQUEST_INVALID", "the logout token is missing");
  await logins.logOut(name, token, visit.ip);
  answerLogout(visit, undefined);
}

function answerLogout({ response }: Visit, failure: GatewayError | undefined): void {
  if (response.headersSent || response.destroyed) return;
  const headers = { "Cache-Control": "no-store", "Content-Type": "application/json" };
  if (failure === undefined) return void response.writeHead(200, headers).end();
  const { code, row, message } = failure;
  const isTheirs = row.http < 500 || code === "PROVIDER_ANSWER_INVALID";
  const said = { error: toOAuthError(failure, isTheirs), error_description: `${code}: ${message}` };
  const shown = code === "INTERNAL" ? { error: "server_error" } : said;
  // A rate limit keeps its own status: 400 says that the token is invalid, and it would not be sent again.
  const status = isTheirs && code !== "RATE_LIMITED" ? 400 : row.http;
  response.writeHead(status, { ...headers, ...toRetry(failure) }).end(JSON.stringify(shown));
}

function toOAuthError({ code }: GatewayError, isTheirs: boolean): string {
  if (code === "RATE_LIMITED") return "temporarily_unavailable";
  return isTheirs ? "invalid_request" : "server_error";
}

function toRetry({ data }: GatewayError): Record<string, string> {
  const seconds = data?.["retry_after_s"];
  return typeof seconds === "number" ? { "Retry-After": String(seconds) } : {};
}

/** A login that failed has its name on the page, so that people can say what they saw. */
function showFailure(visit: Visit, failure: GatewayError): void {
  if (failure.code === "INTERNAL") throw failure;
  const { message, hint, code, row } = failure;
  writePage(visit, {
    title: "You are not logged in",
    status: row.http,
    body: html`<p role="alert">${message.charAt(0).toUpperCase()}${message.slice(1)}.</p>
      ${hint === undefined || hint === "" ? nothing : html`<p>${hint}</p>`}
      <p><code>${code}</code></p>
      <p><a href="${prefixed(visit, "/auth/login")}">Back to the login</a></p>`,
    headers: {
      ...toRetry(failure),
      // This answer was not used: the page may be loaded again.
      "Set-Cookie": code === "LOGIN_BUSY" ? [] : forgotten(visit),
    },
  });
}

/** The cookie of the login that came back is of no use any more. */
function forgotten({ query, base }: Visit): string[] {
  const state = query.get("state");
  return state === null ? [] : [toCookie(nameAt(base, loginCookieName(state)), "", base, 0)];
}

function nameAt(base: string, name: string): string {
  return `${base.startsWith("https:") ? "__Host-" : ""}${name}`;
}

/** The address that has to be registered at the provider. */
function callbackAt(base: string, name: string): string {
  return `${base}/auth/oidc/${name}/callback`;
}
