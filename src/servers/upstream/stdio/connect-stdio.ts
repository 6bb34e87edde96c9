import { writeNotification } from "../../../wire/mcp/envelope.ts";
import { abortReason } from "../../../kernel/runtime/abort.ts";
import type { StdioTransport } from "../../../config/config.ts";
import type { Era } from "../../../kernel/call/call-context.ts";
import type { Connection, Peer } from "../connection.ts";
import type { ConnectOptions } from "../connect.ts";
import { createLadder, type Ladder } from "../ladder.ts";
import { createLink, type Link } from "./link.ts";
import type { ServerProcess, SpawnServer } from "./server-process.ts";
import { shakeHands } from "./shake-hands.ts";

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
