import type { InvitedAccounts } from "../../../people/authorization-server/invited-accounts.ts";
import { GatewayError } from "../../../kernel/failures/gateway-error.ts";
import type { Forms, OpenForm } from "./forms.ts";
import { alert, checkSame, expected, nameHint, newPassword, sessionCookie, toNameInput } from "./login-pages.ts";
import { clientPath, html, nothing, prefixed, redirect, type Html } from "./page.ts";
import { isKnown, show, type Visit } from "../visit.ts";

export interface InvitePageDeps {
  readonly invited: InvitedAccounts;
  readonly forms: Forms;
  readonly hasPasswords: () => boolean;
}

export const invitePath = "/invite/";

/** Accepts an invitation: for the person logged in, or with an account that is made for it. */
export function createInvitePage({ invited, forms, hasPasswords }: InvitePageDeps): (visit: Visit) => Promise<void> {
  function showInvite(visit: Visit, typed: URLSearchParams, problem?: GatewayError): void {
    const { team, title, role } = invited.read(secretOf(visit), visit.ip);
    const form = forms.open({ ...visit, session: visit.hash });
    const way = isKnown(visit)
      ? toJoin(visit, form, visit.user.name)
      : toNewcomer(visit, form, { typed, hasPasswords: hasPasswords() });
    const named = title === "" ? html`<strong>${team}</strong>` : html`<strong>${title}</strong> (${team})`;
    const body = html`${alert(problem)}
      <p>You are invited into the team ${named}, as ${role === "member" ? "a member" : `an ${role}`}.</p>
      ${way}`;
    show(visit, form, { title: "Invitation", body, status: problem?.row.http });
  }

  async function accept(visit: Visit, fields: URLSearchParams): Promise<void> {
    const { response, base, ip, browser, hash } = visit;
    const secret = secretOf(visit);
    if (isKnown(visit)) {
      await invited.join(visit.user, { secret, ip });
      return redirect(response, `${base}${clientPath}`);
    }
    if (!hasPasswords()) throw new GatewayError("FORBIDDEN", "there are no passwords here", { hint: "" });
    checkSame(fields);
    const [name, password] = [fields.get("name") ?? "", fields.get("password") ?? ""];
    const session = await invited.makeAccount({ secret, name, password, ip, browser, replaced: hash });
    redirect(response, `${base}${clientPath}`, [sessionCookie(session, base)]);
  }

  return async (visit) => {
    if (visit.request.method !== "POST") return showInvite(visit, new URLSearchParams());
    const fields = await forms.read({ ...visit, session: visit.hash });
    try {
      await accept(visit, fields);
    } catch (error) {
      const problem = expected(error);
      // There is nothing to try again with an invitation that is not good.
      if (problem.code === "PERSON_UNKNOWN") throw problem;
      showInvite(visit, fields, problem);
    }
  };
}

function secretOf({ path }: Visit): string {
  return path.slice(invitePath.length, invitePath.length + 200);
}

function toJoin(visit: Visit, form: OpenForm, name: string): Html {
  return html`<form method="post" action="${prefixed(visit, visit.path)}">
      ${form.field}<button class="main">Join as ${name}</button>
    </form>
    <p>
      Is this somebody else's browser? Log out on the page of
      <a href="${prefixed(visit, "/account")}">the account</a> first.
    </p>`;
}

interface Newcomer {
  /** What stood in the form that did not work. */
  readonly typed: URLSearchParams;
  readonly hasPasswords: boolean;
}

function toNewcomer(visit: Visit, form: OpenForm, { typed, hasPasswords }: Newcomer): Html {
  const login = `${prefixed(visit, "/auth/login")}?next=${encodeURIComponent(visit.path)}`;
  const account = html`<h2>New here? Make an account</h2>
    <form method="post" action="${prefixed(visit, visit.path)}">
      ${form.field} ${toNameInput("name", "Name", typed)}
      <p class="muted" id="name-hint">${nameHint}</p>
      ${newPassword("Password")}<button class="main">Make the account and join</button>
    </form>`;
  const label = hasPasswords ? "I have an account: log in" : "Log in and join";
  const way = html`<p><a class="${hasPasswords ? "button" : "button main"}" href="${login}">${label}</a></p>`;
  return html`${hasPasswords ? account : nothing}${way}`;
}
