import type { UserRow } from "../../../store/people-rows.ts";
import type { FieldView } from "../../../people/installations/install-view.ts";
import type { FinishedLogin } from "../../../servers/logins/flow/browser-logins.ts";
import { GatewayError } from "../../../kernel/failures/gateway-error.ts";
import type { Forms, OpenForm } from "./forms.ts";
import { alert, expected } from "./login-pages.ts";
import { clientPath, html, nothing, prefixed, redirect, toSection, type Html } from "./page.ts";
import { isKnown, show, type KnownVisit, type Visit } from "../visit.ts";

/** A server as one person has it, or shares it with a team. */
export interface PersonServer {
  /** Of the instance. */
  readonly id: string;
  readonly slug: string;
  readonly title: string;
  /** The person's team. */
  readonly team: string;
  readonly isShared: boolean;
  readonly status: string;
  readonly reason: string;
}

/** The same with what can be given for it. */
export interface ConnectableServer extends PersonServer {
  /** Where its requests go; null for a program on the gateway's machine. */
  readonly address: string | null;
  readonly takesLogin: boolean;
  readonly hasLogin: boolean;
  /** Whether this person may log in there: for a shared server, for everybody. */
  readonly mayLogIn: boolean;
  /** What the person may give of their own. */
  readonly fields: readonly FieldView[];
}

/** The servers of people, as their pages use them. Another person's is undefined, whether it exists or not. */
export interface PersonServers {
  of(user: UserRow): readonly PersonServer[];
  find(user: UserRow, id: string): Promise<ConnectableServer | undefined>;
  /** Resolves to the address where the person logs in. */
  begin(visit: KnownVisit, id: string): Promise<string>;
  finish(visit: KnownVisit): Promise<FinishedLogin>;
  logOut(visit: KnownVisit, id: string): Promise<void>;
  setValues(visit: KnownVisit, id: string, values: Readonly<Record<string, string | null>>): Promise<void>;
}

export interface ConnectPageDeps {
  readonly servers: PersonServers;
  readonly forms: Forms;
  /** Told of a person who opens another person's server. */
  readonly onDenied: (visit: KnownVisit, object: string) => void;
}

export const connectPath = "/connect/";
const callbackPath = `${connectPath}callback`;

/** Logging in at servers, and giving values of one's own: each for the person whose browser it is, and no one else. */
export function createConnectPage({ servers, forms, onDenied }: ConnectPageDeps): (visit: Visit) => Promise<void> {
  async function find(visit: KnownVisit): Promise<ConnectableServer> {
    const id = idOf(visit.path);
    const found = await servers.find(visit.user, id);
    if (found !== undefined) return found;
    onDenied(visit, id);
    throw new GatewayError("FORBIDDEN", "this is no server of yours", {
      hint: "The link is for somebody else, or the server is not there any more.",
    });
  }

  function showServer(visit: KnownVisit, server: ConnectableServer, problem?: GatewayError): void {
    const form = forms.open({ ...visit, session: visit.hash });
    const fields = toFieldForm(server.fields, (inside) =>
      toForm(visit, form, "values", html`${toAddressField(server)}${inside}`),
    );
    const body = html`${alert(problem)}${toSection(toAbout(server))}${toLogin(visit, form, server)}${fields}
      <p>
        <a href="${prefixed(visit, `/ui/servers/${encodeURIComponent(server.slug)}`)}">This server in the dashboard</a>
        · <a href="${prefixed(visit, clientPath)}">Connect an AI client</a>
      </p>`;
    show(visit, form, { title: server.title, body, isWide: true, status: problem?.row.http });
  }

  /** The person sees where the browser goes, and goes there by a click: no form of ours leads elsewhere. */
  function showWayOut(visit: KnownVisit, server: ConnectableServer, address: string): void {
    const form = forms.open({ ...visit, session: visit.hash });
    const body = html`<p>
        Log in at <code>${new URL(address).host}</code>, which ${server.title} named for it. It sends you back here
        afterwards, within five minutes.
      </p>
      <p><a class="button" rel="noreferrer" href="${address}">Go on to ${new URL(address).host}</a></p>`;
    show(visit, form, { title: `Log in at ${server.title}`, body });
  }

  async function answer(visit: KnownVisit, server: ConnectableServer): Promise<void> {
    const fields = await forms.read({ ...visit, session: visit.hash });
    const task = fields.get("task");
    const { id } = server;
    try {
      if (task === "values") {
        requireSeenAddress(server, fields.get("address"));
        await servers.setValues(visit, id, readFields(server.fields, fields));
      } else {
        requireLogin(server);
        if (task === "login") {
          if (server.isShared && fields.get("everybody") !== "yes")
            throw new GatewayError("REQUEST_INVALID", "say that everybody may use this login", { hint: "" });
          return showWayOut(visit, server, await servers.begin(visit, id));
        }
        await servers.logOut(visit, id);
      }
    } catch (error) {
      return showServer(visit, server, expected(error));
    }
    redirect(visit.response, `${visit.base}${visit.path}`);
  }

  async function comeBack(visit: KnownVisit): Promise<void> {
    const { instance, problem } = await servers.finish(visit).catch((error: unknown) => {
      onDenied(visit, "callback");
      throw error;
    });
    const server = await servers.find(visit.user, instance);
    if (problem !== undefined && server !== undefined)
      return showServer({ ...visit, path: pathOf(instance) }, server, problem);
    redirect(visit.response, `${visit.base}${pathOf(instance)}`);
  }

  return async (visit) => {
    const { request, response, base, path } = visit;
    if (!isKnown(visit)) {
      // An answer without the session in which its login began belongs to no one.
      if (path === callbackPath) throw new GatewayError("FORBIDDEN", "no one is logged in in this browser");
      return redirect(response, `${base}/auth/login?next=${encodeURIComponent(path)}`);
    }
    if (path === callbackPath) return await comeBack(visit);
    const server = await find(visit);
    if (request.method === "POST") await answer(visit, server);
    else showServer(visit, server);
  };
}

/** The page of an instance, below the gateway's address. */
export function pathOf(instance: string): string {
  return `${connectPath}${encodeURIComponent(instance)}`;
}

function idOf(path: string): string {
  try {
    return decodeURIComponent(path.slice(connectPath.length));
  } catch {
    return "";
  }
}

function requireLogin({ mayLogIn }: ConnectableServer): void {
  if (!mayLogIn) throw new GatewayError("FORBIDDEN", "only an admin logs in for everybody", { hint: "" });
}

/** What somebody gives, they give for the address that their page showed. */
function toAddressField({ address }: ConnectableServer): Html {
  return html`<input type="hidden" name="address" value="${address ?? ""}" />`;
}

function requireSeenAddress({ address }: ConnectableServer, seen: string | null | undefined): void {
  if (seen === (address ?? "")) return;
  throw new GatewayError("REVISION_MISMATCH", "the server leads to another address now", {
    hint: "Look where it leads, and give the value again if you agree.",
  });
}

function toAbout({ slug, team, address, isShared, status, reason }: ConnectableServer): Html {
  // Missing values are asked for in the fields below: the reason tells apps how to give them, and that it is done here.
  const why = reason === "" || status === "awaiting_user_config" ? "" : `, ${reason}`;
  const kind = address === null ? html`a program on the gateway's machine` : html`<code>${address}</code>`;
  return html`<p>The server <strong>${slug}</strong> of the team <strong>${team}</strong>: ${kind}.</p>
    <p>
      ${isShared ? "It is shared: everybody in the team uses the same one." : "It runs for you alone."} Status:
      <strong>${statusName(status)}</strong>${why}
    </p>`;
}

function toLogin(visit: KnownVisit, form: OpenForm, server: ConnectableServer): Html {
  const { takesLogin, hasLogin, mayLogIn, isShared } = server;
  if (!takesLogin) return nothing;
  const whose = isShared ? "Somebody is logged in for everybody." : "You are logged in.";
  const standing = hasLogin ? html`<p>${whose}</p>` : html`<p>Nobody is logged in.</p>`;
  if (!mayLogIn)
    return toSection(
      html`${standing}
        <p>An admin of the team logs in for everybody.</p>`,
      "Login",
    );
  const consent = isShared
    ? html`<p>
        <label class="line"
          ><input type="checkbox" name="everybody" value="yes" required /> Everybody who uses this server acts with my
          account there</label
        >
      </p>`
    : nothing;
  const again = hasLogin ? "Log in again" : "Log in";
  const end = hasLogin ? toForm(visit, form, "logout", html`<button>Log out</button>`) : nothing;
  const begin = toForm(visit, form, "login", html`${consent}<button class="main">${again}</button>`);
  return toSection(html`${standing}${begin}${end}`, "Login");
}

function toForm(visit: KnownVisit, form: OpenForm, task: string, inside: Html): Html {
  return html`<form method="post" action="${prefixed(visit, visit.path)}">
    ${form.field}<input type="hidden" name="task" value="${task}" />${inside}
  </form>`;
}

/** As the dashboard says it, where its own words are no sentence. */
export function statusName(status: string): string {
  return status === "awaiting_user_config" ? "needs values" : status.replaceAll("_", " ");
}

/** Fields that a page can show: lists of arguments are given over REST. */
function isSimple({ path, editable }: FieldView): boolean {
  return editable && path !== "args";
}

/** What somebody gives of their own for a server. Secrets are written, and never shown. */
function toFieldForm(fields: readonly FieldView[], toForm: (inside: Html) => Html): Html {
  const shown = fields.filter(isSimple);
  if (shown.length === 0) return nothing;
  const rows = shown.map((field, at) => toRow(field, `field-${at}`));
  return toSection(toForm(html`${rows}<button class="main">Save</button>`), "What is your own");
}

function toRow(field: FieldView, id: string): Html {
  const { path, description, required, set } = field;
  const needs = required && !set ? " (required)" : "";
  const hint = description === null ? nothing : html`<p class="muted" id="${id}-hint">${description}</p>`;
  const described = description === null ? "" : ` aria-describedby="${id}-hint"`;
  return html`<label for="${id}">${path}${needs}</label
    >${hint}${toInput(field, { id, described: { html: described } })}`;
}

function toInput(field: FieldView, { id, described }: { readonly id: string; readonly described: Html }): Html {
  const { path, type, choices, set, required } = field;
  const value = typeof field.value === "string" ? field.value : "";
  const needed: Html = { html: required && !set ? " required" : "" };
  if (type === "secret")
    return html`<input id="${id}" name="v:${path}" type="password" autocomplete="off" ${needed}${described} />
      ${set ? toRemoval(path, id) : nothing}`;
  const allowed = type === "boolean" ? ["true", "false"] : choices;
  if (allowed === null)
    return html`<input
      id="${id}"
      name="v:${path}"
      value="${value}"
      autocomplete="off"
      ${needed}${described}${{ html: type === "number" ? ' inputmode="decimal"' : "" }}
    />`;
  const options = ["", ...allowed].map(
    (one) => html`<option value="${one}" ${{ html: one === value ? "selected" : "" }}>${one}</option>`,
  );
  return html`<select id="${id}" name="v:${path}" ${needed}${described}>
    ${options}
  </select>`;
}

/** An empty field leaves a secret as it is: it cannot be shown, and so not be sent again. */
function toRemoval(path: string, id: string): Html {
  return html`<p class="muted">It is set; empty leaves it as it is.</p>
    <label class="line" for="${id}-off"
      ><input id="${id}-off" type="checkbox" name="off:${path}" value="yes" /> Remove it</label
    >`;
}

/** The changes that a form makes to these fields: only those that differ, null for a removed one. */
function readFields(fields: readonly FieldView[], form: URLSearchParams): Readonly<Record<string, string | null>> {
  const given = fields.filter(isSimple).flatMap((field): readonly (readonly [string, string | null])[] => {
    const { path, type, set } = field;
    const text = form.get(`v:${path}`) ?? "";
    if (text !== "") return text === field.value ? [] : [[path, text]];
    const isTakenAway = type === "secret" ? form.get(`off:${path}`) === "yes" : set && form.has(`v:${path}`);
    return isTakenAway ? [[path, null]] : [];
  });
  return Object.fromEntries(given);
}
