import { randomUUID } from "node:crypto";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import { depthOf, markerVariable } from "../../servers/process/marker.ts";

/**
 * Knows which gateways stand behind one another. A gateway that reaches itself as one of its servers, directly or
 * through others, would list its own tools without end.
 */
export interface LoopGuard {
  /** The ids of this gateway and of those known to be behind it. */
  readonly ids: () => readonly string[];
  /**
   * Records the gateway ids that a server reports. Throws SERVER_IS_GATEWAY when they show that it leads back here.
   */
  note(server: string, gateways: readonly string[]): void;
}

/** Gateways behind gateways are rare. A server that reports more gets no further memory for it. */
const mostKnown = 100;

/** A guard for one gateway, which gets a random id of its own. */
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

/**
 * Refuses to start when gateways are nested too deep. Each gateway starts the servers of its configuration, and one
 * that starts itself would do so without end. Throws SERVER_IS_GATEWAY.
 */
export function refuseEndlessNesting(environment: Readonly<Record<string, string | undefined>>): void {
  if (depthOf(environment[markerVariable]) >= mostNested)
    throw new GatewayError(
      "SERVER_IS_GATEWAY",
      `this gateway runs as a server of other gateways, ${mostNested} levels deep`,
    );
}

const mostNested = 4;
