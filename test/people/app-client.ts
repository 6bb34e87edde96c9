import { createHash, randomBytes } from "node:crypto";
import type { PageBrowser } from "./page-browser.ts";

/** The tokens that an app was given. */
export interface AppTokens {
  readonly access_token: string;
  readonly refresh_token: string;
  readonly expires_in: number;
  readonly scope: string;
}

export const callbackUrl = "http://127.0.0.1:5999/callback";

/** POST of a form, answered with JSON. */
// oxlint-disable-next-line typescript/no-explicit-any -- tests look into whatever came back
export async function postForm(
  url: string,
  fields: Readonly<Record<string, string>>,
): Promise<{ status: number; json: any }> {
  const answer = await fetch(url, { method: "POST", body: new URLSearchParams(fields) });
  const text = await answer.text();
  return { status: answer.status, json: text === "" ? undefined : JSON.parse(text) };
}

export async function register(
  gateway: string,
  metadata: object,
): Promise<{ status: number; json: { client_id: string; [name: string]: unknown } }> {
  const answer = await fetch(`${gateway}/oauth/register`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(metadata),
  });
  return { status: answer.status, json: (await answer.json()) as { client_id: string } };
}

/** An authorization that a browser can open, and what is needed to use its code. */
export interface AuthorizationStart {
  readonly url: string;
  readonly verifier: string;
  readonly state: string;
}

export function authorize(
  gateway: string,
  clientId: string,
  more: Readonly<Record<string, string>> = {},
): AuthorizationStart {
  const [verifier, state] = [randomBytes(32).toString("base64url"), randomBytes(16).toString("base64url")];
  const query = new URLSearchParams({
    client_id: clientId,
    response_type: "code",
    redirect_uri: callbackUrl,
    code_challenge: createHash("sha256").update(verifier).digest("base64url"),
    code_challenge_method: "S256",
    state,
    ...more,
  });
  return { url: `${gateway}/oauth/authorize?${query.toString()}`, verifier, state };
}

/** Consents where the browser is logged in. Resolves to the address at which the app is then called back. */
export async function consent(
  browser: PageBrowser,
  start: AuthorizationStart,
  fields: Readonly<Record<string, string>> = {},
): Promise<URL> {
  const page = await browser.open(start.url);
  const end = await browser.submit(page, { answer: "allow", ...fields }, 'name="answer"');
  return new URL(end.url);
}

/** The whole way of an app to its tokens, in a browser that is logged in. */
export async function connectApp(
  gateway: string,
  browser: PageBrowser,
  more: Readonly<Record<string, string>> = {},
): Promise<AppTokens & { readonly clientId: string }> {
  const { json } = await register(gateway, { client_name: "Test app", redirect_uris: [callbackUrl] });
  const start = authorize(gateway, json.client_id, more);
  const callback = await consent(browser, start);
  const code = callback.searchParams.get("code");
  if (code === null) throw new Error(`no code came back: ${callback.href}`);
  const answer = await redeem(gateway, json.client_id, { code, verifier: start.verifier });
  if (answer.status !== 200) throw new Error(JSON.stringify(answer.json));
  return { ...(answer.json as AppTokens), clientId: json.client_id };
}

export async function redeem(
  gateway: string,
  clientId: string,
  { code, verifier, ...more }: { readonly code: string; readonly verifier: string; readonly redirect_uri?: string },
) {
  return await postForm(`${gateway}/oauth/token`, {
    grant_type: "authorization_code",
    client_id: clientId,
    redirect_uri: callbackUrl,
    code,
    code_verifier: verifier,
    ...more,
  });
}

export async function refresh(gateway: string, clientId: string, refreshToken: string) {
  return await postForm(`${gateway}/oauth/token`, {
    grant_type: "refresh_token",
    client_id: clientId,
    refresh_token: refreshToken,
  });
}
