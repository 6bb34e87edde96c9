import type { InstanceId } from "../../kernel/ids.ts";
import { emptyCatalog, withInstance, withoutInstance, type Catalog, type InstanceCatalog } from "./snapshot.ts";

/** Holds the one reference to the current snapshot. Created by `app`; everybody else reads it. */
export interface CurrentCatalog {
  get(): Catalog;
  put(own: InstanceCatalog): void;
  remove(instance: InstanceId): void;
}

/** Begins with an empty catalog. */
export function createCurrentCatalog(): CurrentCatalog {
  let catalog = emptyCatalog;
  return {
    get: () => catalog,
    put(own) {
      catalog = withInstance(catalog, own);
    },
    remove(instance) {
      catalog = withoutInstance(catalog, instance);
    },
  };
}
