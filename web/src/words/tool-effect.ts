import type { Approver, ToolEffect } from "../../../src/kernel/call/tool-effects.ts";

/** What calls do, as the end of a sentence. */
export const effectNames: Readonly<Record<ToolEffect, string>> = {
  read: "only reads",
  write: "changes something",
  send: "sends something",
  run: "runs code",
  destroy: "deletes or undoes something",
  unknown: "may change something",
};

interface Told {
  readonly effect: ToolEffect;
  readonly asks: boolean;
  readonly approver?: Approver | null | undefined;
}

/** What the gateway says that a tool does, in a few words, and whether somebody is asked before each call. */
export function effectText({ effect, asks, approver }: Told): string {
  if (!asks) return effectNames[effect];
  return `${effectNames[effect]}, ${approver === undefined || approver === null ? "asks first" : approverText(approver)}`;
}

/** Who says yes to a call. */
export function approverText(approver: Approver): string {
  if (approver === "self") return "asks first";
  return approver === "admin" ? "asks an admin of the gateway" : "asks another admin of the team";
}
