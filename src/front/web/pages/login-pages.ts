import type { OpenForm } from "./forms.ts";
import type { Accounts } from "../../../people/authorization-server/accounts.ts";
import type { NewSession } from "../../../people/authorization-server/user-sessions.ts";
import { GatewayError } from "../../../kernel/failures/gateway-error.ts";
import { sessionCookieName } from "../../../people/identity/session-cookie.ts";
import { toCookie, type Forms } from "./forms.ts";
import { clientPath, html, nothing, prefixed, redirect, type Html, codeScript } from "./page.ts";
import { homeOf, safeNext, show, type PersonLookup, type Visit } from "../visit.ts";

/** Logging in, and setting the first password with a link. */
export interface LoginPages {
  login(visit: Visit): Promise<void>;
  setup(visit: Visit): Promise<void>;
}

export interface LoginPagesDeps extends Pick<PersonLookup, "directory"> {
  readonly accounts: Pick<Accounts, "login" | "setUp">;
  readonly forms: Forms;
  /** Whether the first admin is still to be made. */
  readonly isNew: () => boolean;
  /** Identity providers that people can log in at, by the name that their path has. */
  readonly providers: () => readonly LoginProvider[];
  /** Whether people have passwords here. */
  readonly hasPasswords: () => boolean;
}

/** An identity provider, as people see it. */
export interface LoginProvider {
  readonly name: string;
  readonly title: string;
}

const sessionSeconds = 7 * 86_400;

export function createLoginPages(deps: LoginPagesDeps): LoginPages {
  const { accounts, directory, forms, isNew, providers, hasPasswords } = deps;
  function showLogin(visit: Visit, typed: TypedLogin, problem?: GatewayError): void {
    const form = forms.open({ ...visit, session: undefined });
    const elsewhere = providers().map(
      ({ name, title }) =>
        html`<form method="post" action="${prefixed(visit, `/auth/oidc/${name}/start`)}">
          ${form.field} <input type="hidden" name="next" value="${typed.next}" /><button>Log in with ${title}</button>
        </form>`,
    );
    const body = html`${alert(problem)}${elsewhere}${hasPasswords() ? passwordForm(visit, form, typed) : nothing}`;
    show(visit, form, { title: "Log in", body, status: problem?.row.http, headers: retry(problem) });
  }

  function showSetup(visit: Visit, typed: URLSearchParams, problem?: GatewayError): void {
    const form = forms.open({ ...visit, session: undefined });
    const about = isNew()
      ? "No one has an account at this gateway yet. This makes the first admin, and the first team."
      : "The link is for your account here. It sets a new password, once.";
    const ownPassword = html`${newPassword("New password")}<button class="main">Set the password</button>`;
    // The same code says who logs in there from now on. Passwords need not be filled in for that.
    const elsewhere = providers().map(
      ({ name, title }) =>
        html`<button formaction="${prefixed(visit, `/auth/oidc/${name}/start`)}" formnovalidate>
          Use your account at ${title}
        </button>`,
    );
    const body = html`${alert(problem)}
      <p>${about}</p>
      <form method="post" action="${prefixed(visit, "/setup")}">
        ${form.field}${toCodeInput(typed)}${isNew() ? toFirstNames(typed) : nothing}
        ${hasPasswords() ? ownPassword : nothing}${elsewhere}
      </form>`;
    const page = { title: "Set up your account", body, script: codeScript };
    show(visit, form, { ...page, status: problem?.row.http, headers: retry(problem) });
  }

  return {
    async login(visit) {
      const { request, response, base, ip, browser, hash } = visit;
      if (request.method !== "POST") return showLogin(visit, { next: safeNext(visit.query.get("next"), "") });
      const fields = await forms.read({ request, base, session: undefined });
      const [next, name] = [safeNext(fields.get("next"), ""), fields.get("name") ?? ""];
      try {
        if (!hasPasswords()) throw new GatewayError("FORBIDDEN", "there are no passwords here", { hint: "" });
        const given = { name, password: fields.get("password") ?? "", ip, browser, replaced: hash };
        const session = await accounts.login(given);
        const end = safeNext(next, homeOf(directory, session.row.userId));
        return redirect(response, `${base}${end}`, [sessionCookie(session, base)]);
      } catch (error) {
        return showLogin(visit, { next, name }, expected(error));
      }
    },
    async setup(visit) {
      const { request, response, base, ip, browser, hash } = visit;
      if (request.method !== "POST") return showSetup(visit, new URLSearchParams());
      const fields = await forms.read({ request, base, session: undefined });
      try {
        const text = (name: string): string => fields.get(name) ?? "";
        if (!hasPasswords()) throw new GatewayError("FORBIDDEN", "there are no passwords here", { hint: "" });
        checkSame(fields);
        const about = { name: text("name"), team: text("team"), password: text("password"), replaced: hash };
        // People paste the whole link.
        const code = text("code").trim().replace(/^.*#/, "");
        const session = await accounts.setUp({ code, ...about, ip, browser });
        return redirect(response, `${base}${clientPath}`, [sessionCookie(session, base)]);
      } catch (error) {
        return showSetup(visit, fields, expected(error));
      }
    },
  };
}

function passwordForm(visit: Visit, form: OpenForm, { next, name = "" }: TypedLogin): Html {
  return html`<form method="post" action="${prefixed(visit, "/auth/login")}">
    ${form.field}
    <input type="hidden" name="next" value="${next}" />
    <label for="name">Name</label
    ><input id="name" name="name" value="${name}" autocomplete="username" required${focusIf(name === "")} />
    <label for="password">Password</label>
    <input
      id="password"
      name="password"
      type="password"
      autocomplete="current-password"
      required${focusIf(name !== "")}
    />
    <button class="main">Log in</button>
  </form>`;
}

/** What stood in the form that did not work, or where the page was asked to lead. */
interface TypedLogin {
  readonly next: string;
  readonly name?: string;
}

function focusIf(isHere: boolean): Html {
  return isHere ? { html: " autofocus" } : nothing;
}

export const nameHint = "Small letters, digits and hyphens.";

/** A name of a user or a team. Browsers read the pattern with the `v` flag, where a hyphen in a class is escaped. */
export function toNameInput(name: string, label: string, typed: URLSearchParams): Html {
  return html`<label for="${name}">${label}</label
    ><input
      id="${name}"
      name="${name}"
      value="${typed.get(name) ?? ""}"
      ${{ html: name === "name" ? 'autocomplete="username"' : 'autocomplete="off"' }}
      autocapitalize="none"
      spellcheck="false"
      pattern="[a-z0-9][a-z0-9\\-]*"
      title="${nameHint}"
      aria-describedby="name-hint"
      required
    />`;
}

function toFirstNames(typed: URLSearchParams): Html {
  return html`${toNameInput("name", "Your name", typed)}${toNameInput("team", "Name of the team", typed)}
    <p class="muted" id="name-hint">${nameHint}</p>`;
}

function toCodeInput(typed: URLSearchParams): Html {
  return html`<label for="code">Code</label
    ><input
      id="code"
      name="code"
      value="${typed.get("code") ?? ""}"
      autocomplete="one-time-code"
      aria-describedby="code-hint"
      required
      autofocus
    />
    <p class="muted" id="code-hint">The part of the link after its <code>#</code>.</p>`;
}

/** A new password, twice. */
export function newPassword(label: string): Html {
  return html`<label for="password">${label}, 12 characters at least</label>
    <input id="password" name="password" type="password" minlength="12" autocomplete="new-password" required />
    <label for="again">The same again</label>
    <input id="again" name="again" type="password" minlength="12" autocomplete="new-password" required />`;
}

export function sessionCookie({ cookie }: NewSession, base: string): string {
  return toCookie(sessionCookieName(base.startsWith("https:")), cookie, base, sessionSeconds);
}

/** Throws REQUEST_INVALID when a new password was not typed twice. */
export function checkSame(fields: URLSearchParams): void {
  if (fields.get("password") !== fields.get("again"))
    throw new GatewayError("REQUEST_INVALID", "the two passwords differ", { hint: "" });
}

/** What people are told on the page. Anything else is not for them. */
export function expected(error: unknown): GatewayError {
  if (error instanceof GatewayError && error.code !== "INTERNAL") return error;
  throw error;
}

export function alert(problem: GatewayError | undefined): Html {
  if (problem === undefined) return nothing;
  const { message } = problem;
  return html`<p role="alert">${message.charAt(0).toUpperCase()}${message.slice(1)}.</p>`;
}

function retry(problem: GatewayError | undefined): Record<string, string> {
  const seconds = problem?.data?.["retry_after_s"];
  return typeof seconds === "number" ? { "Retry-After": String(seconds) } : {};
}
