import { writeNotification } from "../../../wire/mcp/envelope.ts";
import { abortReason } from "../../../kernel/runtime/abort.ts";
import type { StdioTransport } from "../../../config/config.ts";
import type { Era } from "../../../kernel/call/call-context.ts";
import type { Connection, Peer, UpstreamRequest } from "../connection.ts";
import type { ConnectOptions } from "../connect.ts";
import { createLadder, type Ladder, type StepFailure } from "../ladder.ts";
import { createLink, type Link } from "./link.ts";
import type { ServerProcess, SpawnServer } from "./server-process.ts";
import { toGatewayError } from "../../../kernel/failures/gateway-error.ts";
import { toJsonBytes } from "../../../kernel/text/json-bytes.ts";
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

/** Often enough for the shortest deadline that can be configured. */
const lookMs = 500;
/**
 * Limits per look. A process that only waits (timers, garbage collection) stays below them; one that installs or
 * computes is far above.
 */
const leastCpuMs = 20;
const leastIoBytes = 1_024;

/**
 * Calls `onWork` whenever the process or its descendants show signs of work: they used the processor, read or wrote,
 * or processes began or ended. Where the system shows none of that, it never calls, and only output counts. Returns
 * the function that stops it.
 */
function watchWork(child: Pick<ServerProcess, "work">, onWork: () => void): () => void {
  let before = child.work();
  if (before === undefined) return () => undefined;
  const timer = setInterval(() => {
    const now = child.work();
    if (now === undefined) return;
    const isSame = before !== undefined && now.pids.join() === before.pids.join();
    const cpuMs = now.cpuMs - (before?.cpuMs ?? 0);
    const ioBytes = now.ioBytes - (before?.ioBytes ?? 0);
    before = now;
    if (!isSame || cpuMs >= leastCpuMs || ioBytes >= leastIoBytes) onWork();
  }, lookMs);
  timer.unref();
  return () => clearInterval(timer);
}

/**
 * Starts the server and finds out which era it speaks, in the same process (2026-07-28, stdio, backward
 * compatibility). A server that ends at a request that it does not expect is started once more, for the next step.
 */
export async function connectStdio(
  options: ConnectOptions<StdioTransport>,
  spawn: SpawnServer,
  signal: AbortSignal,
): Promise<Connection & { readonly pid: number }> {
  const ladder = createLadder(options);
  for (;;) {
    try {
      return await connectOnce(options, spawn, ladder, signal);
    } catch (error) {
      if (signal.aborted || !ladder.mayStartAgain()) throw error;
    }
  }
}

async function connectOnce(
  options: ConnectOptions<StdioTransport>,
  spawn: SpawnServer,
  ladder: Ladder,
  signal: AbortSignal,
): Promise<Connection & { readonly pid: number }> {
  const { events, onWork, giveUpMs = 0 } = options;
  let noteOutput = onWork;
  const onStderr = (line: string): void => {
    noteOutput?.();
    events.onStderr(line);
  };
  const { instance = options.server, transport } = options;
  const child = await spawn(transport, { instance, onStderr, events }, signal);
  const endWatch = onWork === undefined ? undefined : watchWork(child, onWork);
  const link = createLink(options, child);
  const giveUp = () => void link.end({ kind: "asked" }, giveUpMs, true);
  signal.addEventListener("abort", giveUp, { once: true });
  try {
    const peer = await shakeHands(options, link, ladder, signal);
    return toConnection(options, child, link, peer);
  } catch (error) {
    await link.end({ kind: "asked" }, giveUpMs, true);
    if (signal.aborted) throw abortReason(signal);
    throw error;
  } finally {
    endWatch?.();
    noteOutput = undefined;
    signal.removeEventListener("abort", giveUp);
  }
}

function toConnection(
  options: ConnectOptions<StdioTransport>,
  child: ServerProcess,
  link: Link,
  peer: Peer,
): Connection & { readonly pid: number } {
  const eras: readonly Era[] = [peer.era];
  return {
    pid: child.pid,
    // One process has one era: after `initialize` it behaves as legacy, so the other era would need a second process.
    peer: { ...peer, eras },
    request: link.request,
    async notify(method, params) {
      link.write(writeNotification(method, params));
    },
    closed: link.closed,
    kill: () => void link.end({ kind: "asked" }, 0),
    get inFlight() {
      return link.table.size;
    },
    pending: () => link.table.pending(),
    get lastActivityMs() {
      return link.lastActivityMs();
    },
    async [Symbol.asyncDispose]() {
      await link.end({ kind: "asked" }, options.limits.stopTimeoutMs);
    },
  };
}

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
async function shakeHands(
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
