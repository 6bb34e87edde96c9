import type { HttpTransport } from "../../config/config.ts";
import type { Log } from "../../kernel/runtime/log.ts";
import { addressRulesFor } from "../../servers/logins/protocol/addresses.ts";
import { parseCredential, serializeCredential } from "../../servers/logins/credential.ts";
import { logIn } from "../../servers/logins/login.ts";
import type { LoginOptions } from "../../servers/logins/login-flow.ts";
import type { LoginRoute } from "../../servers/logins/flow/login-route.ts";
import { createOutgoing } from "../../servers/logins/outgoing.ts";
import { revokeTokens } from "../../servers/logins/renew.ts";
import type { SecretStore } from "../../store/store.ts";

export interface MadeLogin {
  readonly transport: HttpTransport;
  readonly route: LoginRoute;
  readonly instance: string;
  readonly way: Pick<LoginOptions, "open" | "openCallback">;
  readonly store: SecretStore;
  /** Wall clock, ms. */
  readonly now: () => number;
}

/** Logs somebody in and keeps the login. Loaded with the first one: few gateways log in by themselves. */
export async function keepLogin(given: MadeLogin, signal: AbortSignal): Promise<void> {
  const { transport, route, instance, way, store, now } = given;
  const credential = await logIn(
    {
      ...{ serverUrl: transport.url, route, headers: transport.headers, now, ...way },
      ...{ scope: undefined, client: undefined, clientMetadataUrl: undefined },
    },
    signal,
  );
  // Waits for a renewal of the login before, which would otherwise be written over this one.
  await store.exclusively(instance, signal, async () => await store.write(instance, serializeCredential(credential)));
}

export interface EndedLogin {
  readonly instance: string;
  /** Undefined where the server is not reached over HTTP any more. */
  readonly route: LoginRoute | undefined;
  readonly store: SecretStore;
  readonly log: Log;
}

const revokeMs = 15_000;

/** Forgets a login, and revokes it where the authorization server takes that. Resolves to whether there was one. */
export async function endLogin({ instance, route, store, log }: EndedLogin): Promise<boolean> {
  const signal = AbortSignal.timeout(revokeMs);
  const { kept, wasThere } = await store.exclusively(instance, signal, async () => ({
    kept: await store.read(instance),
    wasThere: await store.remove(instance),
  }));
  const credential = kept.kind === "text" ? parseCredential(kept.text) : undefined;
  if (credential === undefined || route === undefined) return wasThere;
  try {
    const rules = await addressRulesFor(credential.serverUrl);
    await revokeTokens(credential, createOutgoing(rules, { serverUrl: credential.serverUrl, route }), signal);
  } catch (error) {
    log.warn({ component: "oauth", instance, err: error }, "the authorization server was not told of a logout");
  }
  return wasThere;
}
