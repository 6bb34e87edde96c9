import type { Config } from "../config/config.ts";
import type { Clock } from "../kernel/clock.ts";
import type { Log } from "../kernel/log.ts";
import type { Directory } from "../people/directory/directory.ts";
import { createPeopleChanges, type PeopleChanges } from "../people/directory/people-changes.ts";
import { createTeamDirectory, type TeamDirectory } from "../people/directory/team-directory.ts";
import { createToken, hashToken } from "../people/identity/token.ts";
import { ownerActor, type ChangeActor } from "../people/directory/change-queue.ts";
import type { PeopleStore } from "../store/record-store.ts";

/** The people of the database, read and ready. */
export interface TeamPeople {
  readonly directory: TeamDirectory;
  /** What somebody may do with them. */
  readonly changes: (by: ChangeActor) => PeopleChanges;
  /** What whoever owns the data directory may do with them: everything. */
  readonly asOwner: PeopleChanges;
  /** Writes down which tokens were used. */
  close(): Promise<void>;
}

export interface TeamPeopleDeps {
  readonly store: PeopleStore;
  /** People of the configuration. */
  readonly beside: Directory;
  readonly config: () => Pick<Config, "people">;
  readonly clock: Clock;
  /** Given, because loading it with this file would cost each start of a gateway a file. */
  readonly isName: (text: string) => boolean;
  /** The same. */
  readonly isScope: (text: string) => boolean;
  readonly log: Log;
}

/** Uses are written together. Those of the last seconds are lost when the process is killed. */
const usesMs = 5_000;

/** Reads the people. Rejects with STORE_UNAVAILABLE where they cannot be read. */
export async function openTeamPeople({
  store,
  beside,
  config,
  clock,
  isName,
  isScope,
  log,
}: TeamPeopleDeps): Promise<TeamPeople> {
  const directory = createTeamDirectory({ beside, config, clock });
  // Before they are read: what is changed meanwhile is told.
  const stopListening = followOthers(store, directory, log);
  directory.apply(await store.read());
  if (directory.book.users.size === 0)
    log.warn(
      { component: "people" },
      "nobody may use this gateway yet: `toolyard user add NAME --admin --team TEAM` makes the first admin, and prints a token",
    );
  let cancel = clock.after(usesMs, noteUses);

  async function writeUses(): Promise<void> {
    const uses = directory.takeUses();
    if (uses.length === 0) return;
    await store
      .use(uses)
      .catch((error: unknown) => log.warn({ component: "people", err: error }, "uses of tokens are not noted"));
  }

  function noteUses(): void {
    void writeUses();
    cancel = clock.after(usesMs, noteUses);
  }

  const changes = createPeopleChanges({
    ...{ directory, store, clock, isName, isScope, createToken, hashToken },
    isTeamOfConfig: (slug) => config().people.teams.has(slug),
  });

  return {
    directory,
    changes,
    asOwner: changes(ownerActor),
    async close() {
      cancel();
      stopListening();
      directory.stop();
      await writeUses();
    },
  };
}

/** What other gateways of the same database change is in force here as well. */
function followOthers(store: PeopleStore, directory: TeamDirectory, log: Log): () => void {
  let reading: Promise<void> | undefined;

  async function readAll(): Promise<void> {
    try {
      directory.apply(directory.book.differenceTo(await store.read()));
    } catch (error) {
      log.warn({ component: "people", err: error }, "what another gateway changed cannot be read");
    } finally {
      reading = undefined;
    }
  }

  return store.onChange((writes) => {
    try {
      if (writes === undefined) reading ??= readAll();
      else directory.apply(writes);
    } catch {
      // It refers to something that is not known here.
      reading ??= readAll();
    }
  });
}
