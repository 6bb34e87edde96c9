import type { ClientRow } from "../../src/config/clients/table/client-row.ts";

export function clientFilesTable(clients: readonly ClientRow[]): string;
