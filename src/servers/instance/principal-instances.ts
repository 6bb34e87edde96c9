import type { ServerConfig } from "../../config/config.ts";
import type { PrincipalId } from "../../kernel/ids.ts";
import type { Principal } from "../../kernel/principal.ts";
import { createAdoptions } from "./adoptions.ts";
import type { Instance } from "./instance.ts";
import { sharedId, type Membership } from "./membership.ts";
import { wantedFor, type Owners } from "./wanted.ts";

/** The instances of each principal: the shared ones, and the principal's own, which are made at the first request. */
export interface PrincipalInstances {
  of(principal: Principal): readonly Instance[];
  /**
   * Settles when the kept catalogs of the principal's own instances have been loaded; undefined when there is nothing
   * to wait for.
   */
  adopting(principal: Principal): Promise<void> | undefined;
  /** Hashes of the tokens that the owner of a personal instance had when `noteCredentials` was last called. */
  credentialsBefore(owner: PrincipalId | null): readonly string[];
  /** Reads the tokens of all owners again, and forgets owners who no longer exist. */
  noteCredentials(): void;
  /** There are others now: of this person's, or for everybody (null). */
  forget(owner: PrincipalId | null): void;
}

/** `servers` returns the servers of the current configuration. */
export function createPrincipalInstances(
  members: Pick<Membership, "instances" | "add">,
  servers: () => readonly ServerConfig[],
  people: Owners,
): PrincipalInstances {
  const credentials = new Map<PrincipalId, readonly string[]>();
  const known = new Map<string, readonly Instance[]>();
  const adoptions = createAdoptions();

  function of(principal: Principal): readonly Instance[] {
    const before = known.get(principal.id);
    if (before !== undefined) return before;
    const own = servers().flatMap((server) =>
      server.scope === "shared" ? (members.instances.get(sharedId(server)) ?? []) : ownInstance(principal, server),
    );
    known.set(principal.id, own);
    return own;
  }

  function ownInstance(principal: Principal, template: ServerConfig): readonly Instance[] {
    const wanted = wantedFor({ owner: principal.id, server: template, id: undefined }, servers(), people);
    // The principal was removed while one of its requests was on its way.
    if (wanted === undefined) return [];
    if (!credentials.has(principal.id)) noteOf(principal.id);
    if (!members.instances.has(wanted.id)) adoptions.note(principal.id, members.add(wanted));
    return [members.instances.get(wanted.id) as Instance];
  }

  function noteOf(owner: PrincipalId): void {
    if (people.byId(owner) === undefined) credentials.delete(owner);
    else credentials.set(owner, people.credentialsOf(owner));
  }

  return {
    of,
    adopting(principal) {
      of(principal);
      return adoptions.of(principal.id);
    },
    credentialsBefore: (owner) => (owner === null ? undefined : credentials.get(owner)) ?? [],
    noteCredentials() {
      for (const owner of credentials.keys()) noteOf(owner);
    },
    forget(owner) {
      if (owner === null) known.clear();
      else known.delete(owner);
    },
  };
}
