import type { readOne } from "../../operations/tools/resource-operations.ts";
import type { CommandContext } from "../command/command-context.ts";
import { openStartedGateway, whenListed } from "../gateway/started-gateway.ts";
import { refuseUsage } from "../terminal/wrong-usage.ts";
import { printResult } from "./result-output.ts";

/** `toolyard read <uri>`: reads a resource by any form of its URI, and prints or saves it. */
export async function read(context: CommandContext): Promise<number> {
  const [uri] = context.positionals;
  if (uri === undefined) return refuseUsage("which resource?", "toolyard read <uri> [options]");
  const gateway = await openStartedGateway(context);
  const query = { uri };
  const ask = async () => await gateway.text<typeof readOne>("GET /api/resources/read", { query });
  return await printResult(context, await whenListed(gateway, ask));
}
