import { createEveryday, type Everyday } from "../../front/owner/everyday.ts";
import { trackController } from "../../front/mcp/running/running-requests.ts";
import type { GatewayParts } from "../gateway-parts.ts";

/** What answers everyday commands, loaded with the first of them. */
export function loadEveryday(gateway: GatewayParts): Everyday {
  const { parts } = gateway.mcp;
  return createEveryday({
    principal: gateway.owner,
    viewOf: gateway.viewOf,
    namesInTurns: gateway.namesInTurns,
    performer: gateway.performer,
    routing: gateway.routing,
    discovery: gateway.discovery,
    usage: gateway.usage.usage,
    instanceOf: (instance) => gateway.fleet.of(gateway.owner).find(({ id }) => id === instance),
    redact: gateway.redaction.said,
    pins: gateway.pins,
    keptSearches: gateway.keptSearches,
    clock: parts.clock,
    adopting: gateway.fleet.adopting,
    settled: gateway.settled,
    admit: parts.admission.admit,
    track: (principal, controller) => trackController(parts.running, principal, controller),
    discoverTokens: () => gateway.config().settings.results.discoverTokens,
    jsonDepth: parts.limits.jsonDepth,
  });
}
