import type { SecretRow, SecretUse } from "../../store/install-rows.ts";
import type { InstallIndex } from "./install-index.ts";
import type { Vault } from "./vault.ts";

export interface SecretUsageDeps {
  readonly vault: Pick<Vault, "open">;
  readonly book: Pick<InstallIndex, "noteUse">;
  readonly now: () => number;
}

const hourMs = 3_600_000;

/** Which secrets are in servers now, and when each of them last was put into one. */
export function createSecretUsage({ vault, book, now }: SecretUsageDeps) {
  const uses = new Map<string, SecretUse>();
  const texts = new Map<string, readonly string[]>();
  let all: ReadonlySet<string> | undefined = new Set();
  return {
    open(row: SecretRow): string {
      const text = vault.open(row);
      const usedAtMs = now() - (now() % hourMs);
      if (row.usedAtMs !== usedAtMs) {
        book.noteUse(row.id, usedAtMs);
        uses.set(row.id, { id: row.id, usedAtMs });
      }
      return text;
    },
    note(key: string, secrets: readonly string[]): void {
      const before = texts.get(key);
      if (before?.length === secrets.length && before.every((text, at) => text === secrets[at])) return;
      // Those of before may still be in a process that is just stopping: they stay until its installation is removed.
      texts.set(key, [...new Set([...(before ?? []).slice(-mostKept), ...secrets])]);
      all = undefined;
    },
    forget(installationId: string): void {
      for (const key of texts.keys()) if (key.startsWith(`${installationId}\0`)) texts.delete(key);
    },
    secrets: (): ReadonlySet<string> => (all ??= new Set([...texts.values()].flat())),
    take(): readonly SecretUse[] {
      const taken = [...uses.values()];
      uses.clear();
      return taken;
    },
  };
}

/** Earlier values of one instance: a person who changes them more often within its stop tries something out. */
const mostKept = 20;
