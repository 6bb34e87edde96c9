import { existsSync } from "node:fs";
import { join } from "node:path";
import type { AuditPage, AuditRequest, ControlAnswer } from "../../app/owner/owner-commands.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import { toCheck, type AuditCheck } from "../../records/audit/audit-history.ts";
import { auditToJson } from "../../records/audit/audit-json.ts";
import type { GatewayHolder } from "../../store/gateway-holder.ts";
import { openDataDirectory, readConfig, servedBy, storeIn, type CommandContext } from "../command/command-context.ts";
import { control } from "../gateway/owner-client.ts";
import { findGateway } from "../gateway/running-gateways.ts";
import { openUnservedStore } from "../gateway/unserved-store.ts";

/** Where a command reads the audit: from the gateway that runs, or from its files while none does. */
export interface AuditSource extends AsyncDisposable {
  /** Whether entries come while it is read. */
  readonly isLive: boolean;
  page(request: AuditRequest): Promise<AuditPage>;
  verify(): Promise<AuditCheck>;
}

/** Rejects with GATEWAY_AMBIGUOUS, and with STORE_UNAVAILABLE where there is no audit. */
export async function openAuditSource(context: CommandContext): Promise<AuditSource> {
  try {
    return askGateway(await findGateway(context));
  } catch (error) {
    if (!(error instanceof GatewayError) || error.code !== "GATEWAY_UNREACHABLE") throw error;
    return await openFiles(context);
  }
}

function askGateway(holder: GatewayHolder): AuditSource {
  async function ask(command: Parameters<typeof control>[1]): Promise<ControlAnswer> {
    const answer = await control(holder, command);
    if (answer.ok) return answer;
    throw new GatewayError("STORE_UNAVAILABLE", answer.message ?? "the audit cannot be read", {
      hint: answer.hint ?? "",
    });
  }
  return {
    isLive: true,
    page: async (request) => (await ask({ command: "audit", ...request })).audit as AuditPage,
    verify: async () => (await ask({ command: "audit-verify" })).check as AuditCheck,
    [Symbol.asyncDispose]: async () => undefined,
  };
}

/** Holds the gateway's lock meanwhile, so that no gateway opens the same files. */
async function openFiles(context: CommandContext): Promise<AuditSource> {
  const config = await readConfig(context);
  const place = storeIn(openDataDirectory(config, context), context).lock.placeOf(servedBy(config, context));
  // One elsewhere is not looked for among the files.
  const check = config.settings.database === undefined ? requireAudit : () => undefined;
  check(place);
  const store = await openUnservedStore(context, config, check);
  if (!("records" in store)) return askGateway(store);
  const { records } = store;
  return {
    isLive: false,
    async page({ limit, before, after, action }) {
      const { rows, next } = await records.audits({ limit, before, after, action });
      return { entries: rows.map(auditToJson), next };
    },
    verify: async () => toCheck(await records.verifyAudit(), 0),
    [Symbol.asyncDispose]: async () => await store[Symbol.asyncDispose](),
  };
}

function requireAudit(folder: string): void {
  if (!existsSync(join(folder, "state.db"))) throw noAudit();
}

function noAudit(): GatewayError {
  return new GatewayError("STORE_UNAVAILABLE", "no gateway runs with this configuration, and none has left an audit", {
    hint: "Name the configuration with --config, or start the gateway with `toolyard serve`.",
  });
}
