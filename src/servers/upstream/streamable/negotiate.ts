import { rpcCodes } from "../../../wire/mcp/rpc-codes.ts";
import type { Era } from "../../../kernel/call-context.ts";
import { GatewayError } from "../../../kernel/gateway-error.ts";
import { eraOfRevision, modernRevision } from "../../../wire/mcp/revisions.ts";
import type { Peer, UpstreamRequest } from "../connection.ts";
import { encodeRequest, type GatewayIdentity } from "../encode.ts";
import { isModernError, peerFromDiscover, supportedIn } from "../handshake.ts";
import { parseErrorObject } from "../../../wire/mcp/error-object.ts";
import { exchangeOnce, type ExchangeOutcome } from "./exchange-once.ts";
import { openLegacySession, type LegacyOpening, type LegacySession } from "./legacy-session.ts";
import { createModernHeaders, modernDialect } from "./modern-channel.ts";
import { failureOfRefusal, rpcErrorOf } from "./refusal.ts";
import type { Wire } from "./wire.ts";

/** What negotiation found out. */
export type Negotiated =
  | { readonly kind: "modern"; readonly peer: Peer }
  | { readonly kind: "legacy"; readonly session: LegacySession }
  /** Neither era, so only the old HTTP+SSE transport is left to try. If that fails too, `failure` is thrown. */
  | { readonly kind: "neither"; readonly failure: GatewayError };

/**
 * Finds out which era a server speaks (2026-07-28, streamable-http and versioning, backward compatibility). Nothing
 * depends on a single error code: whatever is not a modern answer to `server/discover` leads to `initialize`, and a
 * 4xx to that suggests HTTP+SSE. Rejects with SERVER_NEEDS_LOGIN, CONNECT_FAILED and similar failures when the server
 * was not reached at all.
 */
export async function negotiate(
  wire: Wire,
  identity: GatewayIdentity,
  knownEras: readonly Era[] | undefined,
  signal: AbortSignal,
): Promise<Negotiated> {
  if (knownEras !== undefined && knownEras.length > 0 && !knownEras.includes("modern")) {
    const opening = await openLegacySession(wire, identity, signal);
    if (opening.kind === "open") return { kind: "legacy", session: opening.session };
    // The server used to be legacy and no longer is, so it is asked which revisions it supports.
    const peer = await discover(wire, identity, signal);
    return peer === undefined ? neither(opening) : { kind: "modern", peer };
  }
  const peer = await discover(wire, identity, signal);
  if (peer !== undefined) return { kind: "modern", peer };
  const opening = await openLegacySession(wire, identity, signal);
  return opening.kind === "open" ? { kind: "legacy", session: opening.session } : neither(opening);
}

function neither(opening: Extract<LegacyOpening, { kind: "refused" }>): Negotiated {
  const isModern = opening.code !== undefined && isModernError(opening.code);
  if (isModern || opening.status < 400 || opening.status >= 500) throw opening.failure;
  return { kind: "neither", failure: opening.failure };
}

/** Failures of `server/discover` that a legacy server may cause; any other means that no server was reached. */
const inconclusive: ReadonlySet<string> = new Set([
  "UPSTREAM_TIMEOUT",
  "UPSTREAM_CLOSED",
  "UPSTREAM_PROTOCOL",
  "RESULT_TOO_LARGE",
]);

/** Asks the server as a modern one. Resolves to undefined when it is not. */
export async function discover(wire: Wire, identity: GatewayIdentity, signal: AbortSignal): Promise<Peer | undefined> {
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
    if (error instanceof GatewayError && inconclusive.has(error.code) && !signal.aborted) return undefined;
    throw error;
  }
  return peerFromOutcome(wire, outcome);
}

function peerFromOutcome(wire: Wire, outcome: ExchangeOutcome): Peer | undefined {
  const { server } = wire.address;
  switch (outcome.kind) {
    case "empty":
      return undefined;
    case "answer":
      if (outcome.answer.kind === "result") return peerFromDiscover(outcome.answer.result);
      refuseModernError(server, outcome.answer.error);
      return undefined;
    case "refused": {
      const failure = failureOfRefusal(server, outcome.refusal);
      if (failure.code !== "UPSTREAM_HTTP" || outcome.refusal.head.status === 403) throw failure;
      const error = rpcErrorOf(outcome.refusal.body, wire.limits.depth);
      if (error !== undefined) refuseModernError(server, error.bytes);
      return undefined;
    }
  }
}

/**
 * A modern server without a revision in common is not a legacy one, unless it says that it also speaks a legacy
 * revision. Throws UPSTREAM_PROTOCOL for the first kind.
 */
function refuseModernError(server: string, bytes: Buffer): void {
  const { code, data } = parseErrorObject(bytes);
  if (!isModernError(code)) return;
  const supported = supportedIn(data);
  if (supported.some((version) => eraOfRevision(version) === "legacy")) return;
  throw new GatewayError("UPSTREAM_PROTOCOL", `${server} refused server/discover with error ${code}`, {
    data: { code, supported: supported.slice(0, 20).map((version) => version.slice(0, 40)) },
  });
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
