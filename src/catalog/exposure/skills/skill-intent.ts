import { GatewayError } from "../../../kernel/failures/gateway-error.ts";
import { offersSkills } from "../../model/skill-extension.ts";
import type { View } from "../../model/view.ts";
import type { Intent } from "../intent.ts";
import { resolveRead } from "../native.ts";

/**
 * What skills/get or resources/directory/read is about: passed on to the server whose address is named, whether or
 * not it lists the skill. Throws PARAMS_INVALID (-32602) where no server that offers skills is meant.
 */
export function resolveSkill(view: View, uri: string): Intent {
  const intent = meantBy(view, uri);
  if (intent?.kind !== "read" || !offersSkills(intent.server.catalog))
    throw new GatewayError("PARAMS_INVALID", `no server has the skill ${uri.slice(0, 200)}`, {
      data: { uri: uri.slice(0, 200) },
      hint: "Name a skill by the uri that skills/list gives.",
    });
  return { kind: "forward", server: intent.server, uri: intent.uri };
}

function meantBy(view: View, uri: string): Intent | undefined {
  try {
    return resolveRead(view, uri, "native");
  } catch (error) {
    if (error instanceof GatewayError && error.code === "RESOURCE_UNKNOWN") return undefined;
    throw error;
  }
}
