import type { View } from "../../catalog/view.ts";
import type { Exposure } from "../../exposure/exposure.ts";
import { isJsonObject, type JsonObject } from "../../shared/json-bytes.ts";

/** What an endpoint declares. A transparent one declares what its server does; the others what the gateway can do for any server. */
export function capabilitiesOf(exposure: Exposure, view: View): JsonObject {
  const own = exposure.transparent(view)?.part?.capabilities;
  if (own !== undefined && isJsonObject(own)) return own;
  return {
    tools: exposure.toolsChange ? { listChanged: true } : {},
    resources: { subscribe: true, listChanged: true },
    prompts: { listChanged: true },
    completions: {},
    logging: {},
  };
}
