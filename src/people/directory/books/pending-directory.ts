import type { GatewayError } from "../../../kernel/failures/gateway-error.ts";
import type { Principal } from "../../../kernel/principal.ts";
import type { Directory, RemotePeople } from "../directory.ts";

/** Takes the place of a directory that is still being read. */
export interface PendingDirectory extends Directory {
  /** From now on this one answers. Called once. */
  arrive(directory: Directory): void;
  /** It will never be there: all who wait for it are told why. */
  fail(error: GatewayError): void;
}

const none: ReadonlySet<string> = new Set();
const nobody = { team: undefined, user: undefined, isOnlyUser: false };

/**
 * No one is known before the directory is there, and nothing is open: requests wait until their sender can be found.
 */
export function createPendingDirectory(): PendingDirectory {
  let here: Directory | undefined;
  let resolve: (directory: Directory) => void = () => undefined;
  let reject: (error: GatewayError) => void = () => undefined;
  const promise = new Promise<Directory>((...ends) => ([resolve, reject] = ends));
  // Those who wait are told; there may be none.
  promise.catch(() => undefined);
  const listeners = new Set<() => void>();
  const onExpiry = new Set<() => void>();
  const find = async (look: (directory: Directory) => Principal | undefined): Promise<Principal | undefined> =>
    look(await promise);
  const waiting: RemotePeople = {
    byToken: async (hash) => await find((directory) => directory.byToken(hash)),
    byId: async (id) => await find((directory) => directory.byId(id)),
  };

  return {
    open: false,
    byToken: (hash) => here?.byToken(hash),
    byId: (id) => here?.byId(id),
    get elsewhere() {
      return here === undefined ? waiting : here.elsewhere;
    },
    get foreign() {
      return here?.foreign;
    },
    bySession: (hash, team) => here?.bySession?.(hash, team),
    isCurrent: (principal) => here?.isCurrent(principal) ?? false,
    isOver: (principal) => here?.isOver?.(principal) ?? false,
    onExpiry(listener) {
      onExpiry.add(listener);
      return () => onExpiry.delete(listener);
    },
    refusal: () => here?.refusal?.(),
    credentialsOf: (id) => here?.credentialsOf(id) ?? [],
    tiesOf: (id) => (here?.tiesOf ?? here?.credentialsOf)?.(id) ?? [],
    valuesFor: (id, slug) => here?.valuesFor(id, slug) ?? nobody,
    secrets: () => here?.secrets() ?? none,
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    arrive(directory) {
      here = directory;
      directory.onChange(() => {
        for (const listener of listeners) listener();
      });
      directory.onExpiry?.(() => {
        for (const listener of onExpiry) listener();
      });
      resolve(directory);
    },
    fail: (error) => reject(error),
  };
}
