import { isAsGood } from "../../kernel/call/tool-effects.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import type { Approval, ApprovedCall, Grant, GrantKind, KeptApprovals } from "../../store/approval-rows.ts";
import { randomId } from "../../kernel/text/random-id.ts";
import { closed, isOpen, openKeptBook, withoutOver, type KeptBookDeps, type Planned } from "./kept-book.ts";

/** A change that those who look after the gateway are told of. */
export interface ApprovalChange {
  readonly what: "requested" | "decided" | "expired" | "revoked";
  readonly about: Approval | Grant;
  /** Who did it, and the way it came: `client`, `dashboard`, `owner`. */
  readonly by: string;
  readonly via: string;
  readonly verdict?: GrantKind | "no" | undefined;
}

export interface ApprovalSettings {
  readonly validMs: number;
  readonly sessionMs: number;
  readonly waiting: number;
}

export interface ApprovalBookDeps extends Omit<KeptBookDeps, "onExpired"> {
  readonly settings: () => ApprovalSettings;
  readonly onChange: (change: ApprovalChange) => void;
}

/** Who decides, and how. */
export interface Decider {
  readonly by: string;
  readonly via: string;
}

/** What waits for a yes, and what was said yes to. A change is on the disk before anything is done because of it. */
export interface ApprovalBook {
  /** Whether a remembered yes covers the call. */
  covers(call: ApprovedCall): boolean;
  /** Uses up a yes to this one call; at most one of any number of equal calls gets it. */
  take(call: ApprovedCall): Promise<boolean>;
  /** Whether the call has begun with a yes to it, and goes on: its server asked something in the middle. */
  isUnderWay(binding: string): boolean;
  /** The same call that waits already, or was denied within the last minute. */
  find(binding: string): Approval | undefined;
  /** Notes that somebody is asked. The oldest of the person's expires where too many wait. */
  ask(call: ApprovedCall): Promise<{ readonly approval: Approval; readonly isNew: boolean }>;
  /** Throws APPROVAL_UNKNOWN where it does not wait any more, or is of somebody whom `isSeen` does not admit. */
  decide(
    id: string,
    verdict: GrantKind | "no",
    decider: Decider,
    isSeen?: (one: Approval) => boolean,
  ): Promise<Approval>;
  /** Takes a remembered yes back. Throws APPROVAL_UNKNOWN. */
  revoke(id: string, decider: Decider, isSeen: (one: Grant) => boolean): Promise<void>;
  /** Ends what waits, or waits to be used, of people who may not make such a call any more. */
  endWhere(isOver: (one: Approval) => boolean): Promise<void>;
  /** Resolves when it waits no longer, at the latest after so many milliseconds. */
  settled(id: string, limitMs: number, signal: AbortSignal): Promise<Approval | undefined>;
  /** The newest first. */
  readonly approvals: readonly Approval[];
  readonly grants: readonly Grant[];
}

/** For so long the same call is not asked about again. */
const deniedMs = 60_000;
/** As long as a server's question to a client can be answered. */
const underWayMs = 600_000;

/** Opens it. Rejects where it cannot be read. */
export async function openApprovalBook({ settings, onChange, ...deps }: ApprovalBookDeps): Promise<ApprovalBook> {
  const { clock } = deps;
  const onExpired = (about: Approval): void => onChange({ what: "expired", about, by: "gateway", via: "gateway" });
  const book = await openKeptBook({ ...deps, onExpired });

  return {
    covers(call) {
      const nowMs = clock.now();
      return book.kept.grants.some((grant) => isCovered(grant, call) && (grant.untilMs ?? nowMs + 1) > nowMs);
    },
    take: async ({ binding }) =>
      await book.change((now) => {
        const found = now.approvals.find((one) => one.binding === binding && one.state === "granted");
        if (found === undefined) return { next: now, value: false };
        return { next: withReplaced(now, closed(found, "used")), value: true };
      }),
    isUnderWay(binding) {
      const sinceMs = clock.now() - underWayMs;
      return book.kept.approvals.some(
        (one) => one.binding === binding && one.state === "used" && (one.decidedAtMs ?? 0) > sinceMs,
      );
    },
    find(binding) {
      const nowMs = clock.now();
      const counts = ({ state, expiresAtMs, decidedAtMs }: Approval): boolean =>
        state === "waiting" ? expiresAtMs > nowMs : state === "denied" && (decidedAtMs ?? 0) > nowMs - deniedMs;
      return book.kept.approvals.find((one) => one.binding === binding && counts(one));
    },
    async ask(call) {
      const asked = await book.change((now) => planAsking(now, call, clock.now(), settings()));
      if (asked.isNew) onChange({ what: "requested", about: asked.approval, by: call.principal, via: "client" });
      return asked;
    },
    async decide(id, verdict, { by, via }, isSeen = () => true) {
      const decided = await book.change((now) => {
        const found = now.approvals.find((one) => one.id === id && isSeen(one));
        if (found?.state !== "waiting") throw unknownApproval(found);
        if (verdict !== "no" && !mayLast(found, verdict))
          throw new GatewayError("PARAMS_INVALID", `a yes to this call cannot count for ${verdict}`);
        const decidedAtMs = clock.now();
        const decided: Approval = { ...found, state: "granted", decidedBy: by, decidedVia: via, decidedAtMs };
        // A yes that is remembered covers this call as well; there is none besides for one call.
        const one = verdict === "once" ? decided : closed(decided, verdict === "no" ? "denied" : "used");
        const next = withReplaced(now, one);
        if (verdict === "no" || verdict === "once") return { next, value: one };
        const untilMs = verdict === "session" ? decidedAtMs + settings().sessionMs : null;
        return { next: { ...next, grants: [toGrant(one, verdict, untilMs), ...next.grants] }, value: one };
      });
      onChange({ what: "decided", about: decided, by, via, verdict });
      return decided;
    },
    async revoke(id, { by, via }, isSeen) {
      const revoked = await book.change((now) => {
        const found = now.grants.find((one) => one.id === id && isSeen(one));
        if (found === undefined)
          throw new GatewayError("APPROVAL_UNKNOWN", "no yes of yours is remembered under this id");
        return { next: { ...now, grants: now.grants.filter((one) => one !== found) }, value: found };
      });
      onChange({ what: "revoked", about: revoked, by, via });
    },
    async endWhere(isOver) {
      const isEnded = (one: Approval): boolean => isOpen(one) && isOver(one);
      if (!book.kept.approvals.some(isEnded)) return;
      await book.change((now) => {
        const approvals = now.approvals.map((one) => (isEnded(one) ? closed(one, "expired") : one));
        return { next: { ...now, approvals }, value: undefined };
      });
    },
    settled: async (id, limitMs, signal) => await book.settled(id, limitMs, signal),
    get approvals() {
      return withoutOver(book.kept, clock.now()).approvals;
    },
    get grants() {
      return withoutOver(book.kept, clock.now()).grants;
    },
  };
}

/**
 * Whether a yes to a call may count for so long. What runs code does something else each time; and of what a person has
 * not seen the whole of, the rest may be anything.
 */
export function mayLast({ effect, isCut }: Pick<ApprovedCall, "effect" | "isCut">, kind: GrantKind): boolean {
  return kind === "once" || (!isCut && (kind === "session" || effect !== "run"));
}

function withReplaced(now: KeptApprovals, one: Approval): KeptApprovals {
  return { ...now, approvals: now.approvals.map((other) => (other.id === one.id ? one : other)) };
}

function isCovered(grant: Grant, call: ApprovedCall): boolean {
  const same = ["principal", "instance", "tool", "definition"] as const;
  const ofSession = ["client", "session"] as const;
  if (!isAsGood(grant.approver, call.approver)) return false;
  return [...same, ...(grant.kind === "always" ? [] : ofSession)].every((name) => grant[name] === call[name]);
}

/** The oldest that waits for the same person makes room for one more. */
function planAsking(
  now: KeptApprovals,
  call: ApprovedCall,
  nowMs: number,
  { validMs, waiting: most }: ApprovalSettings,
): Planned<{ readonly approval: Approval; readonly isNew: boolean }> {
  const same = now.approvals.find(({ binding, state }) => binding === call.binding && state === "waiting");
  if (same !== undefined) return { next: now, value: { approval: same, isNew: false } };
  const approval: Approval = {
    ...call,
    ...{ id: randomId("a"), state: "waiting", askedAtMs: nowMs, expiresAtMs: nowMs + validMs },
    ...{ decidedBy: null, decidedVia: null, decidedAtMs: null },
  };
  const waiting = now.approvals.filter((one) => one.principal === call.principal && one.state === "waiting");
  const over = new Set(waiting.slice(most - 1).map(({ id }) => id));
  const others = now.approvals.map((one) => (over.has(one.id) ? closed(one, "expired") : one));
  return { next: { ...now, approvals: [approval, ...others] }, value: { approval, isNew: true } };
}

function toGrant(one: Approval, kind: Grant["kind"], untilMs: number | null): Grant {
  const { principal, user, team, client, session, server, instance, tool, definition, approver, decidedAtMs } = one;
  const about = { principal, user, team, client, session, server, instance, tool, definition, approver };
  return { ...about, id: randomId("g"), kind, madeAtMs: decidedAtMs ?? 0, untilMs };
}

/** The same for another person's as for none. */
function unknownApproval(found: Approval | undefined): GatewayError {
  const state = found === undefined ? "" : `: it is ${found.state}`;
  return new GatewayError("APPROVAL_UNKNOWN", `no call waits for your yes under this id${state}`);
}
