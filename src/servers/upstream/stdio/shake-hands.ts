import { writeNotification } from "../../../wire/mcp/envelope.ts";
import type { StdioTransport } from "../../../config/config.ts";
import { eraOfRevision } from "../../../wire/mcp/revisions.ts";
import { abortReason } from "../../../kernel/abort.ts";
import { GatewayError } from "../../../kernel/gateway-error.ts";
import { toJsonBytes } from "../../../kernel/json-bytes.ts";
import type { Peer, UpstreamRequest } from "../connection.ts";
import type { ConnectOptions } from "../connect.ts";
import { createDialect } from "../encode.ts";
import {
  declaredCapabilities,
  initializeParams,
  isModernError,
  peerFromDiscover,
  peerFromInitialize,
  supportedIn,
} from "../handshake.ts";
import { parseErrorObject } from "../../../wire/mcp/error-object.ts";
import type { Link } from "./link.ts";

/**
 * How long to wait for the answer to the probe. No answer proves nothing, because a server may take time to start;
 * `initialize` is then sent in addition. A legacy server that ignores unknown requests answers that one, and a modern
 * one still answers the probe.
 */
const probePatienceMs = 5_000;

/**
 * Finds out which era the server speaks, and sets `link.dialect` to it. Throws UPSTREAM_PROTOCOL when there is no
 * revision in common.
 */
export async function shakeHands(
  options: ConnectOptions<StdioTransport>,
  link: Link,
  signal: AbortSignal,
): Promise<Peer> {
  const known = options.knownEras;
  if (known !== undefined && !known.includes("modern")) return await reinitialize(options, link, signal);
  const probe = discover(link, signal);
  const first = await Promise.race([probe, patience(signal)]);
  if (first === "silent") {
    const legacy = initialize(options, link, signal);
    legacy.catch(() => undefined);
    const late = await Promise.race([probe, legacy.then(() => "initialized" as const)]);
    if (late !== "legacy" && late !== "initialized") {
      link.dialect = { ...link.dialect, era: "modern" };
      return late;
    }
    return await legacy;
  }
  return first === "legacy" ? await initialize(options, link, signal) : first;
}

/**
 * Begins with `initialize`, because the server was legacy when it was last seen. The program behind the command may
 * have been replaced since, so a refusal leads to `server/discover`.
 */
async function reinitialize(options: ConnectOptions<StdioTransport>, link: Link, signal: AbortSignal): Promise<Peer> {
  const { dialect } = link;
  try {
    return await initialize(options, link, signal);
  } catch (error) {
    if (!(error instanceof GatewayError) || error.code !== "UPSTREAM_PROTOCOL") throw error;
    link.dialect = dialect;
    const peer = await discover(link, signal);
    if (peer === "legacy") throw error;
    return peer;
  }
}

async function patience(signal: AbortSignal): Promise<"silent"> {
  return await new Promise((resolve, reject) => {
    const giveUp = () => {
      clearTimeout(timer);
      reject(abortReason(signal));
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", giveUp);
      resolve("silent");
    }, probePatienceMs);
    timer.unref();
    signal.addEventListener("abort", giveUp, { once: true });
  });
}

async function discover(link: Link, signal: AbortSignal): Promise<Peer | "legacy"> {
  const reply = await link.request(handshakeRequest("server/discover", signal));
  if (reply.kind === "result") return peerFromDiscover(reply.result) ?? "legacy";
  const error = parseErrorObject(reply.error);
  if (!isModernError(error.code) || supportedIn(error.data).some((version) => eraOfRevision(version) === "legacy"))
    return "legacy";
  throw new GatewayError(
    "UPSTREAM_PROTOCOL",
    `the server speaks no revision that the gateway knows: ${error.message.slice(0, 200)}`,
  );
}

async function initialize(options: ConnectOptions<StdioTransport>, link: Link, signal: AbortSignal): Promise<Peer> {
  link.dialect = { ...link.dialect, era: "legacy" };
  const capabilities = declaredCapabilities(options.roots);
  const params = Object.entries(initializeParams(options.identity, capabilities)).map(
    ([key, value]) => [key, toJsonBytes(value)] as const,
  );
  const reply = await link.request({ ...handshakeRequest("initialize", signal), params });
  if (reply.kind === "error") {
    const error = parseErrorObject(reply.error);
    throw new GatewayError(
      "UPSTREAM_PROTOCOL",
      `${options.server} refused initialize: ${error.message.slice(0, 200)} (${error.code})`,
    );
  }
  const peer = peerFromInitialize(options.server, reply.result);
  link.dialect = createDialect("legacy", peer.revision, options.identity, capabilities);
  link.write(writeNotification("notifications/initialized", {}));
  return peer;
}

/** The caller's signal has the start deadline; the timers of the table must not end the handshake before it. */
function handshakeRequest(method: string, signal: AbortSignal): UpstreamRequest {
  return { method, params: [], signal, timeoutMs: handshakeTimeoutMs, maxTimeoutMs: handshakeTimeoutMs };
}

/** Longer than any install may take. */
const handshakeTimeoutMs = 86_400_000;
