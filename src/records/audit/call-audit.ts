import { GatewayError, toGatewayError } from "../../kernel/failures/gateway-error.ts";
import type { AuditFacts, AuditLog } from "./audit-log.ts";

/** A call, as the audit names it. */
export interface AuditedCall {
  readonly principal: string;
  readonly team: string | null;
  readonly via: string;
  readonly client: string | undefined;
  readonly server: string;
  readonly instance: string;
  readonly method: string;
  /** Path of a tool, URI of a resource, name of a prompt. */
  readonly path: string;
}

/**
 * The audit of calls where it is strict: an entry before anything runs, and one before its answer leaves. Both resolve
 * when the entry is on the disk, and reject where it cannot be written.
 */
export interface CallAudit {
  /** Resolves with the place of the entry, which the second one names. */
  begin(call: AuditedCall): Promise<number>;
  /** `outcome` as in `mcp.request.logs`. */
  end(call: AuditedCall, begun: number, outcome: string): Promise<void>;
}

export function createCallAudit(audit: Pick<AuditLog, "write">): CallAudit {
  return {
    async begin(call) {
      try {
        return await audit.write(toFacts(call, "call.begin"));
      } catch (error) {
        throw refused(error, `${call.path} was not called, because the audit cannot be written`, "");
      }
    },
    async end(call, begun, outcome) {
      const isFine = outcome === "ok" || outcome === "tool_error" || outcome === "error";
      try {
        await audit.write(toFacts(call, "call", { begun, outcome }, isFine ? "ok" : "failed"));
      } catch (error) {
        const hint = "Check whether the call took effect before you repeat it. ";
        throw refused(error, `${call.path} was called, but the audit of its end cannot be written`, hint);
      }
    },
  };
}

function toFacts(
  { principal, team, via, client, server, instance, method, path }: AuditedCall,
  action: string,
  detail: object = {},
  outcome: AuditFacts["outcome"] = "ok",
): AuditFacts {
  const about = { ...detail, method, server, instance, client };
  return { actor: principal, via, team, action, object: path, outcome, detail: about };
}

function refused(error: unknown, what: string, hint: string): GatewayError {
  const { code, message, hint: cause } = toGatewayError(error);
  if (code === "DRAINING") return new GatewayError(code, message);
  return new GatewayError(code === "STORE_FULL" ? code : "STORE_UNAVAILABLE", `${what}: ${message}`, {
    hint: `${hint}records.audit is "strict": no call goes without its entry. ${cause}`,
    cause: error,
  });
}
