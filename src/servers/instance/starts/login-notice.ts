import type { InstanceId } from "../../../kernel/ids.ts";

/**
 * Identifies the login that is kept for an instance. It changes with every `toolyard login`, but not when a token is
 * refreshed; undefined when there is no login. Never rejects.
 */
export type LoginOf = (instance: InstanceId) => Promise<string | undefined>;

/**
 * Notices that somebody has logged in since the last start. `toolyard login` runs in a process of its own, and a
 * login that was refused must not be tried twice.
 */
export interface LoginNotice {
  /** Call before each start, so that the login used for it is known. */
  noteUsed(): Promise<void>;
  /** Whether the login that is kept now is another one than was used last. */
  isNew(): Promise<boolean>;
}

/** Notices new logins of one instance; none, if `loginOf` is undefined. */
export function createLoginNotice(instance: InstanceId, loginOf: LoginOf | undefined): LoginNotice {
  let used: string | undefined;
  return {
    async noteUsed() {
      used = await loginOf?.(instance);
    },
    async isNew() {
      const kept = await loginOf?.(instance);
      return kept !== undefined && kept !== used;
    },
  };
}
