import type { LibraryContext } from "../../../people/authorization-server/oauth/library.ts";
import { oauthPaths, type DevicePages } from "../../../people/authorization-server/oauth/provider.ts";
import { shorten } from "./consent-page.ts";
import { html, nothing, pageHeaders, toDocument, type Html } from "./page.ts";
import { findPerson, type PersonLookup } from "../visit.ts";

/** Pages for apps on devices without a browser, and of what the authorization server refuses. */
export function createDevicePages(people: PersonLookup): DevicePages {
  function write(context: LibraryContext, title: string, body: Html): void {
    const path = oauthPaths.code_verification;
    const base = context.oidc.urlFor("code_verification").slice(0, -path.length);
    context.set(pageHeaders({}));
    context.body = toDocument({ base, path, user: findPerson(context.req, base, people).user }, { title, body });
  }

  return {
    askCode(context, xsrf, { problem, code = "" }) {
      write(
        context,
        "Connect a device",
        html`${problem === undefined ? nothing : html`<p role="alert">${problem}</p>`}
          <form method="post" action="${pathOf(context)}">
            <input type="hidden" name="xsrf" value="${xsrf}" />
            <label for="user_code">The code that the app shows</label>
            <input
              id="user_code"
              name="user_code"
              value="${code}"
              autocomplete="off"
              autocapitalize="characters"
              required
              autofocus
            />
            <button class="main">Go on</button>
          </form>`,
      );
    },
    confirm(context, xsrf, { client, code }) {
      write(
        context,
        "Connect a device",
        html`<p><strong>${shorten(client.clientName ?? client.clientId)}</strong> shows this code on your device:</p>
          <p><code>${code}</code></p>
          <p class="warning">Go on only if you have just started it there yourself, and the code is the same.</p>
          <form method="post" action="${pathOf(context)}">
            <input type="hidden" name="xsrf" value="${xsrf}" />
            <input type="hidden" name="user_code" value="${code}" /><input type="hidden" name="confirm" value="yes" />
            <button class="main">It is the same</button><button name="abort" value="yes">Stop</button>
          </form>`,
      );
    },
    done: (context) => write(context, "Connected", html`<p>The app is connected. You can close this page.</p>`),
    failed(context, { error, error_description: why }) {
      write(
        context,
        "This does not work",
        html`<p role="alert">The app asked for something that cannot be given.</p>
          <p>
            Start again in the app. If that does not help, its makers want to know this:
            <code>${error}${why === undefined ? "" : `: ${why}`}</code>
          </p>`,
      );
    },
  };
}

function pathOf(context: LibraryContext): string {
  return new URL(context.oidc.urlFor("code_verification")).pathname;
}
