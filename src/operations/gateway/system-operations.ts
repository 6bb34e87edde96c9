import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import { gatewayReading } from "../../engine/policy/rights.ts";
import { answers } from "../responses.ts";
import * as schemas from "../schemas.ts";
import { operation, type Operation } from "../operation.ts";

const tag = "Gateway";

const showInside = operation({
  route: "GET /api/status/debug",
  right: gatewayReading,
  id: "showInside",
  tag,
  summary: "The gateway's inside",
  description: "Only with `debugRoute` (TOOLYARD_DEBUG_ROUTE=true).",
  responses: answers(schemas.json, "Facts for finding faults.", [404]),
  run(services) {
    if (!services.settings().debugRoute)
      throw new GatewayError("ROUTE_UNKNOWN", "there is nothing at this path", {
        hint: "Set toolyard.debugRoute, or TOOLYARD_DEBUG_ROUTE=true.",
      });
    return { version: services.version, ...services.debugFacts() };
  },
});

/** Facts about the gateway for those who run it. */
export const systemOperations: readonly Operation[] = [showInside];
