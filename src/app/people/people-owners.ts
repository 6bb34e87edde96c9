import type { Directory } from "../../people/directory/directory.ts";
import type { Owners } from "../../servers/instance/fleet/desired-instances.ts";
import type { TeamPeople } from "./team-people.ts";

/** The people for whom instances are made: those of the directory, with what their teams installed. */
export function createOwners(directory: Directory, team: () => TeamPeople | undefined): Owners {
  return {
    byId: directory.byId,
    // For processes, what they stand on is what may be lost.
    credentialsOf: directory.tiesOf ?? directory.credentialsOf,
    valuesFor(owner, slug) {
      const values = directory.valuesFor(owner, slug);
      const own = team()?.ownValues(owner, slug);
      return own === undefined ? values : { ...values, user: own };
    },
    serversOf: (owner) => team()?.serversOf(owner) ?? [],
    installedFor: (installation, owner) => team()?.installs.servers.runnable(installation, owner),
  };
}
