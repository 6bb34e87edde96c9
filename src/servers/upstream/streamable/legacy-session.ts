import { requestText, writeNotification } from "../../../wire/mcp/envelope.ts";
import { GatewayError } from "../../../kernel/gateway-error.ts";
import { asciiJson } from "../../../wire/json/ascii-json.ts";
import type { Peer } from "../connection.ts";
import { type GatewayIdentity } from "../encode.ts";
import { declaredCapabilities, initializeParams, peerFromInitialize } from "../handshake.ts";
import { parseErrorObject } from "../../../wire/mcp/error-object.ts";
import { exchangeOnce } from "./exchange-once.ts";
import type { ResponseHead } from "../../../wire/http/response-head.ts";
import { failureOfRefusal, rpcErrorOf } from "./refusal.ts";
import type { Wire } from "./wire.ts";

/**
 * A session of revisions 2025-03-26 to 2025-11-25. It has no id when the server uses none. Replaced when it expires.
 */
export interface LegacySession {
  readonly id: string | undefined;
  readonly peer: Peer;
  /** Headers of every POST in this session. */
  readonly postHeaders: readonly string[];
  /** Headers of every GET and DELETE in this session. */
  readonly streamHeaders: readonly string[];
}

/** What came of `initialize`. */
export type LegacyOpening =
  | { readonly kind: "open"; readonly session: LegacySession }
  /** The server refused. `status` is 200 for a JSON-RPC error, whose code is `code`. */
  | {
      readonly kind: "refused";
      readonly status: number;
      readonly code: number | undefined;
      readonly failure: GatewayError;
    };

/**
 * The SDK counts from 0, so every server accepts it. Request tables count from 1, so no other request in the session
 * has it.
 */
const initializeId = 0;

/**
 * Sends `initialize` and `notifications/initialized` (2025-11-25, basic/lifecycle). Rejects with SERVER_NEEDS_LOGIN,
 * CONNECT_FAILED, UPSTREAM_CLOSED, UPSTREAM_TIMEOUT, UPSTREAM_PROTOCOL, or the signal's reason.
 */
export async function openLegacySession(
  wire: Wire,
  identity: GatewayIdentity,
  signal: AbortSignal,
): Promise<LegacyOpening> {
  const { server, headers } = wire.address;
  const params = asciiJson(initializeParams(identity, declaredCapabilities(wire.roots)));
  const text = requestText(initializeId, "initialize", params);
  const outgoing = {
    method: "POST",
    headers: [...postHeaders, ...headers],
    body: text,
  } as const;
  const outcome = await exchangeOnce(wire, outgoing, {
    signal,
    timeoutMs: wire.tuning.initializeTimeoutMs,
  });
  if (outcome.kind === "refused") {
    const failure = failureOfRefusal(server, outcome.refusal);
    if (failure.code !== "UPSTREAM_HTTP") throw failure;
    const code = rpcErrorOf(outcome.refusal.body, wire.limits.depth)?.code;
    return { kind: "refused", status: outcome.refusal.head.status, code, failure };
  }
  if (outcome.kind === "empty") {
    throw new GatewayError(
      "UPSTREAM_PROTOCOL",
      `${server} answered initialize with HTTP ${outcome.head.status} and no JSON-RPC message`,
    );
  }
  if (outcome.answer.kind === "error") {
    const { code, message } = parseErrorObject(outcome.answer.error);
    const said = `${server} refused initialize with error ${code}: ${message.slice(0, 200)}`;
    const failure = new GatewayError("UPSTREAM_PROTOCOL", said, { data: { code } });
    return { kind: "refused", status: outcome.head.status, code, failure };
  }
  const peer = peerFromInitialize(server, outcome.answer.result);
  const session = sessionOf(wire, peer, readSessionId(server, outcome.head));
  await postInSession(wire, session, writeNotification("notifications/initialized", {}), signal);
  return { kind: "open", session };
}

/** Posts a message that gets no answer. If the server refuses it, the promise resolves to the failure. */
export async function postInSession(
  wire: Wire,
  session: LegacySession,
  text: string,
  signal: AbortSignal,
): Promise<GatewayError | undefined> {
  const outgoing = {
    method: "POST",
    headers: session.postHeaders,
    body: text,
  } as const;
  const outcome = await exchangeOnce(wire, outgoing, {
    signal,
    timeoutMs: wire.tuning.postTimeoutMs,
    isNotice: true,
  });
  return outcome.kind === "refused" ? failureOfRefusal(wire.address.server, outcome.refusal) : undefined;
}

/** Tells the server that the session is over. Its answer does not matter. */
export async function endSession(wire: Wire, session: LegacySession): Promise<void> {
  if (session.id === undefined) return;
  const outgoing = { method: "DELETE", headers: session.streamHeaders, body: null } as const;
  try {
    await exchangeOnce(wire, outgoing, {
      signal: new AbortController().signal,
      timeoutMs: wire.tuning.disposeTimeoutMs,
    });
  } catch {
    // The server is gone or does not answer; its session will expire.
  }
}

const bothTypes = ["accept", "application/json, text/event-stream", "accept-encoding", "identity"];
const postHeaders: readonly string[] = ["content-type", "application/json", ...bothTypes];
const streamHeaders: readonly string[] = ["accept", "text/event-stream", "accept-encoding", "identity"];

function sessionOf(wire: Wire, peer: Peer, id: string | undefined): LegacySession {
  const own = ["mcp-protocol-version", peer.revision];
  if (id !== undefined) own.push("mcp-session-id", id);
  const { headers } = wire.address;
  return {
    id,
    peer,
    postHeaders: [...postHeaders, ...own, ...headers],
    streamHeaders: [...streamHeaders, ...own, ...headers],
  };
}

/** "Visible ASCII characters only" (2025-11-25, transports, session management). */
const sessionIdPattern = /^[\x21-\x7e]{1,1024}$/;

function readSessionId(server: string, head: ResponseHead): string | undefined {
  const id = head.get("mcp-session-id");
  if (id === undefined || id === "") return undefined;
  if (!sessionIdPattern.test(id))
    throw new GatewayError("UPSTREAM_PROTOCOL", `${server} sent a session id that is not allowed in a header`);
  return id;
}
