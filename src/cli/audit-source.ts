import type { AuditPage, AuditRequest, ControlAnswer } from "../app/owner-commands.ts";
import { GatewayError } from "../kernel/gateway-error.ts";
import { toCheck, type AuditCheck } from "../records/audit-history.ts";
import { auditToJson } from "../records/audit-json.ts";
import type { GatewayHolder } from "../store/gateway-holder.ts";
import type { CommandContext } from "./command-context.ts";
import { control } from "./owner-client.ts";
import { openRecordFiles } from "./record-files.ts";
import { findGateway } from "./running-gateways.ts";

/** Where a command reads the audit: from the gateway that runs, or from its files while none does. */
export interface AuditSource extends AsyncDisposable {
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
    page: async (request) => (await ask({ command: "audit", ...request })).audit as AuditPage,
    verify: async () => (await ask({ command: "audit-verify" })).check as AuditCheck,
    [Symbol.asyncDispose]: async () => undefined,
  };
}

/** Holds the gateway's lock meanwhile, so that no gateway opens the same files. */
async function openFiles(context: CommandContext): Promise<AuditSource> {
  const files = await openRecordFiles(context);
  if (files.kind === "none") throw noAudit();
  if (files.kind === "taken") return askGateway(files.by);
  const { records } = files;
  return {
    async page({ limit, before, action }) {
      const { rows, next } = await records.audits({ limit, before, action });
      return { entries: rows.map(auditToJson), next };
    },
    verify: async () => toCheck(await records.verifyAudit(), 0),
    [Symbol.asyncDispose]: files.close,
  };
}

function noAudit(): GatewayError {
  return new GatewayError("STORE_UNAVAILABLE", "no gateway runs with this configuration, and none has left an audit", {
    hint: "Name the configuration with --config, or start the gateway with `toolyard serve`.",
  });
}
