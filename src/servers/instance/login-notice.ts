import type { InstanceId } from "../../kernel/ids.ts";

/**
 * Which login of an instance is kept: changes with every `toolyard login`, not with a refresh; undefined when there
 * is none. Never rejects.
 */
export type LoginOf = (instance: InstanceId) => Promise<string | undefined>;

/**
 * Notices that somebody logged in since the last try: `toolyard login` runs in a process of its own, and a refused
 * login must not be tried twice.
 */
export interface LoginNotice {
  /** To be called before each try. */
  noteUsed(): Promise<void>;
  isNew(): Promise<boolean>;
}

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
