import { openCallback } from "../../src/servers/logins/flow/callback.ts";
import type { Credential } from "../../src/servers/logins/credential.ts";
import { logIn } from "../../src/servers/logins/login.ts";
import type { LoginOptions } from "../../src/servers/logins/login-flow.ts";
import { startOddServer, type OddAnswers, type OddServer } from "./odd-server.ts";

/** A whole login, with a browser that follows the redirects at once. */
export async function logInAt(server: OddServer, more: Partial<LoginOptions> = {}): Promise<Credential> {
  const usual: LoginOptions = {
    serverUrl: server.url,
    route: async () => await Promise.resolve(undefined),
    headers: {},
    scope: undefined,
    client: undefined,
    clientMetadataUrl: undefined,
    openCallback: async () => await openCallback(0),
    open: (url) => void browse(url),
    now: () => 0,
  };
  return await logIn({ ...usual, ...more }, new AbortController().signal);
}

/** As a browser in which everybody is logged in everywhere. */
export async function browse(url: string): Promise<void> {
  const { headers } = await fetch(url, { redirect: "manual" });
  await (await fetch(headers.get("location") ?? "")).text();
}

/** As {@link logInAt}, at a server of its own. */
export async function logInWith(answers: OddAnswers, more: Partial<LoginOptions> = {}): Promise<Credential> {
  await using server = await startOddServer(answers);
  return await logInAt(server, more);
}
