import { randomUUID } from "node:crypto";
import { GatewayError } from "../kernel/gateway-error.ts";

/**
 * Which gateways stand behind one another. A gateway that is its own server, by whatever way, would list itself
 * without end.
 */
export interface LoopGuard {
  /** This gateway, and those that are known to be behind it. */
  readonly ids: () => readonly string[];
  /** Takes in what a server says of itself. Throws SERVER_IS_GATEWAY when it leads back here. */
  note(server: string, gateways: readonly string[]): void;
}

/** Gateways of gateways are rare; who claims to be a hundred gets no more memory for it. */
const mostKnown = 100;

export function createLoopGuard(): LoopGuard {
  const own = randomUUID();
  const behind = new Set<string>();
  return {
    ids: () => [own, ...behind],
    note(server, gateways) {
      if (gateways.includes(own))
        throw new GatewayError("SERVER_IS_GATEWAY", `${server} is this gateway, or leads back to it`);
      for (const id of gateways.slice(0, mostKnown - behind.size)) behind.add(id.slice(0, 100));
    },
  };
}
