import type { ClientRow } from "../../src/config/clients/client-row.ts";

export function connectionsTable(clients: readonly ClientRow[]): string;
