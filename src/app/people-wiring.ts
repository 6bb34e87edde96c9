import type { Config } from "../config/config.ts";
import type { Log } from "../kernel/log.ts";
import { createConfigDirectory } from "../people/directory/config-directory.ts";
import type { Directory } from "../people/directory/directory.ts";
import { createAuthenticator, type Authenticator } from "../people/identity/authenticator.ts";
import { createLookUp, type LookUp } from "../people/identity/look-ups.ts";

/** The people who may use the gateway. Only this file knows whether they come from the configuration. */
export interface GatewayPeople {
  readonly directory: Directory;
  readonly authenticator: Authenticator;
  readonly lookUp: LookUp;
  /** Applies a changed configuration, if the people come from there. */
  follow(config: Config): void;
}

/** `given` replaces the people of the configuration, who then have no access. */
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
