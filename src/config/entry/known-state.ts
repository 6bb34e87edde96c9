import type { Transport } from "../config.ts";
import { launchedBy } from "./launched-server.ts";
import { statefulServers } from "./stateful-servers.ts";
import { hasProcess } from "./transports.ts";

/**
 * Whether this starts one of the servers that are known to hold state. Never true for a remote server, because the
 * gateway does not start it.
 */
export function isKnownStateful(transport: Transport): boolean {
  if (!hasProcess(transport)) return false;
  return launchedBy(transport.command, transport.args).some(({ from, name }) =>
    statefulServers.some((group) => group[from].includes(name)),
  );
}
