import type { Accounts } from "../../people/authorization-server/accounts.ts";
import type { LinkedAccounts } from "../../people/sign-in/linked-accounts.ts";
import { shorten } from "./pages/consent-page.ts";
import type { OpenForm } from "./pages/forms.ts";
import type { LoginProvider } from "./pages/login-pages.ts";
import { html, nothing, prefixed, toSection, type Html } from "./pages/page.ts";
import type { KnownVisit, Visit } from "./visit.ts";

export interface LinkedLoginsDeps {
  readonly accounts: Pick<Accounts, "hasPassword">;
  readonly linked: LinkedAccounts;
  /** Identity providers at which somebody may have an account. */
  readonly providers: () => readonly LoginProvider[];
  readonly hasPasswords: () => boolean;
}

/** Accounts elsewhere that somebody logs in with, and where to add one. */
export async function toLogins(visit: KnownVisit, form: OpenForm, deps: LinkedLoginsDeps): Promise<Html> {
  const { accounts, linked, providers, hasPasswords } = deps;
  const rows = (await linked.of(visit.user.id)).map(
    ({ id, label, host }) =>
      html`<tr>
        <td>${shorten(label) || id}</td>
        <td>${host}</td>
        <td>${toButton(visit, form, { task: "login.remove", id, label: html`Remove` })}</td>
      </tr>`,
  );
  if (rows.length === 0 && providers().length === 0) return nothing;
  const asks = hasPasswords() && (await accounts.hasPassword(visit.user.id));
  const buttons = providers().map(({ name, title }) => {
    const password = html`<label for="link-${name}">Your password here</label
      ><input id="link-${name}" name="password" type="password" autocomplete="current-password" required />`;
    return html`<form method="post" action="${prefixed(visit, `/auth/oidc/${name}/start?link`)}">
      ${form.field} ${asks ? password : nothing}<button>Use your account at ${title}</button>
    </form>`;
  });
  return toSection(html`${toTable(["Account", "Where", "Remove"], rows)}${buttons}`, "Log in elsewhere");
}

export function toButton(
  visit: Visit,
  form: OpenForm,
  given: { readonly task: string; readonly id: string; readonly label: Html },
): Html {
  return html`<form method="post" action="${prefixed(visit, "/account")}">
    ${form.field} <input type="hidden" name="task" value="${given.task}" /><input
      type="hidden"
      name="id"
      value="${given.id}"
    /><button>${given.label}</button>
  </form>`;
}

export function toTable(headings: readonly string[], rows: readonly Html[]): Html {
  if (rows.length === 0) return html`<p class="muted">None.</p>`;
  const cells = headings.map((heading) => html`<th scope="col">${heading}</th>`);
  return html`<table>
    <thead>
      <tr>
        ${cells}
      </tr>
    </thead>
    <tbody>
      ${rows}
    </tbody>
  </table>`;
}
