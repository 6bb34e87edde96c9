import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import type { JsonObject } from "../../kernel/text/json-bytes.ts";
import type { DatabaseCheck } from "../../store/store-upkeep.ts";
import type { AuditFacts } from "../../records/audit/audit-log.ts";
import type { GatewayParts } from "../gateway-parts.ts";

/** What a command about the databases is answered with. */
export interface UpkeepAnswer {
  readonly bytes?: number;
  readonly databases?: readonly DatabaseCheck[];
}

/** The members of the request `upkeep`. */
export interface UpkeepRequest {
  readonly task: "backup" | "check";
  /** Absolute. */
  readonly path?: string | undefined;
}

/** Carries out what a command asks of the databases of a running gateway. */
export async function askUpkeep(
  gateway: Pick<GatewayParts, "records">,
  request: JsonObject,
  order: (action: string, object: string, detail?: AuditFacts["detail"]) => Promise<void>,
): Promise<UpkeepAnswer> {
  const { task, path } = request as unknown as UpkeepRequest;
  const { upkeep } = await gateway.records.opened();
  if (task === "check") return { databases: await upkeep.check() };
  if (task !== "backup" || typeof path !== "string") throw new GatewayError("REQUEST_INVALID", "no path was given");
  // Before it is written: the backup tells of itself.
  await order("state.backup", path);
  return await upkeep.backup(path);
}
