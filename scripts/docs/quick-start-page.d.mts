import type { ClientRow } from "../../src/config/clients/table/client-row.ts";
import type { toOwnEntry } from "../../src/config/clients/connect/own-entry.ts";
export function quickStartPage(clients: readonly ClientRow[], toEntry: typeof toOwnEntry): string;
