import type { HttpTransport, ServerConfig } from "../../config/config.ts";
import { createLoginRoute } from "../../servers/logins/http-route.ts";
import type { Clock } from "../../kernel/runtime/clock.ts";
import type { Log } from "../../kernel/runtime/log.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import type { LoginOptions } from "../../servers/logins/login-flow.ts";
import type { Logins } from "../../servers/logins/logins.ts";
import type { LoginOf } from "../../servers/instance/starts/login-notice.ts";
import { openOnce, type LoadLate } from "../../kernel/runtime/late-module.ts";
import type { HttpCredentials } from "../../servers/upstream/connect.ts";
import type { SecretStore } from "../../store/store.ts";
import { canLogIn } from "../../config/entry/transports.ts";

export interface GatewayLoginsDeps {
  readonly openStore: () => Promise<SecretStore>;
  readonly clock: Clock;
  readonly log: Log;
  readonly loadLate: LoadLate;
  /** Told of logins and logouts, and of logins that a server is about to be sent. */
  readonly onLogin?: ((instance: string, what: "login" | "logout" | "use") => void) | undefined;
  /** May name proxies. */
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** The stored logins of people at servers, as the running gateway uses them. */
export interface GatewayLogins extends AsyncDisposable {
  authorizeFor(server: ServerConfig, instance: string): Promise<HttpCredentials["authorize"]>;
  readonly loginOf: LoginOf;
  /**
   * Logs somebody in at the server of an instance, through a browser. Resolves when the login is kept and in use.
   * Rejects with LOGIN_FAILED, or the signal's reason.
   */
  logIn(server: ServerConfig, instance: string, way: LoginWay, signal: AbortSignal): Promise<void>;
  /** Forgets the login of an instance, and tells the authorization server. Resolves to whether there was one. */
  logOut(server: ServerConfig, instance: string): Promise<boolean>;
  /** Texts that no log may show. */
  readonly secrets: () => ReadonlySet<string>;
  /** The instance whose login a token is of. */
  holderOf(token: string): string | undefined;
  /** Removes the logins of these instances, and the data about them. */
  forget(instances: readonly string[]): Promise<void>;
  /** Calls back soon after somebody logged in or out, in any process. */
  watch(onChange: () => void): void;
}

/** How the person comes to the authorization server, and back. */
export type LoginWay = Pick<LoginOptions, "open" | "openCallback">;

const none: ReadonlySet<string> = new Set();

/** Loaded with the first remote server, because a gateway of stdio servers needs none of it. */
export function createGatewayLogins(deps: GatewayLoginsDeps): GatewayLogins {
  let loaded: Logins | undefined;
  let kept: SecretStore | undefined;
  let endWatching: (() => void) | undefined;
  let onChange: (() => void) | undefined;

  async function load(): Promise<Logins> {
    const [{ createLogins }, store] = await deps.loadLate(
      "the use of logins",
      async () => await Promise.all([import("../../servers/logins/logins.ts"), deps.openStore()]),
    );
    kept = store;
    loaded = createLogins({ ...deps, store });
    // Where watching does not work, calls and the gateway's periodic checks of its instances notice a login, too.
    endWatching = store.watch(() => {
      onChange?.();
      // What cannot be read now is looked at again by the next call.
      void loaded?.recheck().catch(() => undefined);
    });
    return loaded;
  }

  const get = openOnce(load);

  return {
    async authorizeFor(server, instance) {
      const { transport } = server;
      if (!takesLogin(transport)) return undefined;
      const route = createLoginRoute(server.slug, transport, deps);
      const authorize = await (
        await get()
      ).authorizeFor(instance, {
        server: server.slug,
        url: loginAddressOf(transport),
        route,
      });
      if (authorize !== undefined) deps.onLogin?.(instance, "use");
      return authorize;
    },
    // Also called for remote servers that need no login, so that missing files are noticed as soon as one of these is
    // connected.
    loginOf: async (instance) => {
      const logins = await get().catch(() => undefined);
      return await logins?.loginOf(instance);
    },
    async logIn(server, instance, way, signal) {
      const { transport } = server;
      if (!takesLogin(transport)) throw new GatewayError("LOGIN_FAILED", `${server.slug} takes no login`);
      await get();
      const { keepLogin } = await loadMaking(deps);
      const route = createLoginRoute(server.slug, transport, deps);
      await keepLogin({ transport, route, instance, way, store: kept as SecretStore, now: deps.clock.now }, signal);
      await loaded?.recheck();
      onChange?.();
    },
    async logOut(server, instance) {
      await get();
      const { endLogin } = await loadMaking(deps);
      const { transport } = server;
      const route = canLogIn(transport) ? createLoginRoute(server.slug, transport, deps) : undefined;
      const wasThere = await endLogin({ instance, route, store: kept as SecretStore, log: deps.log });
      if (wasThere) deps.onLogin?.(instance, "logout");
      await loaded?.recheck();
      onChange?.();
      return wasThere;
    },
    async forget(instances) {
      await get();
      const removed = await Promise.all(instances.map(async (instance) => (await kept?.remove(instance)) === true));
      for (const [at, wasThere] of removed.entries()) if (wasThere) deps.onLogin?.(instances[at] ?? "", "logout");
      await loaded?.recheck();
    },
    secrets: () => loaded?.secrets ?? none,
    holderOf: (token) => loaded?.holderOf(token),
    watch(callback) {
      onChange = callback;
    },
    async [Symbol.asyncDispose]() {
      endWatching?.();
      await loaded?.[Symbol.asyncDispose]();
    },
  };
}

async function loadMaking({ loadLate }: GatewayLoginsDeps) {
  return await loadLate("the making of logins", async () => await import("./gateway-logins.ts"));
}

/** A login is made at the first address of a server, and counts for every one of that origin. */
function loginAddressOf({ url, urls }: HttpTransport): string {
  const [first = url] = urls ?? [];
  return new URL(first).origin === new URL(url).origin ? first : url;
}

/** An Authorization header in the configuration takes precedence over a login. */
export function takesLogin(transport: ServerConfig["transport"]): transport is HttpTransport {
  return canLogIn(transport) && !Object.keys(transport.headers).some((name) => name.toLowerCase() === "authorization");
}
