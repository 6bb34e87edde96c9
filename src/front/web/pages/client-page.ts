import { entryName, toWrittenEntry } from "../../../config/clients/connect/written-entry.ts";
import type { ClientRow } from "../../../config/clients/table/client-row.ts";
import { clientTable } from "../../../config/clients/table/client-table.ts";
import type { Member } from "../../../people/directory/books/member.ts";
import type { MadeToken } from "../../../people/directory/people-lookup.ts";
import type { GatewayError } from "../../../kernel/failures/gateway-error.ts";
import { toActor, type AccountPagesDeps } from "./account-page.ts";
import { pathOf, statusName } from "./connect-page.ts";
import { shorten } from "./consent-page.ts";
import type { OpenForm } from "./forms.ts";
import { alert, expected } from "./login-pages.ts";
import { clientPath, html, nothing, prefixed, redirect, toSection, type Html, copyScript } from "./page.ts";
import { isKnown, show, type KnownVisit, type Visit } from "../visit.ts";

export interface ClientPageDeps extends Pick<AccountPagesDeps, "forms" | "tokens" | "serversOf"> {
  readonly directory: Pick<AccountPagesDeps["directory"], "book">;
}

interface Shown {
  readonly made?: MadeToken;
  readonly problem?: GatewayError;
}

/** What a person needs to connect an AI client: the address, a token where one is wanted, and what to write where. */
export function createClientPage(deps: ClientPageDeps): (visit: Visit) => Promise<void> {
  const { forms, tokens, directory } = deps;

  async function showPage(visit: KnownVisit, { made, problem }: Shown = {}): Promise<void> {
    const form = forms.open({ ...visit, session: visit.hash });
    const { name, role } = visit.user;
    const members = directory.book.membersOf(visit.user.id);
    const teams = members.map(({ team }) => html`<strong>${team.slug}</strong>`);
    const url = `${visit.base}/mcp`;
    const parts = [
      html`<p>
          You are <strong>${name}</strong>${role === "admin" ? ", an admin" : ""}.
          ${teams.length === 0 ? nothing : html`Your ${teams.length === 1 ? "team" : "teams"}: ${joined(teams)}.`}
        </p>
        ${alert(problem)}
        <p>
          <a class="button${role === "admin" ? " main" : ""}" href="${prefixed(visit, "/ui/")}">Open the dashboard</a>
        </p>`,
      toNeeds(visit, deps),
      toSection(html`${copied("address", url)}`, "The address of this gateway"),
      toAccess(visit, form, { members, made }),
      await toClients(visit, { url, token: made?.token }),
    ];
    const page = { title: "Connect an AI client", body: html`${parts}`, isWide: true, script: copyScript } as const;
    show(visit, form, { ...page, status: problem?.row.http });
  }

  return async (visit) => {
    if (!isKnown(visit)) return redirect(visit.response, `${visit.base}/auth/login?next=${clientPath}`);
    if (visit.request.method !== "POST") return await showPage(visit);
    const fields = await forms.read({ ...visit, session: visit.hash });
    try {
      const about = { user: visit.user.name, team: fields.get("team") ?? undefined, name: fields.get("name") ?? "" };
      await showPage(visit, { made: await tokens(toActor(visit)).addToken({ ...about, days: tokenDays }) });
    } catch (error) {
      await showPage(visit, { problem: expected(error) });
    }
  };
}

export const tokenDays = 90;

function joined(parts: readonly Html[]): Html {
  return html`${parts.map((part, at) => (at === 0 ? part : html`, ${part}`))}`;
}

/** A text with a button that copies it, which a script shows. */
function copied(id: string, text: string, isBlock = false): Html {
  const shown = isBlock ? html`<pre id="${id}" tabindex="0">${text}</pre>` : html`<code id="${id}">${text}</code>`;
  return html`<div class="copied">
    ${shown}<button type="button" class="copy" data-copy="${id}" aria-live="polite" hidden>Copy</button>
  </div>`;
}

/** Servers of theirs that work only after a person gave a value, or logged in. */
function toNeeds(visit: KnownVisit, { serversOf }: ClientPageDeps): Html {
  const waiting = serversOf(visit.user).filter(
    ({ status, isShared }) => status === "awaiting_user_config" || (status === "requires_reauth" && !isShared),
  );
  if (waiting.length === 0) return nothing;
  const rows = waiting.map(
    ({ id, title, status }) =>
      html`<li><a href="${prefixed(visit, pathOf(id))}">${shorten(title)}</a>: ${statusName(status)}</li>`,
  );
  return toSection(
    html`<ul>
      ${rows}
    </ul>`,
    "Servers that need something of you",
  );
}

function toAccess(
  visit: KnownVisit,
  form: OpenForm,
  { members, made }: { readonly members: readonly Member[]; readonly made: MadeToken | undefined },
): Html {
  const about = html`<p>
    A client that can log in by itself needs the address alone: it opens a browser, and this gateway asks you. Another
    client, or a program, sends a token.
  </p>`;
  if (members.length === 0)
    return toSection(
      html`${about}
        <p role="alert">You are in no team: ask an admin to put you into one.</p>`,
      "Access",
    );
  const token =
    made === undefined
      ? nothing
      : html`<div class="good" role="status">
          <p>
            This is your token. It is shown only now, and is in the texts below. It is good for ${String(tokenDays)}
            days.
          </p>
          ${copied("token", made.token)}
        </div>`;
  const [only, another] = members;
  const options = members.map(({ team }) => html`<option>${team.slug}</option>`);
  const picker =
    another === undefined
      ? html`<input type="hidden" name="team" value="${only?.team.slug ?? ""}" />`
      : html`<label for="team">For the team</label
          ><select id="team" name="team">
            ${options}
          </select>`;
  const make = html`<form method="post" action="${prefixed(visit, clientPath)}">
    ${form.field}${picker}
    <label for="token-name">What the token is for</label
    ><input id="token-name" name="name" maxlength="100" placeholder="Cursor on my laptop" autocomplete="off" />
    <button>${made === undefined ? "Make a token" : "Make another token"}</button>
  </form>`;
  return toSection(html`${token}${about}${make}`, "Access");
}

interface Way {
  readonly url: string;
  readonly token: string | undefined;
}

async function toClients(visit: KnownVisit, way: Way): Promise<Html> {
  const platform = platformOf(visit.browser);
  const rows: Html[] = [];
  for (const row of clientTable) {
    const written = await toWrittenEntry(row, { ...way, platform });
    if (written === undefined) continue;
    const line = commandLine(row, way);
    const file = html`<p>${line === undefined ? "In" : "Or in"} <code>${written.file}</code>:</p>
      ${copied(`file-${row.id}`, written.text, true)}`;
    const typed =
      line === undefined
        ? nothing
        : html`<p>In a terminal:</p>
            ${copied(`line-${row.id}`, line, true)}`;
    rows.push(
      html`<details>
        <summary>${row.label}</summary>
        ${typed}${file}
        <p>${row.reload}</p>
        ${
          way.token === undefined && row.logInCommand !== undefined
            ? html`<p>To log in: <code>${row.logInCommand} ${entryName}</code></p>`
            : nothing
        }
      </details>`,
    );
  }
  const about = html`<p>
    A file that exists already keeps what it has: put only the entry <code>${entryName}</code> into it. With Toolyard on
    your computer, <code>toolyard connect CLIENT --url ${way.url}</code> does that for you.
  </p>`;
  return toSection(html`${about}${rows}`, "Your client");
}

/** Clients with a command of their own that adds a server. */
function commandLine({ id }: ClientRow, { url, token }: Way): string | undefined {
  if (id !== "claude-code") return undefined;
  const header = token === undefined ? "" : ` --header "Authorization: Bearer ${token}"`;
  return `claude mcp add --scope user --transport http ${entryName} ${url}${header}`;
}

/** Where files are is told as on the machine of the browser. */
function platformOf(browser: string): NodeJS.Platform {
  if (browser.endsWith(" on Windows")) return "win32";
  return / on (?:macOS|iPad|iPhone)$/.test(browser) ? "darwin" : "linux";
}
