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

export function statusWords({ status, dormant }: Pick<ServerStatus, "status" | "dormant">): StatusWords {
  if (dormant) return { word: "Asleep: a call starts it", tone: "asleep" };
  return words[status];
}

/** Whether somebody should do something about it. */
export function needsPerson({ status, dormant }: Pick<ServerStatus, "status" | "dormant">): boolean {
  const { tone } = statusWords({ status, dormant });
  return tone === "ask" || tone === "bad";
}
