import { GatewayError } from "../../../kernel/failures/gateway-error.ts";
import { isLoopbackHost } from "../../../servers/logins/protocol/addresses.ts";
import type { Asked, AuthorizationServer } from "../../../people/authorization-server/oauth/oauth-server.ts";
import type { Member } from "../../../people/directory/books/member.ts";
import type { TeamDirectory } from "../../../people/directory/team-directory.ts";
import type { Forms } from "./forms.ts";
import { html, nothing, prefixed, redirect, type Html } from "./page.ts";
import { isKnown, show, type KnownVisit, type Visit } from "../visit.ts";

export interface ConsentPageDeps {
  readonly oauth: () => Promise<AuthorizationServer>;
  readonly forms: Forms;
  readonly directory: Pick<TeamDirectory, "book">;
}

const meanings: Readonly<Record<string, string>> = {
  "mcp:read": "see which tools and resources there are, and read resources",
  "mcp:tools:execute": "call tools, which can change things",
  "mcp:admin": "manage what you may manage",
};
/** A client may call itself what it likes; a name is no place for a letter. */
const longestName = 80;

/** Asks a person whether an app may act for them, and in which team. */
export function createConsentPage({ oauth, forms, directory }: ConsentPageDeps): (visit: Visit) => Promise<void> {
  const teamsOf = (visit: KnownVisit): readonly Member[] =>
    directory.book.membersOf(visit.user.id).filter(({ principal }) => principal !== undefined);

  async function ask(visit: KnownVisit): Promise<void> {
    const asked = await (await oauth()).asked(visit.request, visit.response, visit);
    const form = forms.open({ ...visit, session: visit.hash });
    const teams = teamsOf(visit);
    const name = shorten(asked.client.clientName ?? asked.client.clientId);
    const may = asked.scopes.map((scope) => html`<li>${meanings[scope] ?? scope}</li>`);
    const body = html`<p>
        <strong>${name}</strong> wants to act for you, <strong>${visit.user.name}</strong>. It may then
      </p>
      <ul>
        ${may}
      </ul>
      ${toOrigin(asked)}
      <p>For: ${asked.resources.map((url) => html`<code>${url}</code> `)}</p>
      <form method="post" action="${prefixed(visit, visit.path)}">
        ${form.field}${toPicker(teams)}
        <button class="main" name="answer" value="allow" ${{ html: teams.length === 0 ? " disabled" : "" }}>
          Allow
        </button>
        <button name="answer" value="decline">Decline</button>
      </form>
      <p>
        You can take this back at any time on the page of <a href="${prefixed(visit, "/account")}">your account</a>.
      </p>`;
    show(visit, form, { title: "Connect an app", body, formTarget: targetOf(asked.redirectUri) });
  }

  async function answer(visit: KnownVisit): Promise<void> {
    const { request, response } = visit;
    const fields = await forms.read({ ...visit, session: visit.hash });
    const server = await oauth();
    if (fields.get("answer") !== "allow") return redirect(response, await server.decline(request, response, visit));
    const member = teamsOf(visit).find(({ row }) => row.id === fields.get("team"));
    if (member === undefined) throw new GatewayError("FORBIDDEN", "you are not in this team", { hint: "" });
    redirect(
      response,
      await server.agree(request, response, visit, { actor: visit.user.name, member, session: visit.session }),
    );
  }

  return async (visit) => {
    if (!isKnown(visit))
      return redirect(visit.response, `${visit.base}/auth/login?next=${encodeURIComponent(visit.path)}`);
    return visit.request.method === "POST" ? await answer(visit) : await ask(visit);
  };
}

function toPicker(teams: readonly Member[]): Html {
  if (teams.length === 0) return html`<p role="alert">You are in no team: ask an admin to put you into one.</p>`;
  const options = teams.map(({ row, team }) => html`<option value="${row.id}">${team.slug}</option>`);
  return html`<label for="team">In the team</label
    ><select id="team" name="team">
      ${options}
    </select>`;
}

/** Where the browser is sent is all that can be known of an app: its name is what it says of itself. */
function toOrigin({ redirectUri, client }: Asked): Html {
  if (redirectUri === undefined)
    return html`<p class="warning">
      The app runs on another device. Go on only if you have just started it there yourself.
    </p>`;
  const url = new URL(redirectUri);
  const published = URL.canParse(client.clientId)
    ? html` It is published at <code>${client.clientId}</code>.`
    : nothing;
  if (url.protocol === "http:" && isLoopbackHost(url.hostname))
    return html`<p class="warning">
      The app runs on your own computer (<code>${url.host}</code>). Any program there can call itself so: go on only if
      you have just started it yourself.${published}
    </p>`;
  const place = url.protocol === "https:" ? url.host : `${url.protocol}//${url.host}`;
  return html`<p>You are then sent to <code>${place}</code>.${published}</p>`;
}

/** Browsers follow a form to the app only if the page names where it leads. */
function targetOf(redirectUri: string | undefined): string | undefined {
  if (redirectUri === undefined) return undefined;
  const { protocol, origin } = new URL(redirectUri);
  if (protocol === "http:" || protocol === "https:") return origin;
  return /^[a-z][a-z0-9+.-]*:$/.test(protocol) ? protocol : undefined;
}

/** Without signs that turn the direction of what follows, or hide. */
export function shorten(name: string): string {
  const plain = name.replace(/[\p{Cc}\p{Cf}]/gu, "");
  return plain.length > longestName ? `${plain.slice(0, longestName)}...` : plain;
}
