import type { ClientRow } from "../../src/config/clients/client-row.ts";

export function clientFilesTable(clients: readonly ClientRow[]): string;
