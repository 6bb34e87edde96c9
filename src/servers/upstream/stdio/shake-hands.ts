import { writeNotification } from "../../../wire/mcp/envelope.ts";
import type { StdioTransport } from "../../../config/config.ts";
import { abortReason } from "../../../kernel/runtime/abort.ts";
import { toGatewayError } from "../../../kernel/failures/gateway-error.ts";
import { toJsonBytes } from "../../../kernel/text/json-bytes.ts";
import type { Peer, UpstreamRequest } from "../connection.ts";
import type { ConnectOptions } from "../connect.ts";
import { createDialect } from "../messages/encode.ts";
import { modernRevision } from "../../../wire/mcp/revisions.ts";
import { capabilitiesOf, firstRung, type Rung } from "../declared-capabilities.ts";
import {
  initializeParams,
  initializeRefusal,
  peerFromDiscover,
  peerFromInitialize,
  probeRefusal,
} from "../handshake.ts";
import type { Ladder, StepFailure } from "../ladder.ts";
import type { Link } from "./link.ts";

/**
 * How long to wait for the answer to the probe. No answer proves nothing, because a server may take time to start;
 * `initialize` is then sent in addition. A legacy server that ignores unknown requests answers that one, and a modern
 * one still answers the probe.
 */
const probePatienceMs = 5_000;

/**
 * Finds out which era and revision the server speaks, in the order of `ladder`, and sets `link.dialect` to it. Throws
 * UPSTREAM_PROTOCOL when there is none in common, and UPSTREAM_CLOSED when the process ended.
 */
export async function shakeHands(
  options: ConnectOptions<StdioTransport>,
  link: Link,
  ladder: Ladder,
  signal: AbortSignal,
): Promise<Peer> {
  let late: Promise<Peer> | undefined;
  for (let step = ladder.next(); step !== undefined; step = ladder.next()) {
    try {
      if (step.kind === "initialize") {
        const peer = await firstOf(initialize(options, link, step.rung, signal), late);
        if (!("why" in peer)) return peer;
        ladder.refused(peer);
        continue;
      }
      const probe = discover(options, link, signal);
      const answer = await Promise.race([probe, patience(signal)]);
      if (answer === undefined) {
        ladder.refused({ why: `no answer within ${probePatienceMs / 1_000} s` });
        late = probe.then((found) => ("why" in found ? new Promise<never>(() => undefined) : found));
        late.catch(() => undefined);
      } else if (!("why" in answer)) return answer;
      else ladder.refused(answer);
    } catch (error) {
      if (!signal.aborted && link.ended() !== undefined)
        ladder.refused({ ...endOf(error), hasEnded: true, isUntried: late !== undefined });
      throw error;
    }
  }
  throw ladder.failure();
}

/** The outcome of `initialize`, unless the answer to a probe that was sent before still comes first. */
async function firstOf(outcome: Promise<Peer | StepFailure>, late: Promise<Peer> | undefined) {
  if (late === undefined) return await outcome;
  outcome.catch(() => undefined);
  return await Promise.race([outcome, late]);
}

function endOf(error: unknown): StepFailure {
  const failure = toGatewayError(error);
  return { why: failure.message, failure };
}

/** Resolves when the probe has had its time. */
async function patience(signal: AbortSignal): Promise<undefined> {
  return await new Promise((resolve, reject) => {
    const giveUp = () => {
      clearTimeout(timer);
      reject(abortReason(signal));
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", giveUp);
      resolve(undefined);
    }, probePatienceMs);
    timer.unref();
    signal.addEventListener("abort", giveUp, { once: true });
  });
}

async function discover(
  { server, identity, roots }: ConnectOptions<StdioTransport>,
  link: Link,
  signal: AbortSignal,
): Promise<Peer | StepFailure> {
  const modern = createDialect("modern", modernRevision, identity, capabilitiesOf(firstRung, roots !== undefined));
  link.dialect = modern;
  const reply = await link.request(handshakeRequest("server/discover", signal));
  if (reply.kind === "error") return probeRefusal(server, reply.error);
  const peer = peerFromDiscover(reply.result);
  if (peer === undefined) return { why: "answered without supportedVersions" };
  link.dialect = modern;
  return peer;
}

async function initialize(
  options: ConnectOptions<StdioTransport>,
  link: Link,
  rung: Rung,
  signal: AbortSignal,
): Promise<Peer | StepFailure> {
  const { server, identity, roots } = options;
  const capabilities = capabilitiesOf(rung, roots !== undefined);
  link.dialect = createDialect("legacy", rung.revision, identity, capabilities);
  const params = Object.entries(initializeParams(identity, rung, roots)).map(
    ([key, value]) => [key, toJsonBytes(value)] as const,
  );
  const reply = await link.request({ ...handshakeRequest("initialize", signal), params });
  if (reply.kind === "error") return initializeRefusal(server, reply.error);
  const peer = peerFromInitialize(server, reply.result, rung, options.knownHandshake);
  if ("why" in peer) return peer;
  link.dialect = createDialect("legacy", peer.revision, identity, capabilities);
  link.write(writeNotification("notifications/initialized", {}));
  return peer;
}

/** The caller's signal has the start deadline; the timers of the table must not end the handshake before it. */
function handshakeRequest(method: string, signal: AbortSignal): UpstreamRequest {
  return { method, params: [], signal, timeoutMs: handshakeTimeoutMs, maxTimeoutMs: handshakeTimeoutMs };
}

/** Longer than any install may take. */
const handshakeTimeoutMs = 86_400_000;
