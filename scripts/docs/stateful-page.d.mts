import type { StatefulGroup } from "../../src/config/entry/stateful-servers.ts";

/** The page docs/stateful-servers.md. `idleTimeouts` in ms: of servers in general, and of those that hold state. */
export function statefulPage(
  tables: { readonly groups: readonly StatefulGroup[]; readonly fileGroups: readonly StatefulGroup[] },
  idleTimeouts: { readonly idleTimeoutMs: number; readonly statefulIdleTimeoutMs: number },
): string;
