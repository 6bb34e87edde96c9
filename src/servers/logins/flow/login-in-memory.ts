import type { Log } from "../../../kernel/runtime/log.ts";
import type { Clock } from "../../../kernel/runtime/clock.ts";
import { toGatewayError } from "../../../kernel/failures/gateway-error.ts";
import {
  parseCredential,
  serializeCredential,
  type Credential,
  type CredentialStore,
  type KeptCredential,
} from "../credential.ts";

/** One instance's login as it was read last, and the header that is made of it. */
export interface LoginInMemory {
  readonly credential: Credential | undefined;
  readonly header: Readonly<Record<string, string>> | undefined;
  /** Why the kept login cannot be used. */
  readonly problem: string | undefined;
  /** Monotonic ms of the last look at the kept login. */
  readonly checkedMs: number;
  /** Reads it again where it is another than before. */
  reload(): Promise<void>;
  /** Writes it, and uses it even where it cannot be written. */
  keep(next: Credential): Promise<void>;
}

export interface LoginInMemoryDeps {
  readonly store: CredentialStore;
  readonly clock: Clock;
  readonly log: Log;
  /** Told when somebody logged in or out while this gateway knew whether there was a login. */
  readonly onLogin?: ((instance: string, what: "login" | "logout") => void) | undefined;
  /** Gets every token that is used, before it is. */
  readonly remember: (secrets: readonly string[]) => void;
}

export function createLoginInMemory(instance: string, deps: LoginInMemoryDeps): LoginInMemory {
  const { store, clock, log } = deps;
  let credential: Credential | undefined;
  let header: Readonly<Record<string, string>> | undefined;
  let problem: string | undefined;
  let revision: string | undefined;
  /** Whether it has been looked for before. */
  let isKnown = false;
  let checkedMs = Number.NEGATIVE_INFINITY;

  function take(next: Credential | undefined): void {
    if (next !== undefined) {
      const { tokens, client } = next;
      deps.remember([tokens.access, tokens.refresh, client.secret].filter((secret) => secret !== undefined));
    }
    credential = next;
    header = next === undefined ? undefined : Object.freeze({ authorization: `Bearer ${next.tokens.access}` });
  }

  async function readKept(): Promise<KeptCredential> {
    try {
      return await store.read(instance);
    } catch (error) {
      return { kind: "unreadable", reason: toGatewayError(error).message };
    }
  }

  return {
    get credential() {
      return credential;
    },
    get header() {
      return header;
    },
    get problem() {
      return problem;
    },
    get checkedMs() {
      return checkedMs;
    },
    async reload() {
      checkedMs = clock.monotonic();
      const found = await store.revision(instance);
      if (found === revision) {
        isKnown = true;
        return;
      }
      const kept = await readKept();
      const next = kept.kind === "text" ? parseCredential(kept.text) : undefined;
      if (isKnown && next?.loginId !== credential?.loginId)
        deps.onLogin?.(instance, next === undefined ? "logout" : "login");
      isKnown = true;
      revision = found;
      problem = problemOf(kept, next);
      if (problem !== undefined)
        log.warn({ component: "oauth", instance }, `the login of ${instance} cannot be used: ${problem}`);
      take(next);
    },
    async keep(next) {
      try {
        await store.write(instance, serializeCredential(next));
        revision = await store.revision(instance);
      } catch (error) {
        // Used all the same: the old tokens are no longer valid, and no new login is needed as long as this process
        // lives.
        log.error({ component: "oauth", instance, err: error }, `the renewed login of ${instance} cannot be kept`);
      }
      take(next);
    },
  };
}

function problemOf(kept: KeptCredential, read: Credential | undefined): string | undefined {
  if (kept.kind === "unreadable") return kept.reason;
  return kept.kind === "text" && read === undefined ? "its file is of another version of toolyard" : undefined;
}
