import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import { depthOf, markerVariable } from "../../servers/process/marker.ts";

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
