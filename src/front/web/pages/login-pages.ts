import type { Accounts } from "../../../people/authorization-server/accounts.ts";
import type { NewSession } from "../../../people/authorization-server/user-sessions.ts";
import { GatewayError } from "../../../kernel/failures/gateway-error.ts";
import { sessionCookieName } from "../../../people/identity/session-cookie.ts";
import { toCookie, type Forms, type OpenForm } from "./forms.ts";
import { html, nothing, redirect, type Html } from "./page.ts";
import { safeNext, show, type Visit } from "../visit.ts";

/** Logging in, and setting the first password with a link. */
export interface LoginPages {
  login(visit: Visit): Promise<void>;
  setup(visit: Visit): Promise<void>;
}

export interface LoginPagesDeps {
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

export function createLoginPages({ accounts, forms, isNew, providers, hasPasswords }: LoginPagesDeps): LoginPages {
  function showLogin(visit: Visit, next: string, problem?: GatewayError): void {
    const form = forms.open({ ...visit, session: undefined });
    const elsewhere = providers().map(
      ({ name, title }) =>
        html`<form method="post" action="${prefixed(visit, `/auth/oidc/${name}/start`)}">
          ${form.field} <input type="hidden" name="next" value="${next}" /><button>Log in with ${title}</button>
        </form>`,
    );
    const body = html`${alert(problem)}${elsewhere}${hasPasswords() ? passwordForm(visit, form, next) : nothing}`;
    show(visit, form, { title: "Log in", body, status: problem?.row.http, headers: retry(problem) });
  }

  function showSetup(visit: Visit, problem?: GatewayError): void {
    const form = forms.open({ ...visit, session: undefined });
    const first = html`<p>This makes the first admin, and the first team.</p>
      <label for="name">Your name</label
      ><input id="name" name="name" autocomplete="username" required pattern="[a-z0-9][a-z0-9-]*" />
      <label for="team">Name of the team</label><input id="team" name="team" required pattern="[a-z0-9][a-z0-9-]*" />`;
    const ownPassword = html`<label for="password">New password, 12 characters at least</label>
      <input id="password" name="password" type="password" minlength="12" autocomplete="new-password" required />
      <label for="again">The same again</label>
      <input id="again" name="again" type="password" minlength="12" autocomplete="new-password" required />
      <button>Set the password</button>`;
    // The same code says who logs in there from now on. Passwords need not be filled in for that.
    const elsewhere = providers().map(
      ({ name, title }) =>
        html`<button formaction="${prefixed(visit, `/auth/oidc/${name}/start`)}" formnovalidate>
          Use your account at ${title}
        </button>`,
    );
    const body = html`${alert(problem)}
      <form method="post" action="${prefixed(visit, "/setup")}">
        ${form.field} <label for="code">Code</label
        ><input id="code" name="code" autocomplete="one-time-code" required autofocus />
        <p>The code is the part after the <code>#</code> of the link.</p>
        ${isNew() ? first : nothing}${hasPasswords() ? ownPassword : nothing}${elsewhere}
      </form>`;
    show(visit, form, { title: "Set up", body, status: problem?.row.http, headers: retry(problem) });
  }

  return {
    async login(visit) {
      const { request, response, base, ip, hash } = visit;
      if (request.method !== "POST") return showLogin(visit, safeNext(visit.query.get("next")));
      const fields = await forms.read({ request, base, session: undefined });
      const next = safeNext(fields.get("next"));
      try {
        if (!hasPasswords()) throw new GatewayError("FORBIDDEN", "there are no passwords here", { hint: "" });
        const given = { name: fields.get("name") ?? "", password: fields.get("password") ?? "", ip, replaced: hash };
        return redirect(response, `${base}${next}`, [sessionCookie(await accounts.login(given), base)]);
      } catch (error) {
        return showLogin(visit, next, expected(error));
      }
    },
    async setup(visit) {
      const { request, response, base, ip, hash } = visit;
      if (request.method !== "POST") return showSetup(visit);
      const fields = await forms.read({ request, base, session: undefined });
      try {
        const text = (name: string): string => fields.get(name) ?? "";
        if (!hasPasswords()) throw new GatewayError("FORBIDDEN", "there are no passwords here", { hint: "" });
        checkSame(fields);
        const about = { name: text("name"), team: text("team"), password: text("password"), ip, replaced: hash };
        // People paste the whole link.
        const session = await accounts.setUp({ code: text("code").trim().replace(/^.*#/, ""), ...about });
        return redirect(response, `${base}/account`, [sessionCookie(session, base)]);
      } catch (error) {
        return showSetup(visit, expected(error));
      }
    },
  };
}

function passwordForm(visit: Visit, form: OpenForm, next: string): Html {
  return html`<form method="post" action="${prefixed(visit, "/auth/login")}">
    ${form.field}
    <input type="hidden" name="next" value="${next}" />
    <label for="name">Name</label><input id="name" name="name" autocomplete="username" required autofocus />
    <label for="password">Password</label>
    <input id="password" name="password" type="password" autocomplete="current-password" required />
    <button>Log in</button>
  </form>`;
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

/** The path of a page as the browser sees it. */
export function prefixed({ base }: Pick<Visit, "base">, path: string): string {
  return `${new URL(base).pathname.replace(/\/$/, "")}${path}`;
}

function retry(problem: GatewayError | undefined): Record<string, string> {
  const seconds = problem?.data?.["retry_after_s"];
  return typeof seconds === "number" ? { "Retry-After": String(seconds) } : {};
}
