/** A message that passed, as far as its words are made of it. */
export interface PassedMessage {
  readonly side: "client" | "server";
  readonly way: "in" | "out";
  readonly kind: string;
  readonly name: string | null;
  readonly method: string | null;
  readonly status: number | null;
  readonly text: string;
}

/** Empty or absent: not filtered by it. */
export interface ProtocolFilters {
  readonly client?: string | undefined;
  readonly server?: string | undefined;
  readonly method?: string | undefined;
  readonly match?: string | undefined;
}

/** `client → gateway`. */
export function directionOf({ side, way }: Pick<PassedMessage, "side" | "way">): string {
  return way === "in" ? `${side} → gateway` : `gateway → ${side}`;
}

/** With a server alone, what clients say is left out; with a client alone, so is what servers say. */
export function fitsFilters(message: PassedMessage, { client, server, method, match }: ProtocolFilters): boolean {
  const { side, name, text } = message;
  const wanted = side === "server" ? server : client;
  const isChosen = wanted === undefined || wanted === "" ? !hasOther(side, { client, server }) : name === wanted;
  if (!isChosen || (method !== undefined && method !== "" && message.method !== method)) return false;
  const words = (match ?? "").toLowerCase();
  return words === "" || `${name ?? ""} ${message.method ?? ""} ${text}`.toLowerCase().includes(words);
}

function hasOther(side: PassedMessage["side"], { client = "", server = "" }: ProtocolFilters): boolean {
  return (side === "server" ? client : server) !== "";
}

/** Why a message is a failure; undefined where it is none. A tool that failed says so in its result. */
export function errorOf({ kind, status, text }: Pick<PassedMessage, "kind" | "status" | "text">): string | undefined {
  const http = status === null ? "" : `HTTP ${status}`;
  if (kind === "refusal") return http;
  if (kind === "result") return text.slice(0, lookedAt).includes('"isError":true') ? "tool failed" : undefined;
  if (kind !== "error") return undefined;
  const [, code = ""] = /"code"\s*:\s*(-?\d{1,9})/.exec(text) ?? [];
  return `error ${code} ${http}`.replaceAll(/\s+/g, " ").trim();
}

/** Results that say it are short. */
const lookedAt = 100_000;
