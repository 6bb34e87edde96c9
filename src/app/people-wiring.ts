import type { Config } from "../config/config.ts";
import type { Log } from "../kernel/log.ts";
import { createConfigDirectory } from "../people/directory/config-directory.ts";
import type { Directory } from "../people/directory/directory.ts";
import { createAuthenticator, type Authenticator } from "../people/identity/authenticator.ts";
import { createLookUp, type LookUp } from "../people/identity/look-ups.ts";

/** Who may come. The only place that knows whether people stand in the configuration. */
export interface GatewayPeople {
  readonly directory: Directory;
  readonly authenticator: Authenticator;
  readonly lookUp: LookUp;
  /** A changed configuration has changed people, if they stand there. */
  follow(config: Config): void;
}

/** `given` takes the place of the people in the configuration: those are then nobody. */
export function createPeople(first: Config, given: Directory | undefined, log: Log): GatewayPeople {
  const own = given === undefined ? createConfigDirectory(first) : undefined;
  const directory = given ?? (own as Directory);
  const lookUp = createLookUp(directory, (error) =>
    log.error({ component: "people", operation: "look-up", err: error }, "the directory of people failed"),
  );
  return {
    directory,
    authenticator: createAuthenticator(directory, lookUp),
    lookUp,
    follow: (config) => own?.follow(config),
  };
}
