import type { ClientRow } from "../../src/config/clients/client-row.ts";
import type { toOwnEntry } from "../../src/config/clients/own-entry.ts";
export function quickStartPage(clients: readonly ClientRow[], toEntry: typeof toOwnEntry): string;
