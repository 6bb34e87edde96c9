import type { Readable, Writable } from "node:stream";
import { GatewayError } from "../shared/gateway-error.ts";
import { abortReason } from "../shared/abort.ts";
import type { StdioTransport } from "../config/config.ts";
import { scanElements } from "../protocol/json-scan.ts";
import { eraOfRevision, modernRevision } from "../protocol/revisions.ts";
import type { Era } from "../shared/call-context.ts";
import { toJsonBytes } from "../shared/json-bytes.ts";
import { largeBytes } from "../shared/large-buffers.ts";
import type { Closed, Connection, Peer, Reply, UpstreamRequest } from "./connection.ts";
import type { ConnectOptions } from "./connect.ts";
import { createDialect, encodeNotification, encodeRequest, type Dialect } from "./encode.ts";
import {
  bridgedCapabilities,
  initializeParams,
  isModernError,
  peerFromDiscover,
  peerFromInitialize,
  supportedIn,
} from "./handshake.ts";
import { readInbound } from "./inbound.ts";
import { createLineSplitter } from "./line-splitter.ts";
import { createRequestTable, parseErrorObject, type RequestTable } from "./request-table.ts";

/** The running process behind a stdio connection, as `process/` makes it. */
export interface ServerProcess {
  readonly pid: number;
  readonly stdin: Writable;
  readonly stdout: Readable;
  /** The last lines of stderr, oldest first. */
  stderrTail(): readonly string[];
  /** Settles when the server itself has exited, whatever its descendants do. */
  readonly exited: Promise<{ readonly code: number | null; readonly signal: string | null }>;
  /** Ends the whole tree: stdin closed, SIGTERM, after `timeoutMs` SIGKILL. Settles when nothing is left. */
  stop(timeoutMs: number): Promise<void>;
}

export type SpawnServer = (
  transport: StdioTransport,
  onStderr: (line: string) => void,
  signal: AbortSignal,
) => Promise<ServerProcess>;

/**
 * A probe that is not answered is no proof: servers take their time to start. `initialize` is sent after this long all the same;
 * a legacy server that ignores unknown requests then answers it, a modern one has its answer to the probe still to come.
 */
const probePatienceMs = 5_000;

/** Starts the server and finds out what it speaks, in the same process (2026-07-28, stdio, backward compatibility). */
export async function connectStdio(
  options: ConnectOptions<StdioTransport>,
  spawn: SpawnServer,
  signal: AbortSignal,
): Promise<Connection & { readonly pid: number }> {
  const child = await spawn(options.transport, options.events.onStderr, signal);
  const link = createLink(options, child);
  const giveUp = () => void link.end({ kind: "asked" }, 0);
  signal.addEventListener("abort", giveUp, { once: true });
  try {
    const peer = await shakeHands(options, link, signal);
    return toConnection(options, child, link, peer);
  } catch (error) {
    await link.end({ kind: "asked" }, 0);
    if (signal.aborted) throw abortReason(signal);
    throw error;
  } finally {
    signal.removeEventListener("abort", giveUp);
  }
}

interface Link {
  dialect: Dialect;
  readonly table: RequestTable;
  readonly closed: Promise<Closed>;
  readonly ended: () => Closed | undefined;
  readonly lastActivityMs: () => number;
  write(text: string): void;
  request(request: UpstreamRequest): Promise<Reply>;
  end(why: Closed, stopTimeoutMs: number): Promise<void>;
}

function createLink(options: ConnectOptions<StdioTransport>, child: ServerProcess): Link {
  let lastActivityMs = performance.now();
  let lastHeardMs = lastActivityMs;
  let checkingLife = false;
  let ended: Closed | undefined;
  let settleClosed: (closed: Closed) => void;
  const closed = new Promise<Closed>((resolve) => (settleClosed = resolve));
  const outbox = createOutbox(
    child.stdin,
    options.limits.sendQueueBytes,
    options.server,
    () => link.table.size > soloCalls,
  );

  const link: Link = {
    dialect: createDialect("modern", modernRevision, options.identity, bridgedCapabilities),
    table: createRequestTable({
      server: options.server,
      events: options.events,
      send: (text) => {
        if (ended === undefined) outbox.push(text, true);
      },
      questionsAllowed: () => link.dialect.era === "legacy",
      onTimeout: (request) => void checkLife(Math.min(request.timeoutMs, lifeSignMs)),
    }),
    closed,
    ended: () => ended,
    lastActivityMs: () => lastActivityMs,
    write(text) {
      if (ended !== undefined) throw endedError(options.server, ended);
      lastActivityMs = performance.now();
      outbox.push(text, false);
    },
    request: (request) =>
      link.table.open(request, (id) => {
        link.write(encodeRequest(id, request, link.dialect));
        request.onSent?.();
      }),
    async end(why, stopTimeoutMs) {
      finish(why);
      await child.stop(stopTimeoutMs);
    },
  };

  function finish(why: Closed): void {
    if (ended !== undefined) return;
    ended = why;
    outbox.close();
    link.table.failAll(() => endedError(options.server, why));
    settleClosed(why);
  }

  /** A server that is stopped or stuck would make every further call wait for its deadline: it is ended (FAULTS.md 80). */
  async function checkLife(patienceMs: number): Promise<void> {
    if (checkingLife || ended !== undefined) return;
    checkingLife = true;
    const sinceMs = performance.now();
    const method = link.dialect.era === "legacy" ? "ping" : "server/discover";
    await link
      .request({
        method,
        params: [],
        signal: new AbortController().signal,
        timeoutMs: patienceMs,
        maxTimeoutMs: patienceMs,
      })
      .catch(() => undefined);
    checkingLife = false;
    if (lastHeardMs >= sinceMs || ended !== undefined) return;
    finish({ kind: "lost", reason: `${options.server} does not answer anything any more, not even ${method}` });
    await child.stop(0);
  }

  const splitter = createLineSplitter(
    options.limits.messageBytes,
    (line) => {
      lastActivityMs = performance.now();
      lastHeardMs = lastActivityMs;
      if (line[0] === openBracket) {
        receiveBatch(line);
        return;
      }
      if (line.length >= largeBytes) options.memory.adopt(line);
      link.table.receive(readInbound(line, options.limits.depth));
    },
    () => {
      finish({
        kind: "lost",
        reason: `${options.server} sent a line longer than ${options.limits.messageBytes} bytes`,
      });
      void child.stop(0);
    },
    options.memory,
  );

  /** Servers of revision 2025-03-26 may answer several requests in one array. */
  function receiveBatch(line: Buffer): void {
    try {
      for (const { start, end } of scanElements(line, 0, line.length, options.limits.depth, mostBatched).slice(
        0,
        mostBatched,
      )) {
        link.table.receive(readInbound(line.subarray(start, end), options.limits.depth));
      }
    } catch {
      options.events.onOddity("not-json", "an array that is no JSON");
    }
  }

  child.stdout.on("data", (chunk: Buffer) => splitter(chunk));
  child.stdout.on("error", () => undefined);
  child.stdout.on("end", () => {
    // A server that closes stdout and lives on can never answer again: it counts as dead (FAULTS.md 83). One that is exiting
    // says how in the next moment, which is the better reason.
    setTimeout(() => {
      finish({ kind: "lost", reason: `${options.server} closed its output` });
      void child.stop(0);
    }, outputGraceMs).unref();
  });
  void child.exited.then(({ code, signal }) => finish({ kind: "exited", code, signal, stderr: child.stderrTail() }));
  return link;
}

const outputGraceMs = 50;
/** After a call that was not answered in time, any message within this long proves that the server lives. */
const lifeSignMs = 10_000;
const openBracket = 0x5b;
/** Most messages taken from one array. */
const mostBatched = 100;

/** With more calls than this in flight, waiting a turn for others to join pays. */
const soloCalls = 4;

/**
 * Under load the writes of one turn of the event loop leave in one write; a call that is alone leaves at once. A server that does not read fills the queue up to a limit; beyond
 * it requests fail and memory stays flat (FAULTS.md 79).
 */
function createOutbox(
  stdin: Writable,
  limitBytes: number,
  server: string,
  isBusy: () => boolean,
): { push(text: string, must: boolean): void; close(): void } {
  let pending = "";
  let scheduled = false;
  let closed = false;

  function flush(): void {
    scheduled = false;
    const text = pending;
    pending = "";
    if (!closed && text !== "") stdin.write(text, "latin1");
  }

  stdin.on("error", () => {
    closed = true; // EPIPE: the exit tells the reason.
  });
  return {
    push(text, must) {
      if (!must && stdin.writableLength + pending.length > limitBytes) {
        throw new GatewayError("UPSTREAM_BUSY", `${server} does not read its input: ${limitBytes} bytes are waiting`);
      }
      pending += `${text}\n`;
      if (scheduled) return;
      if (!isBusy()) {
        flush();
        return;
      }
      scheduled = true;
      setImmediate(flush);
    },
    close() {
      flush();
      closed = true;
    },
  };
}

function endedError(server: string, why: Closed): GatewayError {
  switch (why.kind) {
    case "asked":
      return new GatewayError("UPSTREAM_CLOSED", `${server} was stopped`);
    case "lost":
      return new GatewayError("UPSTREAM_CLOSED", why.reason);
    case "exited": {
      const how = why.signal === null ? `exited with code ${why.code}` : `was ended by ${why.signal}`;
      return new GatewayError("UPSTREAM_CLOSED", `${server} ${how}`, {
        data: { exitCode: why.code, signal: why.signal, stderr: why.stderr },
      });
    }
  }
}

async function shakeHands(options: ConnectOptions<StdioTransport>, link: Link, signal: AbortSignal): Promise<Peer> {
  const known = options.knownEras;
  if (known !== undefined && !known.includes("modern")) return await initialize(options, link, signal);
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
  const params = Object.entries(initializeParams(options.identity)).map(
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
  link.dialect = createDialect("legacy", peer.revision, options.identity, bridgedCapabilities);
  link.write(encodeNotification("notifications/initialized", {}));
  return peer;
}

/** The caller's signal holds the start deadline; the table's own timers must not end the handshake before it. */
function handshakeRequest(method: string, signal: AbortSignal): UpstreamRequest {
  return { method, params: [], signal, timeoutMs: handshakeTimeoutMs, maxTimeoutMs: handshakeTimeoutMs };
}

const handshakeTimeoutMs = 600_000;

function toConnection(
  options: ConnectOptions<StdioTransport>,
  child: ServerProcess,
  link: Link,
  peer: Peer,
): Connection & { readonly pid: number } {
  const eras: readonly Era[] = [peer.era];
  return {
    pid: child.pid,
    // One process is in one era: an `initialize` scopes legacy semantics to it, so the other era would need a second process.
    peer: { ...peer, eras },
    request: link.request,
    async notify(method, params) {
      link.write(encodeNotification(method, params));
    },
    closed: link.closed,
    get inFlight() {
      return link.table.size;
    },
    get lastActivityMs() {
      return link.lastActivityMs();
    },
    async [Symbol.asyncDispose]() {
      await link.end({ kind: "asked" }, options.limits.stopTimeoutMs);
    },
  };
}
