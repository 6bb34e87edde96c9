import type { Accounts } from "../../../people/authorization-server/accounts.ts";
import type { BrowserSessions } from "../../../people/authorization-server/user-sessions.ts";
import type { ChangeActor } from "../../../people/directory/change-queue.ts";
import type { PeopleChanges } from "../../../people/directory/people-changes.ts";
import type { MadeToken } from "../../../people/directory/people-lookup.ts";
import type { TeamDirectory } from "../../../people/directory/team-directory.ts";
import { GatewayError } from "../../../kernel/failures/gateway-error.ts";
import { sessionCookieName } from "../../../people/identity/session-cookie.ts";
import { pathOf, statusName, type PersonServers } from "./connect-page.ts";
import { shorten } from "./consent-page.ts";
import { toButton, toLogins, toTable, type LinkedLoginsDeps } from "../linked-logins.ts";
import { toCookie, type Forms, type OpenForm } from "./forms.ts";
import { alert, checkSame, expected, newPassword, sessionCookie } from "./login-pages.ts";
import { clientPath, html, nothing, prefixed, redirect, toSection, writePage, type Html } from "./page.ts";
import { isKnown, show, type KnownVisit, type Visit } from "../visit.ts";

/** What somebody has here: tokens, apps, browsers, a password; and the way out. */
export interface AccountPages {
  account(visit: Visit): Promise<void>;
  logout(visit: Visit): Promise<void>;
}

export interface AccountPagesDeps extends LinkedLoginsDeps {
  readonly accounts: Pick<Accounts, "changePassword" | "hasPassword">;
  readonly sessions: BrowserSessions;
  readonly directory: Pick<TeamDirectory, "book" | "access">;
  readonly tokens: (by: ChangeActor) => Pick<PeopleChanges, "addToken" | "revokeToken">;
  /** Ends an app's access. */
  readonly revokeApp: (visit: KnownVisit, grantId: string) => Promise<void>;
  readonly forms: Forms;
  readonly serversOf: PersonServers["of"];
  /** Where somebody whose session began at this issuer can log out there as well. */
  readonly endSessionUrl: (issuer: string, redirectUri: string) => Promise<string | undefined>;
}

interface Shown {
  readonly problem?: GatewayError;
  readonly made?: MadeToken;
}

type Task = (visit: KnownVisit, fields: URLSearchParams) => Promise<Shown>;

export function createAccountPages(deps: AccountPagesDeps): AccountPages {
  const { accounts, sessions, forms, hasPasswords } = deps;

  async function showAccount(visit: KnownVisit, { problem, made }: Shown = {}): Promise<void> {
    const form = forms.open({ ...visit, session: visit.hash });
    const { name, role } = visit.user;
    const parts = [
      alert(problem),
      made === undefined
        ? nothing
        : html`<p class="good" role="status">Your new token, shown only now: <code>${made.token}</code></p>`,
      html`<p>
        You are <strong>${name}</strong>${role === "admin" ? ", an admin" : ""}. To the
        <a href="${prefixed(visit, "/ui/")}">dashboard</a>, or
        <a href="${prefixed(visit, clientPath)}">connect an AI client</a>.
      </p>`,
      toServers(visit, deps),
      toTokens(visit, form, deps),
      toApps(visit, form, deps),
      toSessions(visit, form, sessions),
      await toLogins(visit, form, deps),
      hasPasswords() ? toPasswordForm(visit, form) : nothing,
      html`<form method="post" action="${prefixed(visit, "/auth/logout")}">
        ${form.field}<button>Log out</button>
      </form>`,
    ];
    show(visit, form, { title: "Your account", body: html`${parts}`, isWide: true, status: problem?.row.http });
  }

  const tasks = createTasks(deps);

  async function changePassword(visit: KnownVisit, fields: URLSearchParams): Promise<void> {
    checkSame(fields);
    const [old, password] = [fields.get("old") ?? "", fields.get("password") ?? ""];
    const { ip, browser } = visit;
    const session = await accounts.changePassword(visit.session, { old, password, ip, browser });
    redirect(visit.response, `${visit.base}/account`, [sessionCookie(session, visit.base)]);
  }

  return {
    async account(visit) {
      if (!isKnown(visit)) return redirect(visit.response, `${visit.base}/auth/login?next=/account`);
      if (visit.request.method !== "POST") return await showAccount(visit);
      const fields = await forms.read({ ...visit, session: visit.hash });
      const task = fields.get("task") ?? "";
      try {
        if (task === "password" && hasPasswords()) return await changePassword(visit, fields);
        const run = Object.hasOwn(tasks, task) ? tasks[task] : undefined;
        if (run === undefined) throw new GatewayError("REQUEST_INVALID", "there is no such thing to do", { hint: "" });
        const shown = await run(visit, fields);
        if (shown.made === undefined) return redirect(visit.response, `${visit.base}/account`);
        return await showAccount(visit, shown);
      } catch (error) {
        return await showAccount(visit, { problem: expected(error) });
      }
    },
    async logout(visit) {
      const { request, response, base, hash } = visit;
      if (request.method !== "POST" || !isKnown(visit)) return redirect(response, `${base}/account`);
      await forms.read({ ...visit, session: hash });
      await sessions.end(visit.user, [visit.session.hash], { action: "logout", ip: visit.ip });
      const name = sessionCookieName(base.startsWith("https:"));
      const cookies = [toCookie(name, "", base, 0)];
      // Somebody who cannot be reached now cannot keep anybody from logging out here.
      const there = await deps.endSessionUrl(visit.session.via, `${base}/auth/login`).catch(() => undefined);
      if (there === undefined) return redirect(response, `${base}/auth/login`, cookies);
      const body = html`<p>You are not logged out at <a href="${there}">${new URL(there).host}</a>.</p>
        <p><a href="${prefixed(visit, "/auth/login")}">Log in again</a></p>`;
      writePage(
        { ...visit, user: undefined },
        { title: "You are logged out", body, headers: { "Set-Cookie": cookies } },
      );
    },
  };
}

/** What can be done on the page, by the name that its form has. */
function createTasks({
  sessions,
  directory,
  tokens,
  revokeApp,
  linked,
}: AccountPagesDeps): Readonly<Record<string, Task>> {
  const { book, access } = directory;

  /** Throws FORBIDDEN for an object of another person, whether it exists or not. */
  function requireOwn(isOwn: boolean): void {
    if (!isOwn) throw new GatewayError("FORBIDDEN", "that is not yours", { hint: "" });
  }

  return {
    async "token.new"(visit, fields) {
      const team = fields.get("team") ?? undefined;
      const about = { user: visit.user.name, team, name: fields.get("name") ?? "", days: 90 };
      return { made: await tokens(toActor(visit)).addToken(about) };
    },
    async "token.revoke"(visit, fields) {
      const { user } = visit;
      const id = fields.get("id") ?? "";
      requireOwn(book.members.get(book.pats.get(id)?.membershipId ?? "")?.user.id === user.id);
      await tokens(toActor(visit)).revokeToken(id);
      return {};
    },
    async "app.revoke"(visit, fields) {
      const grant = access.grants.get(fields.get("id") ?? "");
      requireOwn(book.members.get(grant?.membershipId ?? "")?.user.id === visit.user.id);
      await revokeApp(visit, grant?.id ?? "");
      return {};
    },
    async "login.remove"({ session, ip }, fields) {
      await linked.remove(session, fields.get("id") ?? "", ip);
      return {};
    },
    async "session.end"({ user, ip, hash }, fields) {
      // Ids of sessions are the beginnings of their hashes: no page holds what finds one in the database.
      const mine = sessions
        .of(user.id)
        .filter((row) => row.hash.startsWith(fields.get("id") ?? "-") && row.hash !== hash);
      requireOwn(mine.length === 1);
      await sessions.end(
        user,
        mine.map((row) => row.hash),
        { action: "session.end", ip },
      );
      return {};
    },
  };
}

/** The audit names people who log in with a browser by their names: they may be in several teams. */
export function toActor({ user, ip }: KnownVisit): ChangeActor {
  return { id: user.name, via: "browser", ip, user: user.id, isAdmin: false };
}

/** Each leads to the page where one logs in there, and gives values of one's own. */
function toServers(visit: KnownVisit, { serversOf }: AccountPagesDeps): Html {
  const rows = serversOf(visit.user).map(
    ({ id, title, team, isShared, status }) =>
      html`<tr>
        <td><a href="${prefixed(visit, pathOf(id))}">${shorten(title)}</a></td>
        <td>${team}</td>
        <td>${isShared ? "shared" : "yours"}</td>
        <td>${statusName(status)}</td>
      </tr>`,
  );
  return toSection(toTable(["Server", "Team", "Whose", "Status"], rows), "Servers");
}

function toTokens(visit: KnownVisit, form: OpenForm, { directory }: AccountPagesDeps): Html {
  const members = directory.book.membersOf(visit.user.id);
  const rows = members.flatMap(({ row, team }) =>
    directory.book.patsOf(row.id).map(
      ({ id, name, expiresAtMs }) =>
        html`<tr>
          <td>${shorten(name) || id}</td>
          <td>${team.slug}</td>
          <td>until ${toDay(expiresAtMs)}</td>
          <td>${toButton(visit, form, { task: "token.revoke", id, label: html`Revoke` })}</td>
        </tr>`,
    ),
  );
  const options = members.map(({ team }) => html`<option>${team.slug}</option>`);
  const make = html`<form method="post" action="${prefixed(visit, "/account")}">
    ${form.field}<input type="hidden" name="task" value="token.new" />
    <label for="token-name">What a new token is for</label><input id="token-name" name="name" maxlength="100" />
    <label for="token-team">Team</label
    ><select id="token-team" name="team">
      ${options}</select
    ><button>Make a token</button>
  </form>`;
  return toSection(html`${toTable(["What for", "Team", "Valid", "Revoke"], rows)} ${make}`, "Tokens");
}

function toApps(visit: KnownVisit, form: OpenForm, { directory: { book, access } }: AccountPagesDeps): Html {
  const rows = book.membersOf(visit.user.id).flatMap(({ row, team }) =>
    access.grantsOf(row.id).map(
      ({ id, clientName, usedAtMs }) =>
        html`<tr>
          <td>${shorten(clientName)}</td>
          <td>${team.slug}</td>
          <td>used ${toDay(usedAtMs)}</td>
          <td>${toButton(visit, form, { task: "app.revoke", id, label: html`Disconnect` })}</td>
        </tr>`,
    ),
  );
  return toSection(toTable(["App", "Team", "Used", "Disconnect"], rows), "Apps");
}

function toSessions(visit: KnownVisit, form: OpenForm, sessions: BrowserSessions): Html {
  const rows = sessions.of(visit.user.id).map((row) => {
    const isThis = row.hash === visit.hash;
    const end = isThis
      ? html`this one`
      : toButton(visit, form, { task: "session.end", id: row.hash.slice(0, 16), label: html`End` });
    return html`<tr>
      <td>${row.browser === "" ? "Unknown" : row.browser}</td>
      <td>${toDay(row.createdAtMs)}</td>
      <td>${toMinute(row.seenAtMs)}</td>
      <td>${end}</td>
    </tr>`;
  });
  return toSection(toTable(["Browser", "Logged in", "Last used", "End"], rows), "Browsers");
}

function toPasswordForm(visit: KnownVisit, form: OpenForm): Html {
  const inside = html`<form method="post" action="${prefixed(visit, "/account")}">
    ${form.field}<input type="hidden" name="task" value="password" /> <label for="old">Present password</label
    ><input id="old" name="old" type="password" autocomplete="current-password" required />
    ${newPassword("New password")}<button>Change it</button>
  </form>`;
  return toSection(inside, "Password");
}

function toDay(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 10);
}

/** To the minute, in UTC: where somebody is, a page without a script does not know. */
function toMinute(atMs: number): string {
  return `${new Date(atMs).toISOString().slice(0, 16).replace("T", " ")} UTC`;
}
