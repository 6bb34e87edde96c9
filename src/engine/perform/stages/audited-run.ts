import { clientNameOf } from "../../../kernel/client-presence.ts";
import { slugOf, type Intent, type ServerIntent } from "../../../catalog/exposure/intent.ts";
import { toGatewayError } from "../../../kernel/failures/gateway-error.ts";
import type { AuditedCall, CallAudit } from "../../../records/audit/call-audit.ts";
import type { Outcome, Work } from "../work.ts";
import { instanceOf, methodOf, outcomeWord, pathOf } from "./request-facts.ts";
import type { RunStage } from "../run.ts";

/**
 * Runs a server's request between two entries of the audit: it does not run before the first is on the disk, and no
 * answer leaves before the second is. The second is also written when the client has disconnected.
 */
export function createAuditedRun(run: RunStage, audit: CallAudit): RunStage {
  async function runAudited(intent: ServerIntent, work: Work): Promise<Outcome> {
    const call = toAudited(intent, work);
    const begun = await audit.begin(call);
    let outcome: Outcome;
    try {
      outcome = await run(intent, work);
    } catch (error) {
      await audit.end(call, begun, toGatewayError(error).code);
      throw error;
    }
    await audit.end(call, begun, outcomeWord(outcome));
    return outcome;
  }

  return (intent, work) => (isOfServer(intent) ? runAudited(intent, work) : run(intent, work));
}

function isOfServer(intent: Intent): intent is ServerIntent {
  return ["call", "read", "prompt", "complete", "forward"].includes(intent.kind);
}

function toAudited(intent: ServerIntent, work: Work): AuditedCall {
  const { principal, via } = work.context;
  return {
    principal: principal.id,
    team: principal.team,
    via,
    client: clientNameOf(work.context),
    server: slugOf(intent),
    instance: instanceOf(intent),
    method: methodOf(intent, work),
    path: pathOf(intent, work),
  };
}
