import { rpcCodes, parseErrorObject } from "../../../wire/mcp/error-object.ts";
import { GatewayError } from "../../../kernel/failures/gateway-error.ts";
import { isJsonObject } from "../../../kernel/text/json-bytes.ts";
import { modernRevision } from "../../../wire/mcp/revisions.ts";
import type { Peer, UpstreamRequest } from "../connection.ts";
import { encodeRequest, type GatewayIdentity } from "../messages/encode.ts";
import { isModernError, peerFromDiscover, probeRefusal, supportedIn } from "../handshake.ts";
import type { Ladder, StepFailure } from "../ladder.ts";
import { exchangeOnce, type ExchangeOutcome } from "./exchange/exchange-once.ts";
import { openLegacySession, type LegacySession, type Refused } from "./legacy/legacy-session.ts";
import { createModernHeaders, modernDialect } from "./modern-channel.ts";
import { failureOfRefusal, rpcErrorOf } from "./exchange/refusal.ts";
import type { Wire } from "./exchange/wire.ts";

/** What negotiation found out. */
export type Negotiated =
  | { readonly kind: "modern"; readonly peer: Peer }
  | { readonly kind: "legacy"; readonly session: LegacySession }
  /**
   * Neither era, so the old HTTP+SSE transport is tried. If that fails too, `final` is thrown; where it is undefined,
   * the negotiation goes on.
   */
  | { readonly kind: "neither"; readonly final: GatewayError | undefined };

/**
 * Finds out which era and revision a server speaks (2026-07-28, streamable-http and versioning, backward
 * compatibility), in the order of `ladder`: whatever is not a modern answer to `server/discover` leads to
 * `initialize`. A refusal that is not about what `initialize` says suggests HTTP+SSE; call again when that is not
 * there either. Rejects with SERVER_NEEDS_LOGIN, CONNECT_FAILED and similar failures when the server was not reached
 * at all.
 */
export async function negotiate(
  wire: Wire,
  identity: GatewayIdentity,
  ladder: Ladder,
  signal: AbortSignal,
): Promise<Negotiated> {
  let last: Refused | undefined;
  for (let step = ladder.next(); step !== undefined; step = ladder.next()) {
    if (step.kind === "probe") {
      const peer = await discover(wire, identity, signal);
      if (!("why" in peer)) return { kind: "modern", peer };
      ladder.refused(peer);
      continue;
    }
    const opening = await openLegacySession(wire, identity, step.rung, signal);
    if (opening.kind === "open") return { kind: "legacy", session: opening.session };
    ladder.refused(opening);
    last = opening;
    // What was legacy may be modern now, and is asked which revisions it knows.
    if (isModern(opening) && ladder.mayProbe) continue;
    if (!isAboutContent(opening)) return neither(opening, opening.failure);
    // A status alone may as well mean that there is no endpoint for this transport.
    if (opening.code === undefined && opening.status >= 400 && !ladder.hasNames) return neither(opening);
  }
  if (last === undefined) throw ladder.failure();
  return neither(last, ladder.failure());
}

/** Refusals of `initialize` (HTTP) after which another shape of it may be accepted. */
const worthAnotherStep: ReadonlySet<number> = new Set([200, 400, 422]);

/** Whether a refusal of `initialize` is about what it says, and not about the server or the way to it. */
function isAboutContent({ status, code, isJson }: Refused): boolean {
  if (code === rpcCodes.methodNotFound || (code !== undefined && isModernError(code))) return false;
  return worthAnotherStep.has(status) || (status === 500 && isJson);
}

function isModern({ code }: Refused): boolean {
  return code !== undefined && isModernError(code);
}

/** `final`: thrown when the server does not speak HTTP+SSE either; undefined while there are other steps. */
function neither(opening: Refused, final?: GatewayError): Negotiated {
  const mayBeSse = !isModern(opening) && opening.status >= 400 && opening.status < 500;
  if (final !== undefined && !mayBeSse) throw final;
  return { kind: "neither", final };
}

/** Failures of `server/discover` that a legacy server may cause; any other means that no server was reached. */
const inconclusive: ReadonlySet<string> = new Set([
  "UPSTREAM_TIMEOUT",
  "UPSTREAM_CLOSED",
  "UPSTREAM_PROTOCOL",
  "RESULT_TOO_LARGE",
]);

/** Asks the server as a modern one. Resolves to the reason when it is not. */
export async function discover(
  wire: Wire,
  identity: GatewayIdentity,
  signal: AbortSignal,
): Promise<Peer | StepFailure> {
  const request: UpstreamRequest = {
    method: "server/discover",
    params: [],
    signal,
    timeoutMs: 0,
    maxTimeoutMs: 0,
  };
  const body = encodeRequest(0, request, modernDialect(identity, wire));
  const headers = createModernHeaders(wire.address.headers)(request);
  let outcome: ExchangeOutcome;
  try {
    const ask = async () =>
      await exchangeOnce(wire, { method: "POST", headers, body }, { signal, timeoutMs: wire.tuning.discoverTimeoutMs });
    outcome = await ask();
    if (speaksOurs(wire, outcome)) outcome = await ask();
  } catch (error) {
    if (error instanceof GatewayError && inconclusive.has(error.code) && !signal.aborted) return { why: error.message };
    throw error;
  }
  return peerFromOutcome(wire, outcome);
}

function peerFromOutcome(wire: Wire, outcome: ExchangeOutcome): Peer | StepFailure {
  const { server } = wire.address;
  switch (outcome.kind) {
    case "empty":
      return { why: `HTTP ${outcome.head.status} without an answer` };
    case "answer":
      if (outcome.answer.kind === "error") return probeRefusal(server, outcome.answer.error);
      return peerFromDiscover(outcome.answer.result) ?? { why: "answered without supportedVersions" };
    case "refused": {
      const failure = failureOfRefusal(server, outcome.refusal);
      if (failure.code === "SERVER_NEEDS_LOGIN" ? mustLogIn(wire, failure) : failure.code !== "UPSTREAM_HTTP")
        throw failure;
      const error = rpcErrorOf(outcome.refusal.body, wire.limits.depth);
      return error === undefined ? { why: failure.message } : probeRefusal(server, error.bytes);
    }
  }
}

/**
 * Whether a refused probe proves that a login is needed: it had no credential, and the server says where to get one
 * (RFC 9728). Many servers refuse whatever they do not know with 401 or 403; then `initialize` decides.
 */
function mustLogIn({ address, authorize }: Wire, { data }: GatewayError): boolean {
  const challenge = data?.["challenge"];
  const hasCredential = authorize !== undefined || address.hasConfiguredHeaders;
  return !hasCredential && isJsonObject(challenge) && challenge["resource_metadata"] !== undefined;
}

/**
 * Whether a refusal names the very revision of the request as supported. Then the server expects the request to be
 * repeated (2026-07-28, versioning).
 */
function speaksOurs(wire: Wire, outcome: ExchangeOutcome): boolean {
  const bytes =
    outcome.kind === "refused"
      ? rpcErrorOf(outcome.refusal.body, wire.limits.depth)?.bytes
      : outcome.kind === "answer" && outcome.answer.kind === "error"
        ? outcome.answer.error
        : undefined;
  if (bytes === undefined) return false;
  const { code, data } = parseErrorObject(bytes);
  return code === rpcCodes.unsupportedVersion && supportedIn(data).includes(modernRevision);
}
