import type { InstanceId } from "../../kernel/ids.ts";
import { createSharedLists } from "./shared-lists.ts";
import type { InstanceCatalog } from "./snapshot.ts";

/**
 * What every instance offers now. Made by `app`; instances write it, and readers keep the snapshot that they were
 * given.
 */
export interface CurrentCatalog {
  get(instance: InstanceId): InstanceCatalog | undefined;
  put(part: InstanceCatalog): void;
  remove(instance: InstanceId): void;
}

/** Begins with an empty catalog. */
export function createCurrentCatalog(): CurrentCatalog {
  const parts = new Map<InstanceId, InstanceCatalog>();
  const lists = createSharedLists();

  function remove(instance: InstanceId): void {
    const before = parts.get(instance);
    if (before === undefined) return;
    parts.delete(instance);
    lists.release(before);
  }

  return {
    get: (instance) => parts.get(instance),
    put(part) {
      // A list that is there already must not be dropped between the two.
      const shared = lists.share(part);
      remove(part.instance);
      parts.set(part.instance, shared);
    },
    remove,
  };
}
