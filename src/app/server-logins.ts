import { mkdirSync, watch, type FSWatcher } from "node:fs";
import { join } from "node:path";
import type { ServerConfig } from "../config/config.ts";
import type { Log } from "../kernel/log.ts";
import type { Logins } from "../servers/logins/logins.ts";
import type { LoginOf } from "../servers/instance/login-notice.ts";
import type { Clock } from "../kernel/clock.ts";
import type { LoadLate } from "../kernel/late-module.ts";
import type { HttpCredentials } from "../servers/upstream/connect.ts";

export interface GatewayLoginsDeps {
  readonly dataDir: string;
  /** `TOOLYARD_KEY`; without it a key file. */
  readonly vaultKey: string | undefined;
  readonly clock: Clock;
  readonly log: Log;
  readonly loadLate: LoadLate;
}

/** What people have logged in for, as the running gateway uses it. */
export interface GatewayLogins extends AsyncDisposable {
  authorizeFor(server: ServerConfig, instance: string): Promise<HttpCredentials["authorize"]>;
  readonly loginOf: LoginOf;
  /** What no log may show. */
  readonly secrets: () => ReadonlySet<string>;
  /** Calls back soon after somebody logged in or out, in whatever process. */
  watch(onChange: () => void): void;
}

/** Several changes of a moment are one: a file is written beside its lock and its temporary name. */
const settleMs = 100;
const none: ReadonlySet<string> = new Set();

/** Loaded when the first remote server is: a gateway of stdio servers needs none of it. */
export function createGatewayLogins(deps: GatewayLoginsDeps): GatewayLogins {
  let loading: Promise<Logins> | undefined;
  let loaded: Logins | undefined;
  let watcher: FSWatcher | undefined;
  let cancelSettling: (() => void) | undefined;
  let onChange: (() => void) | undefined;

  async function load(): Promise<Logins> {
    const [{ createLogins }, { createTokenVault }] = await deps.loadLate(
      "logins",
      async () => await Promise.all([import("../servers/logins/logins.ts"), import("../store/files/token-vault.ts")]),
    );
    loaded = createLogins({ ...deps, store: createTokenVault({ directory: deps.dataDir, secret: deps.vaultKey }) });
    watcher = openWatcher(join(deps.dataDir, "tokens"));
    return loaded;
  }

  /** Where watching does not work, a call and the gateway's regular look at its instances notice it too. */
  function openWatcher(folder: string): FSWatcher | undefined {
    try {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      const opened = watch(folder, { persistent: false }, (_event, name) => {
        if (name === null || !name.endsWith(".vault")) return;
        cancelSettling?.();
        cancelSettling = deps.clock.after(settleMs, () => onChange?.());
      });
      opened.on("error", () => opened.close());
      return opened;
    } catch {
      return undefined;
    }
  }

  const get = (): Promise<Logins> =>
    (loading ??= load().catch((error: unknown) => {
      loading = undefined;
      throw error;
    }));

  return {
    async authorizeFor(server, instance) {
      const { transport } = server;
      // Who configures a header has decided what the server gets.
      if (
        transport.kind === "stdio" ||
        Object.keys(transport.headers).some((name) => name.toLowerCase() === "authorization")
      )
        return undefined;
      return await (await get()).authorizeFor(instance, server.slug, transport.url);
    },
    // Asked also for remote servers that need no login: files that are gone are told when one of them is connected to.
    loginOf: async (instance) => {
      const logins = await get().catch(() => undefined);
      return await logins?.loginOf(instance);
    },
    secrets: () => loaded?.secrets ?? none,
    watch(callback) {
      onChange = callback;
    },
    async [Symbol.asyncDispose]() {
      watcher?.close();
      cancelSettling?.();
      await loaded?.[Symbol.asyncDispose]();
    },
  };
}
