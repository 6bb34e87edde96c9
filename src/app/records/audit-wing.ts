import type { Config } from "../../config/config.ts";
import type { RecordEndDeps } from "../../engine/perform/stages/record-end.ts";
import type { Clock } from "../../kernel/runtime/clock.ts";
import type { EventBus } from "../../kernel/events/event-bus.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import { auditEvents, loginFacts } from "../../records/audit/audit-events.ts";
import { createAuditLog, type AuditFacts, type AuditLog } from "../../records/audit/audit-log.ts";
import { createCallAudit, type CallAudit } from "../../records/audit/call-audit.ts";
import { compareConfigs } from "../../records/audit/config-change.ts";
import { createDenialThrottle } from "../../records/audit/denial-throttle.ts";

/** The audit of a gateway: who changed what, and who was denied. */
export interface GatewayAudit extends Pick<AuditLog, "open" | "fail" | "close" | "lost"> {
  readonly isOn: boolean;
  /** An entry without a waiting caller. */
  readonly note: (facts: AuditFacts) => void;
  /**
   * Something that somebody ordered: resolves when it is on the disk, before that person is answered. Where the audit
   * is strict it rejects when that fails; otherwise it resolves, and the entry is tried again.
   */
  readonly order: (facts: AuditFacts) => Promise<void>;
  /** Something that somebody may not do. So many of one sender are counted. */
  readonly deny: (facts: AuditFacts) => void;
  applied(before: Config | undefined, next: Config): void;
  /** Somebody logged in or out at a server, or a login is about to be sent there. */
  login(instance: string, what: "login" | "logout" | "use"): void;
  /** Undefined unless every call has to be listed. */
  readonly calls: CallAudit | undefined;
  readonly onCallDenied: RecordEndDeps["onDenied"];
}

export interface AuditDeps {
  readonly config: () => Config;
  readonly events: EventBus;
  readonly redact: (text: string) => string;
  readonly clock: Clock;
}

export function createAudit(deps: AuditDeps): GatewayAudit {
  const { audit: level, store } = deps.config().settings.records;
  if (level === "off" || (level === "on" && store === "off")) return auditNothing;
  const audit = createAuditLog(deps);
  if (store === "off") audit.fail(withoutStore());
  const stopEvents = auditEvents(deps.events, audit);
  const denials = createDenialThrottle(audit, deps.clock);

  async function order(facts: AuditFacts): Promise<void> {
    if (level === "strict") await audit.write(facts);
    else if (!audit.isOpen) audit.note(facts);
    else await audit.write(facts).catch(() => audit.note(facts));
  }

  return {
    isOn: true,
    note: audit.note,
    order,
    deny: denials.note,
    login: (instance, what) => audit.note(loginFacts(instance, what)),
    applied: (before, next) => noteConfig(audit, before, next),
    calls: level === "strict" ? createCallAudit(audit) : undefined,
    onCallDenied: ({ principal, team, via, path, outcome, server, instance }) =>
      denials.note({
        actor: principal,
        via,
        team,
        action: "call",
        object: path,
        detail: { code: outcome, server, instance },
      }),
    open: audit.open,
    fail: audit.fail,
    get lost() {
      return audit.lost;
    },
    async close(deadlineMs) {
      stopEvents();
      denials[Symbol.dispose]();
      await audit.close(deadlineMs);
    },
  };
}

const auditNothing: GatewayAudit = Object.freeze({
  isOn: false,
  note: () => undefined,
  order: async () => undefined,
  deny: () => undefined,
  applied: () => undefined,
  login: () => undefined,
  calls: undefined,
  onCallDenied: undefined,
  open: () => undefined,
  fail: () => undefined,
  lost: 0,
  close: async () => undefined,
});

function noteConfig(audit: AuditLog, before: Config | undefined, next: Config): void {
  const { servers, settings, rights } = compareConfigs(before, next);
  const about = { actor: "owner", via: "file", object: next.file ?? "" };
  audit.note({ ...about, action: "config.apply", detail: { isFirst: before === undefined, servers, settings } });
  if (rights !== undefined) audit.note({ ...about, action: "rights.change", detail: { ...rights } });
}

function withoutStore(): GatewayError {
  return new GatewayError("STORE_UNAVAILABLE", "nothing is recorded, because records.store is off", {
    hint: 'Set toolyard.records.store to "sqlite", or toolyard.records.audit to "off", and restart the gateway.',
  });
}
