import { once } from "node:events";
import type { StdioTransport } from "../../../config/config.ts";
import { modernRevision } from "../../../wire/mcp/revisions.ts";
import { GatewayError } from "../../../kernel/failures/gateway-error.ts";
import type { Closed, Reply, UpstreamRequest } from "../connection.ts";
import type { ConnectOptions } from "../connect.ts";
import { capabilitiesOf, firstRung } from "../declared-capabilities.ts";
import { createDialect, encodeRequest, type Dialect } from "../messages/encode.ts";
import { createRequestTable, type RequestTable } from "../messages/request-table.ts";
import { createBackPressure, type BackPressure } from "../messages/back-pressure.ts";
import type { ServerProcess } from "./server-process.ts";
import type { Writable } from "node:stream";
import { settingNow } from "../../../kernel/text/number-text.ts";
import { largeBytes } from "../../../wire/json/large-buffers.ts";
import { readBatch, readInbound } from "../../../wire/mcp/server-message.ts";
import { createLineSplitter } from "../messages/line-splitter.ts";

/** A process's stdin and stdout as a stream of messages, and the requests that wait for an answer. */
export interface Link {
  dialect: Dialect;
  readonly table: RequestTable;
  readonly closed: Promise<Closed>;
  readonly ended: () => Closed | undefined;
  readonly lastActivityMs: () => number;
  write(text: string): void;
  request(request: UpstreamRequest): Promise<Reply>;
  end(why: Closed, stopTimeoutMs: number, asksTwice?: boolean): Promise<void>;
}

/** A link to a process that has just been started. Requests are written as modern ones until `dialect` is set. */
export function createLink(options: ConnectOptions<StdioTransport>, child: ServerProcess): Link {
  let lastActivityMs = performance.now();
  let lastHeardMs = lastActivityMs;
  let checkingLife = false;
  let ended: Closed | undefined;
  let settleClosed: (closed: Closed) => void;
  const closed = new Promise<Closed>((resolve) => (settleClosed = resolve));
  const strays = createBackPressure();
  const outbox = createOutbox(child.stdin, options, () => link.table.size > soloCalls);

  const link: Link = {
    dialect: firstDialect(options),
    table: createRequestTable({
      server: options.server,
      events: options.events,
      roots: options.roots,
      strays,
      send: (text) => {
        if (ended === undefined && !outbox.offer(text) && strays.mayTell())
          options.events.onOddity("answer-dropped", `${options.server} does not read its input`);
      },
      declared: () => (link.dialect.era === "legacy" ? link.dialect.capabilities : undefined),
      onTimeout: (request) => void checkLife(Math.min(request.timeoutMs, lifeSignMs)),
    }),
    closed,
    ended: () => ended,
    lastActivityMs: () => lastActivityMs,
    write(text) {
      if (ended !== undefined) throw endedError(options.server, ended);
      lastActivityMs = performance.now();
      outbox.push(text);
    },
    request: (request) =>
      link.table.open(request, (id) => {
        link.write(encodeRequest(id, request, link.dialect));
        request.onSent?.();
      }),
    async end(why, stopTimeoutMs, asksTwice) {
      finish(why);
      await child.stop(stopTimeoutMs, asksTwice);
    },
  };

  function finish(why: Closed): void {
    if (ended !== undefined) return;
    ended = why;
    outbox.close();
    link.table.failAll(() => endedError(options.server, why));
    settleClosed(why);
  }

  /** Ends a server that is stopped or stuck: otherwise every further call would wait for its deadline (fault 80). */
  async function checkLife(patienceMs: number): Promise<void> {
    if (checkingLife || ended !== undefined) return;
    checkingLife = true;
    const sinceMs = performance.now();
    const method = link.dialect.era === "legacy" ? "ping" : "server/discover";
    await ask(link, method, patienceMs);
    checkingLife = false;
    if (lastHeardMs >= sinceMs || ended !== undefined) return;
    finish({ kind: "lost", reason: `${options.server} no longer answers anything, not even ${method}` });
    await child.stop(0);
  }

  readOutput(options, child, {
    table: link.table,
    strays,
    onHeard() {
      lastActivityMs = performance.now();
      lastHeardMs = lastActivityMs;
    },
    onEnd(reason) {
      finish({ kind: "lost", reason });
      void child.stop(0);
    },
  });
  void endOf(child, link).then(finish);
  return link;
}

function firstDialect({ identity, roots }: ConnectOptions<StdioTransport>): Dialect {
  return createDialect("modern", modernRevision, identity, capabilitiesOf(firstRung, roots !== undefined));
}

/** Resolves when the process has ended and its last output is read: an answer may still be in the pipe. */
async function endOf(child: ServerProcess, { table }: Link): Promise<Closed> {
  const exit = await child.exited;
  // A descendant may hold the pipe open for ever.
  if (table.size > 0 && !child.stdout.readableEnded)
    await once(child.stdout, "end", { signal: AbortSignal.timeout(lastWordsMs) }).catch(() => undefined);
  return { kind: "exited", ...exit, inFlight: table.pending().length, stderr: child.stderrTail() };
}

const lastWordsMs = 200;

/** After a call was not answered in time, any message within this time proves that the server is alive. */
const lifeSignMs = 10_000;

/** With more calls in flight than this, it pays to wait a turn of the event loop and write several messages at once. */
const soloCalls = 4;

/** Any answer will do, because it proves that the server is alive. */
async function ask(link: Link, method: string, timeoutMs: number): Promise<void> {
  const { signal } = new AbortController();
  await link.request({ method, params: [], signal, timeoutMs, maxTimeoutMs: timeoutMs }).catch(() => undefined);
}

function endedError(server: string, why: Closed): GatewayError {
  switch (why.kind) {
    case "asked":
    case "moved":
      return new GatewayError("UPSTREAM_CLOSED", `${server} was stopped`);
    case "lost":
      return new GatewayError("UPSTREAM_CLOSED", why.reason);
    case "exited": {
      const how = why.signal === null ? `exited with code ${why.code}` : `was killed by ${why.signal}`;
      return new GatewayError("UPSTREAM_CLOSED", `${server} ${how}`, {
        data: { exitCode: why.code, signal: why.signal, stderr: why.stderr },
      });
    }
  }
}

/** Queues lines for a server. */
export interface Outbox {
  /** Queues a line. Throws UPSTREAM_BUSY when the queue is full. */
  push(text: string): void;
  /** Queues a line, and returns false when the queue is full. For messages whose loss cannot be reported. */
  offer(text: string): boolean;
  /** Writes the queued lines, and nothing after them. */
  close(): void;
}

/**
 * A message is a line (2025-11-25, basic/transports, stdio), and the arguments in it are bytes as their client wrote
 * them, perhaps on several lines. Between values a space means the same; within strings JSON has no line breaks.
 */
function onOneLine(text: string): string {
  return text.includes("\n") || text.includes("\r") ? text.replaceAll(/[\n\r]/g, " ") : text;
}

/**
 * Under load (`isBusy`), all lines of one turn of the event loop leave in one write; a single call leaves at once. A
 * server that does not read fills the queue up to `sendQueueBytes`. Beyond that requests fail, so memory stays limited
 * (fault 79).
 */
function createOutbox(
  stdin: Writable,
  { limits: { sendQueueBytes: limitBytes }, server, tap }: ConnectOptions<StdioTransport>,
  isBusy: () => boolean,
): Outbox {
  let pending = "";
  let scheduled = false;
  let closed = false;

  function flush(): void {
    scheduled = false;
    const text = pending;
    pending = "";
    if (!closed && text !== "") stdin.write(text, "latin1");
  }

  function offer(text: string): boolean {
    if (stdin.writableLength + pending.length > limitBytes) return false;
    pending += `${onOneLine(text)}\n`;
    tap?.("out", text);
    if (scheduled) return true;
    if (isBusy()) {
      scheduled = true;
      setImmediate(flush);
    } else flush();
    return true;
  }

  stdin.on("error", () => {
    closed = true; // EPIPE: the exit of the process gives the reason.
  });
  return {
    offer,
    push(text) {
      if (!offer(text))
        throw new GatewayError("UPSTREAM_BUSY", `${server} does not read its input: ${limitBytes} bytes are queued`, {
          hint: `Call again later, or raise ${settingNow("limits.stdinQueueBytes", limitBytes)}.`,
        });
    },
    close() {
      flush();
      closed = true;
    },
  };
}

/** Receives what a process writes to stdout. */
interface OutputListener {
  readonly table: RequestTable;
  /** Counts what the table does not wait for. */
  readonly strays: BackPressure;
  /** Called for each line. */
  readonly onHeard: () => void;
  /** Called when nothing more can be read. */
  readonly onEnd: (reason: string) => void;
}

/** Passes every line of stdout to the table. */
function readOutput(
  options: ConnectOptions<StdioTransport>,
  child: Pick<ServerProcess, "stdout">,
  { table, strays, onHeard, onEnd }: OutputListener,
): void {
  const { limits, memory, server, tap } = options;
  let taken = 0;
  const splitter = createLineSplitter(
    limits.messageBytes,
    (line) => {
      onHeard();
      taken += 1;
      tap?.("in", line);
      const batch = readBatch(line, limits.depth);
      if (batch !== undefined) {
        for (const message of batch) table.receive(message);
        return;
      }
      if (line.length >= largeBytes) memory.adopt(line);
      table.receive(readInbound(line, limits.depth));
    },
    () => onEnd(`${server} sent a line longer than ${limits.messageBytes} bytes (limits.upstreamMessageBytes)`),
    memory,
  );

  child.stdout.on("data", (chunk: Buffer) => {
    const before = strays.count;
    taken = 0;
    const lines = splitter(chunk);
    // Empty lines are no messages, but each has to be found.
    strays.add(lines - taken);
    if (strays.count > before) strays.restrain(child.stdout);
  });
  child.stdout.on("error", () => undefined);
  child.stdout.on("end", () => {
    // A server that closes stdout can never answer again, so it counts as dead even if it keeps running (fault 83).
    // If it is exiting, its exit follows in a moment and gives a better reason.
    setTimeout(() => onEnd(`${server} closed its output`), outputGraceMs).unref();
  });
}

const outputGraceMs = 50;
