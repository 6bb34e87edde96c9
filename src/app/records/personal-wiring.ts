import type { Profiles } from "../../engine/policy/profiles.ts";
import { createPins, type Pins, type PinStore } from "../../catalog/discovery/pins.ts";
import type { Config } from "../../config/config.ts";
import type { Clock } from "../../kernel/runtime/clock.ts";
import type { Log } from "../../kernel/runtime/log.ts";
import { readMostUsed } from "../../records/usage/most-used.ts";
import type { Usage } from "../../records/usage/usage-log.ts";
import type { SharedItems } from "../../store/shared.ts";
import type { GatewayStore } from "../../store/store.ts";
import type { Records } from "./records-wing.ts";
import type { KeptSearches } from "../../catalog/discovery/kept-searches.ts";
import { openOnce } from "../../kernel/runtime/late-module.ts";
import type { Principal } from "../../kernel/principal.ts";

export interface PinWiringDeps {
  readonly config: () => Config;
  readonly profiles: Pick<Profiles, "rulesOf">;
  readonly store: Pick<GatewayStore, "pins">;
  readonly records: Pick<Records, "opened">;
  readonly usage: Pick<Usage, "read">;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Pinned tools, with what people chose. Choices of users stand in the database with the users, for all gateways that
 * share it; those of the owner and of people of the configuration in a file.
 */
export function wirePins({ config, profiles, store, records, usage, clock, log }: PinWiringDeps): Pins {
  return createPins({
    ofProfile: (principal) => profiles.rulesOf(principal)?.pin,
    configured: () => config().settings.pin,
    storeFor: async ({ user }): Promise<PinStore> => (user === null ? store.pins : (await records.opened()).pins),
    mostUsed: async ({ id }, most) => await readMostUsed(usage, { person: id, most, nowMs: clock.now() }),
    clock,
    onFailure: (error) =>
      log.warn({ component: "catalog", operation: "pins", err: error }, "a person's pinned tools cannot be read"),
  });
}

/**
 * Where calls that wait for a yes are kept, and remembered yeses: in a database that gateways share with the people in
 * it, otherwise in a file.
 */
export function approvalStoreOf(
  { config, records }: Pick<PinWiringDeps, "config" | "records">,
  kept: Pick<GatewayStore, "approvals">,
): GatewayStore["approvals"] {
  return async () =>
    config().settings.database === undefined ? await kept.approvals() : (await records.opened()).approvals;
}

/** What gateways of one database share, once that is open; undefined where a gateway is alone. */
export function sharedItemsOf(
  { config }: Pick<PinWiringDeps, "config">,
  records: () => Pick<Records, "opened">,
): (() => Promise<SharedItems>) | undefined {
  const { database, records: keeping } = config().settings;
  if (database === undefined || keeping.store === "off") return undefined;
  return async () => (await records().opened()).shared;
}

/** Where the searches are that somebody keeps as tests. */
type KeptSearchesOf = (principal: Pick<Principal, "user">) => Promise<KeptSearches>;

/**
 * Searches that people keep as tests, opened when somebody first asks for them. Those of users stand in the database
 * with the users, for all gateways that share it; those of the owner and of people of the configuration in a file.
 */
export function openKeptSearches(
  { records, clock }: Pick<PinWiringDeps, "records" | "clock">,
  store: Pick<GatewayStore, "keptSearches">,
): KeptSearchesOf {
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
