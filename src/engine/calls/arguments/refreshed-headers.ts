import type { View } from "../../../catalog/model/view.ts";
import { toCallArguments } from "../../../kernel/call/call-context.ts";
import type { Principal } from "../../../kernel/principal.ts";
import type { MirrorArguments } from "./mirrored-headers.ts";
import type { MirrorAgain } from "../server-exchange.ts";

/**
 * Reads the tool of a call from the lists in force: its mirrored parameters may have changed since the call began, or
 * its name was not known then. The gateway does this because not every client can mirror parameters: no legacy client
 * can.
 */
export function createMirrorAgain(viewOf: (principal: Principal) => View, mirror: MirrorArguments): MirrorAgain {
  return ({ instance, target, params, context }) => {
    const server = viewOf(context.principal).servers.find((candidate) => candidate.instance === instance.id);
    const tool = server?.catalog?.tools.find(({ upstreamName }) => upstreamName === target.nameHeader);
    if (tool === undefined) return undefined;
    const given = params.find(([key]) => key === "arguments")?.[1];
    return mirror(tool, toCallArguments(typeof given === "string" ? Buffer.from(given, "latin1") : given));
  };
}
