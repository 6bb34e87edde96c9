import type { ServerConfig } from "../../../config/config.ts";
import type { PrincipalId } from "../../../kernel/ids.ts";
import type { Principal } from "../../../kernel/principal.ts";
import type { Instance } from "../instance.ts";
import { sharedId, type Membership, type Whose } from "./membership.ts";
import { installedId, wantedFor, type Owners } from "./desired-instances.ts";

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
  /** There are others now: of this person's, of this team, or for everybody (neither). */
  forget(whose: Whose): void;
  /** Reads the tokens of one owner again. */
  noteCredentialsOf(owner: PrincipalId): void;
}

/** `servers` returns the servers of the current configuration. */
export function createPrincipalInstances(
  members: Pick<Membership, "instances" | "add">,
  servers: () => readonly ServerConfig[],
  people: Owners,
): PrincipalInstances {
  const credentials = new Map<PrincipalId, readonly string[]>();
  const known = new Map<string, { readonly own: readonly Instance[]; readonly teamTurn: number }>();
  /** How often the servers of a team became others. */
  const teamTurns = new Map<string, number>();
  const adoptions = createAdoptions();

  function of(principal: Principal): readonly Instance[] {
    const before = known.get(principal.id);
    const teamTurn = principal.team === null ? 0 : (teamTurns.get(principal.team) ?? 0);
    if (before?.teamTurn === teamTurn) return before.own;
    const own = servers().flatMap((server) =>
      server.scope === "shared" ? (members.instances.get(sharedId(server)) ?? []) : ownInstance(principal, server),
    );
    const all = [...own, ...installedBeside(principal)];
    known.set(principal.id, { own: all, teamTurn });
    return all;
  }

  /** What the team installed. Where the configuration has a server of that name, that one stays. */
  function installedBeside(principal: Principal): readonly Instance[] {
    const installed = people.serversOf?.(principal.id) ?? [];
    if (installed.length === 0) return [];
    const taken = new Set(servers().map(({ slug }) => slug.toLowerCase()));
    return installed
      .filter(({ slug }) => !taken.has(slug.toLowerCase()))
      .flatMap((server) =>
        server.scope === "shared" ? teamInstance(principal, server) : ownInstance(principal, server),
      );
  }

  function teamInstance(principal: Principal, server: ServerConfig): readonly Instance[] {
    const there = members.instances.get(installedId(server, null));
    if (there !== undefined) return [there];
    const wanted = wantedFor({ owner: null, server, id: undefined }, servers(), people);
    if (wanted === undefined) return [];
    adoptions.note(principal.id, members.add(wanted));
    return [members.instances.get(wanted.id) as Instance];
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
    noteCredentialsOf: noteOf,
    forget({ owner, team }) {
      if (owner !== null) known.delete(owner);
      else if (team === undefined) known.clear();
      else teamTurns.set(team, (teamTurns.get(team) ?? 0) + 1);
    },
  };
}

/** Loads of kept catalogs from disk, for principals' own instances. */
interface Adoptions {
  /** Notes a load that is running for a principal. */
  note(principal: PrincipalId, adding: Promise<void>): void;
  /** Settles when all of the principal's loads are done; undefined when none is running. */
  of(principal: PrincipalId): Promise<void> | undefined;
}

/** No loads at first. */
function createAdoptions(): Adoptions {
  const running = new Map<PrincipalId, Promise<void>>();
  return {
    note(principal, adding) {
      const all = Promise.all([running.get(principal), adding]).then(() => {
        if (running.get(principal) === all) running.delete(principal);
      });
      running.set(principal, all);
    },
    of: (principal) => (running.size === 0 ? undefined : running.get(principal)),
  };
}
