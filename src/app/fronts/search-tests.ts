import type { KeptSearches } from "../../catalog/discovery/kept-searches.ts";
import type { Clock } from "../../kernel/runtime/clock.ts";
import { openOnce } from "../../kernel/runtime/late-module.ts";
import type { Principal } from "../../kernel/principal.ts";
import type { GatewayStore } from "../../store/store.ts";
import type { Records } from "../records/records-wing.ts";

/** Where the searches are that somebody keeps as tests. */
export type KeptSearchesOf = (principal: Pick<Principal, "user">) => Promise<KeptSearches>;

export interface SearchTestsDeps {
  readonly store: Pick<GatewayStore, "keptSearches">;
  readonly records: Pick<Records, "opened">;
  readonly clock: Clock;
}

/**
 * Searches that people keep as tests, opened when somebody first asks for them. Those of users stand in the database
 * with the users, for all gateways that share it; those of the owner and of people of the configuration in a file.
 */
export function openKeptSearches({ store, records, clock }: SearchTestsDeps): KeptSearchesOf {
  const load = async () => await import("../../catalog/discovery/kept-searches.ts");
  const ofUsers = openOnce(async () => {
    const [{ createMemberSearches }, { keptSearches }] = [await load(), await records.opened()];
    return createMemberSearches(keptSearches, clock);
  });
  const ofOthers = openOnce(async () => {
    const { createKeptSearches } = await load();
    return createKeptSearches({ store: await store.keptSearches(), clock });
  });
  return async ({ user }) => await (user === null ? ofOthers() : ofUsers());
}
