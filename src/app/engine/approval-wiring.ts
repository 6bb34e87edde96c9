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
import type { Approval, Grant } from "../../store/approval-rows.ts";
import type { GatewayStore } from "../../store/store.ts";
import { localPrincipal } from "../../kernel/principal.ts";
import type { Log } from "../../kernel/runtime/log.ts";
import type { Directory } from "../../people/directory/directory.ts";
import type { PresenceKeeper } from "../../people/identity/session-validity.ts";

export interface ApprovalWiring {
  /** What waits for a yes; read from the disk with the first question about it. */
  readonly book: () => Promise<ApprovalBook>;
  /** Whether calls of this tool wait for a yes, by the rules as they are now. */
  readonly asks: PerformDeps["asks"];
  /** People changed: what waits of those who lost something waits no longer. */
  readonly followPeople: () => void;
  readonly stage: ApprovalStage;
}

export interface ApprovalWiringDeps {
  readonly config: () => Config;
  readonly fleet: Pick<Fleet, "get" | "catalogOf">;
  readonly store: Pick<GatewayStore, "approvals">;
  readonly validators: Validators;
  readonly redaction: Pick<Redaction, "json">;
  readonly people: { readonly directory: Pick<Directory, "byId">; readonly presence: Pick<PresenceKeeper, "isGone"> };
  readonly log: Log;
  readonly events: EventBus;
  readonly late: LateModules;
  readonly clock: Clock;
}

/** Approvals of calls: opened when the first call needs one, or somebody asks what waits. */
export function openApprovals(deps: ApprovalWiringDeps): ApprovalWiring {
  const { config, fleet, store, redaction, people, events, late, clock, log } = deps;
  const pageAt = createPages(config, events);
  const pageOf = (id: string): string | undefined => pageAt(`approvals#${id}`);
  const settings = (): Config["settings"]["approvals"] => config().settings.approvals;

  function tell({ what, about, by, via, verdict }: ApprovalChange): void {
    const { id, instance, server, principal, tool, client } = about;
    const { approver, team } = about;
    const common = { atMs: clock.now(), instance, server, principal, id, tool, client, approver, by, through: via };
    events.emit({
      ...common,
      team: team ?? undefined,
      type: `approval.${what}`,
      verdict,
      page: what === "requested" ? pageOf(id) : undefined,
    });
  }

  /** Another gateway tells of it, and has it in the audit: here, those who look at the list are told. */
  function tellElsewhere({ id, instance, server, principal, tool, client, approver, team }: Approval | Grant): void {
    const about = { atMs: clock.now(), instance, server, principal, id, tool, client, approver };
    events.emit({ type: "approvals.changed", ...about, team: team ?? undefined });
  }

  function onUnread(error: unknown): void {
    log.warn(
      { component: "approvals", err: error },
      "approvals that another gateway changed cannot be read: tried again",
    );
  }

  /** Somebody who was removed, or lost what they were when they made the call. */
  function isOver({ principal, roles }: Approval): boolean {
    if (principal === localPrincipal.id) return false;
    const now = people.directory.byId(principal);
    return now === undefined || roles.some((role) => !now.roles.includes(role));
  }

  let opened: ApprovalBook | undefined;
  const endLost = async (): Promise<void> =>
    await opened
      ?.endWhere(isOver)
      .catch((error: unknown) => log.error({ component: "approvals", err: error }, "calls that wait do not end"));
  const book = openOnce(async () => {
    const load = async () => await import("../../engine/approvals/approval-book.ts");
    const { openApprovalBook } = await late.load("the code for approvals", load);
    const kept = await store.approvals();
    opened = await openApprovalBook({
      store: kept,
      clock,
      settings,
      onChange: tell,
      onElsewhere: tellElsewhere,
      onUnread,
    });
    // People may have changed while nothing waited in memory.
    await endLost();
    return opened;
  });
  const approver = openOnce(async () => {
    const load = async () => await import("../../engine/approvals/approver.ts");
    const { createApprover } = await late.load("the code for approvals", load);
    return createApprover({ book: await book(), settings, redact: redaction.json, pageOf, clock });
  });
  const policy = (): Config["settings"]["policy"] => config().settings.policy;
  return {
    book,
    asks(id, tool, principal) {
      const server = fleet.get(id)?.server;
      return server !== undefined && decideTool(tool, { server, policy: policy(), principal }).verdict === "ask";
    },
    followPeople: () => void endLost(),
    stage: createApprovalStage({
      instanceOf: fleet.get,
      toolsOf: (id) => fleet.catalogOf(id)?.tools,
      ...{ policy, validators: deps.validators, approver, isGone: people.presence.isGone },
    }),
  };
}
