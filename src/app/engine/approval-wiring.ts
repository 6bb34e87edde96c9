import type { Config } from "../../config/config.ts";
import type { ApprovalBook, ApprovalChange } from "../../engine/approvals/approval-book.ts";
import { createPages } from "../servers/definition-wiring.ts";
import { decideTool } from "../../engine/policy/decide.ts";
import type { PerformDeps } from "../../engine/perform/perform.ts";
import { createApprovalStage } from "../../engine/perform/stages/approval-stage.ts";
import type { ApprovalStage } from "../../engine/perform/stages.ts";
import type { Validators } from "../../engine/validation/validators.ts";
import type { EventBus } from "../../kernel/events/event-bus.ts";
import type { Clock } from "../../kernel/runtime/clock.ts";
import { openOnce, type LateModules } from "../../kernel/runtime/late-module.ts";
import type { Fleet } from "../../servers/instance/fleet/fleet.ts";
import type { Redaction } from "../../records/redaction/redaction.ts";
import type { GatewayStore } from "../../store/store.ts";

export interface ApprovalWiring {
  /** What waits for a yes; read from the disk with the first question about it. */
  readonly book: () => Promise<ApprovalBook>;
  /** Whether calls of this tool wait for a yes, by the rules as they are now. */
  readonly asks: PerformDeps["asks"];
  readonly stage: ApprovalStage;
}

export interface ApprovalWiringDeps {
  readonly config: () => Config;
  readonly fleet: Pick<Fleet, "get" | "catalogOf">;
  readonly store: Pick<GatewayStore, "approvals">;
  readonly validators: Validators;
  readonly redaction: Pick<Redaction, "json">;
  readonly events: EventBus;
  readonly late: LateModules;
  readonly clock: Clock;
}

/** Approvals of calls: opened when the first call needs one, or somebody asks what waits. */
export function openApprovals(deps: ApprovalWiringDeps): ApprovalWiring {
  const { config, fleet, store, redaction, events, late, clock } = deps;
  const pageAt = createPages(config, events);
  const pageOf = (id: string): string | undefined => pageAt(`approvals#${id}`);
  const settings = (): Config["settings"]["approvals"] => config().settings.approvals;

  function tell({ what, about, by, via, verdict }: ApprovalChange): void {
    const { id, instance, server, principal, tool, client } = about;
    const common = { atMs: clock.now(), instance, server, principal, id, tool, client, by, through: via };
    events.emit({ ...common, type: `approval.${what}`, verdict, page: what === "requested" ? pageOf(id) : undefined });
  }

  const book = openOnce(async () => {
    const load = async () => await import("../../engine/approvals/approval-book.ts");
    const { createApprovalBook } = await late.load("the code for approvals", load);
    return createApprovalBook({ store: await store.approvals(), clock, settings, onChange: tell });
  });
  const approver = openOnce(async () => {
    const load = async () => await import("../../engine/approvals/approver.ts");
    const { createApprover } = await late.load("the code for approvals", load);
    return createApprover({ book: await book(), settings, redact: redaction.json, pageOf, clock });
  });
  const asked = (): Config["settings"]["policy"]["ask"] => config().settings.policy.ask;
  return {
    book,
    asks(id, tool) {
      const server = fleet.get(id)?.server;
      return server !== undefined && decideTool(tool, server, asked()).verdict === "ask";
    },
    stage: createApprovalStage({
      instanceOf: fleet.get,
      toolsOf: (id) => fleet.catalogOf(id)?.tools,
      ...{ asked, validators: deps.validators, approver },
    }),
  };
}
