import type { KeptSearches } from "../catalog/discovery/kept-searches.ts";
import type { Clock } from "../kernel/clock.ts";
import type { GatewayStore } from "../store/store.ts";

/** Searches that people keep as tests, read when somebody first asks for them. */
export function openKeptSearches(store: Pick<GatewayStore, "keptSearches">, clock: Clock): () => Promise<KeptSearches> {
  let opening: Promise<KeptSearches> | undefined;
  async function open(): Promise<KeptSearches> {
    const { createKeptSearches } = await import("../catalog/discovery/kept-searches.ts");
    return createKeptSearches({ store: await store.keptSearches(), clock });
  }
  return async () => {
    opening ??= open();
    try {
      return await opening;
    } catch (error) {
      // Code that could not be loaded is tried again.
      opening = undefined;
      throw error;
    }
  };
}
