import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Config } from "../../config/config.ts";
import { toGatewayError } from "../../kernel/failures/gateway-error.ts";
import { broken, fine, type Finding } from "../../operations/machine/doctor/doctor-finding.ts";
import { openDataDirectory, storeIn } from "../../operations/machine/surroundings/surroundings.ts";
import { servedBy, type CommandContext } from "../command/command-context.ts";
import { openUnservedStore } from "../gateway/unserved-store.ts";

/** Whether the databases of a gateway that does not run can be opened. */
export async function checkRecordFiles(context: CommandContext, config: Config): Promise<readonly Finding[]> {
  try {
    const place = storeIn(openDataDirectory(config, context), context).lock.placeOf(servedBy(config, context));
    if (!existsSync(join(place, "state.db"))) return [fine("nothing is recorded yet")];
    const opened = await openUnservedStore(context, config);
    // Its holder takes care of it.
    if (!("records" in opened)) return [];
    await using store = opened;
    const { problems } = store.records.health();
    if (problems.length === 0) return [fine("the records can be read and written")];
    return problems.map(({ message, hint }) => broken(message, hint));
  } catch (error) {
    const { message, hint } = toGatewayError(error);
    return [broken(message, hint)];
  }
}
