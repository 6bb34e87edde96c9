import type { Schemas } from "../api/client.ts";

type ServerStatus = Schemas["ServerStatus"];
/** How a status looks: a shape and a colour, always with its word. */
export type Tone = "ok" | "asleep" | "busy" | "ask" | "bad" | "off";

interface StatusWords {
  readonly word: string;
  readonly tone: Tone;
}

/** The words of `docs/dashboard.md`; each is followed by what to do. */
const words: Readonly<Record<ServerStatus["status"], StatusWords>> = {
  online: { word: "Online", tone: "ok" },
  provisioning: { word: "New", tone: "busy" },
  command_received: { word: "Starting", tone: "busy" },
  connecting: { word: "Starting", tone: "busy" },
  discovering_tools: { word: "Reading tools", tone: "busy" },
  syncing_tools: { word: "Reading tools", tone: "busy" },
  restarting: { word: "Restarting", tone: "busy" },
  offline: { word: "Does not answer", tone: "bad" },
  error: { word: "Cannot start", tone: "bad" },
  requires_reauth: { word: "Needs login", tone: "ask" },
  awaiting_user_config: { word: "Needs values", tone: "ask" },
  permanently_failed: { word: "Given up", tone: "bad" },
  disabled: { word: "Off", tone: "off" },
};

/** What its words depend on. */
export interface Standing extends Pick<ServerStatus, "status" | "dormant">, Partial<Pick<ServerStatus, "retryAt">> {
  readonly next?: Pick<NonNullable<ServerStatus["next"]>, "step"> | null;
}

/** What an event says of a server that has come into another state. */
export interface StateChange {
  readonly to: ServerStatus["status"];
  readonly reason?: string;
  /** Of one that is off. */
  readonly step?: "enable" | "correct" | "start";
}

export function statusWords({ status, dormant, next }: Standing): StatusWords {
  if (dormant) return { word: "Asleep: a call starts it", tone: "asleep" };
  if (next?.step === "correct") return { word: "Wrong entry", tone: "bad" };
  return next?.step === "start" ? { word: "Stopped", tone: "off" } : words[status];
}

/** Whether somebody should do something about it. */
export function needsPerson(standing: Standing): boolean {
  const { tone } = statusWords(standing);
  return tone === "ask" || tone === "bad";
}

/** In this order a person wants to see them. */
const needs: readonly Tone[] = ["ask", "bad", "busy", "ok", "asleep", "off"];

/** Sorts servers: those that need a person, then those that run, then the others. */
export function byNeed(one: Standing, other: Standing): number {
  return needs.indexOf(statusWords(one).tone) - needs.indexOf(statusWords(other).tone);
}

/** Whether it can be called now, or is started by a call. */
export function isUsable({ status, dormant }: Pick<Standing, "status" | "dormant">): boolean {
  return dormant || status === "online";
}

/** Why it is as it is, for a page: where values are missing, the reason says how apps give them. */
export function reasonText({ reason, next }: Pick<ServerStatus, "reason" | "next">): string {
  return next?.step === "fill-in" ? next.text : reason;
}

/** A step in a few words, and the tab of the server's page where one takes it. */
export interface Remedy {
  readonly word: string;
  readonly tab: "log" | "entry" | "status";
}

/** Whether the entry is wrong only because a variable in it has no value: its page asks for the value. */
export function isOfValue({ step, command }: NonNullable<ServerStatus["next"]>): boolean {
  return step === "correct" && command !== null;
}

export const remedies: Readonly<Record<NonNullable<ServerStatus["next"]>["step"], Remedy>> = {
  "log-in": { word: "Log in", tab: "entry" },
  "fill-in": { word: "Fill in values", tab: "entry" },
  enable: { word: "Switch it on", tab: "entry" },
  correct: { word: "Correct its entry", tab: "entry" },
  start: { word: "Start it", tab: "status" },
  "try-now": { word: "See its log", tab: "log" },
  "see-log": { word: "See its log", tab: "log" },
};

/** The first tools that a recorded search found. */
export function foundText({ message }: { readonly message: string | null }): string {
  return message === null || message === "" ? "nothing found" : `found ${message}`;
}

/** How a call ended: `ok`, the code of a failure, `tool error`. One that waits for a person has not failed. */
export function outcomeOf(call: { readonly outcome: string; readonly code: string | null }): {
  readonly word: string;
  readonly tone: "good" | "waits" | "bad";
} {
  if (call.outcome === "ok") return { word: "ok", tone: "good" };
  if (call.code === "APPROVAL_NEEDED") return { word: "waits for a yes", tone: "waits" };
  return { word: call.code ?? call.outcome.replaceAll("_", " "), tone: "bad" };
}
