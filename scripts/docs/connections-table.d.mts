import type { ClientRow } from "../../src/config/clients/table/client-row.ts";

export function connectionsTable(clients: readonly ClientRow[]): string;
