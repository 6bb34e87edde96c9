import { readStartTime } from "../servers/process/process-table.ts";
import { fileBackend } from "../store/files/file-store.ts";
import type { Store, StoreBackend, StoreOptions } from "../store/store.ts";

/** Where everything is kept. Another backend is another folder of `store/`, and is chosen here. */
export const storeBackend: StoreBackend = fileBackend;

/** What is kept in a data directory, for gateways and commands alike. */
export function openStore(options: Omit<StoreOptions, "startTimeOf">): Store {
  return storeBackend.open({ ...options, startTimeOf: readStartTime });
}
