import { requestText, writeNotification } from "../../../../wire/mcp/envelope.ts";
import { GatewayError } from "../../../../kernel/failures/gateway-error.ts";
import { asciiJson } from "../../../../wire/json/ascii-json.ts";
import type { Peer } from "../../connection.ts";
import { type GatewayIdentity } from "../../messages/encode.ts";
import type { Rung } from "../../declared-capabilities.ts";
import { initializeParams, initializeRefusal, peerFromInitialize } from "../../handshake.ts";
import type { StepFailure } from "../../ladder.ts";
import { parseErrorObject } from "../../../../wire/mcp/error-object.ts";
import { exchangeOnce } from "../exchange/exchange-once.ts";
import type { ResponseHead } from "../../../../wire/http/response-head.ts";
import { failureOfRefusal, rpcErrorOf } from "../exchange/refusal.ts";
import type { Wire } from "../exchange/wire.ts";

/**
 * A session of revisions 2025-03-26 to 2025-11-25. It has no id when the server uses none. Replaced when it expires.
 */
export interface LegacySession {
  readonly id: string | undefined;
  /** How it was asked for. */
  readonly rung: Rung;
  readonly peer: Peer;
  /** Headers of every POST in this session. */
  readonly postHeaders: readonly string[];
  /** Headers of every GET and DELETE in this session. */
  readonly streamHeaders: readonly string[];
}

/** What came of `initialize`. */
export type LegacyOpening = { readonly kind: "open"; readonly session: LegacySession } | Refused;

/** The server refused `initialize`. `status` is 200 for a JSON-RPC error, whose code is `code`. */
export interface Refused extends StepFailure {
  readonly kind: "refused";
  readonly status: number;
  readonly code: number | undefined;
  /** Whether an HTTP refusal is an answer of the program, and not the page of a proxy or framework. */
  readonly isJson: boolean;
  readonly failure: GatewayError;
}

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
  rung: Rung,
  signal: AbortSignal,
): Promise<LegacyOpening> {
  const { server, headers } = wire.address;
  const params = asciiJson(initializeParams(identity, rung, wire.roots));
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
    const { head, body } = outcome.refusal;
    const failure = failureOfRefusal(server, outcome.refusal);
    if (failure.code !== "UPSTREAM_HTTP") throw failure;
    const error = rpcErrorOf(body, wire.limits.depth);
    const why = error === undefined ? `HTTP ${head.status}` : initializeRefusal(server, error.bytes).why;
    const text = body.toString("utf8", 0, longestRefusal);
    const isJson = head.get("content-type")?.toLowerCase().includes("json") ?? false;
    return { kind: "refused", status: head.status, code: error?.code, isJson, failure, why, text };
  }
  const { status } = outcome.head;
  if (outcome.kind === "empty") {
    throw new GatewayError(
      "UPSTREAM_PROTOCOL",
      `${server} answered initialize with HTTP ${status} and no JSON-RPC message`,
    );
  }
  if (outcome.answer.kind === "error") {
    const { code } = parseErrorObject(outcome.answer.error);
    return { kind: "refused", status, code, isJson: true, ...initializeRefusal(server, outcome.answer.error) };
  }
  const peer = peerFromInitialize(server, outcome.answer.result, rung, wire.knownHandshake);
  if ("why" in peer) return { kind: "refused", status, code: undefined, isJson: true, ...peer };
  const session = sessionOf(wire, rung, peer, readSessionId(server, outcome.head));
  await postInSession(wire, session, writeNotification("notifications/initialized", {}), signal);
  return { kind: "open", session };
}

/** Of a refusal's body, the part in which revisions are looked for. */
const longestRefusal = 8_192;

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
    // The server has ended or does not answer; its session will expire.
  }
}

const bothTypes = ["accept", "application/json, text/event-stream", "accept-encoding", "identity"];
const postHeaders: readonly string[] = ["content-type", "application/json", ...bothTypes];
const streamHeaders: readonly string[] = ["accept", "text/event-stream", "accept-encoding", "identity"];

function sessionOf(wire: Wire, rung: Rung, peer: Peer, id: string | undefined): LegacySession {
  const own = ["mcp-protocol-version", peer.revision];
  if (id !== undefined) own.push("mcp-session-id", id);
  const { headers } = wire.address;
  return {
    id,
    rung,
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
