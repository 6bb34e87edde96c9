import { readStartTime } from "../../servers/process/process-table.ts";
import { fileBackend } from "./file-store.ts";
import type { Store, StoreBackend, StoreOptions } from "../store.ts";

/** The backend that stores everything. Each backend is a folder of `store/`, and is chosen here. */
export const storeBackend: StoreBackend = fileBackend;

/** Opens the store of a data directory, for gateways and commands alike. */
export function openStore(options: Omit<StoreOptions, "startTimeOf">): Store {
  return storeBackend.open({ ...options, startTimeOf: readStartTime });
}
