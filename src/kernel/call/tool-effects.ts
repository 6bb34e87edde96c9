/**
 * What a call of a tool may do: read something; change something; send it where it cannot be taken back; destroy
 * something; run code or a query that somebody wrote. `unknown` where neither name nor annotations say it.
 */
export const toolEffects = ["read", "write", "send", "destroy", "run", "unknown"] as const;
export type ToolEffect = (typeof toolEffects)[number];

/** What may be in what a server returns: texts of strangers, or data that should go to no one else. */
export const contentLabels = ["untrusted", "private"] as const;
export type ContentLabel = (typeof contentLabels)[number];

/** How much is lost when the effect was not wanted. `unknown` may be any of them, and is known to be none. */
const strength: Readonly<Record<ToolEffect, number>> = { read: 0, unknown: 1, write: 2, send: 3, run: 4, destroy: 5 };

/** Whether the first is worse than the second. */
export function isStronger(effect: ToolEffect, than: ToolEffect): boolean {
  return strength[effect] > strength[than];
}

export function strongestOf(effects: readonly ToolEffect[], least: ToolEffect): ToolEffect {
  return effects.reduce((found, effect) => (isStronger(effect, found) ? effect : found), least);
}

/**
 * Who may say yes to a call that asks: its own person; or somebody else who is an admin of the person's team, or of the
 * gateway. Each may do more than the one before.
 */
export const approvers = ["self", "team-admin", "admin"] as const;
export type Approver = (typeof approvers)[number];

/** Whether a yes of the first is as good as one of the second. */
export function isAsGood(approver: Approver, as: Approver): boolean {
  return approvers.indexOf(approver) >= approvers.indexOf(as);
}
