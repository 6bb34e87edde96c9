import { openBracket } from "../../../wire/json/characters.ts";
import type { StdioTransport } from "../../../config/config.ts";
import { scanElements } from "../../../wire/json/json-scan.ts";
import { modernRevision } from "../../../wire/mcp/revisions.ts";
import { GatewayError } from "../../../kernel/gateway-error.ts";
import { largeBytes } from "../../../wire/json/large-buffers.ts";
import type { Closed, Reply, UpstreamRequest } from "../connection.ts";
import type { ConnectOptions } from "../connect.ts";
import { createDialect, encodeRequest, type Dialect } from "../encode.ts";
import { declaredCapabilities } from "../handshake.ts";
import { readInbound } from "../../../wire/mcp/server-message.ts";
import { createLineSplitter } from "../line-splitter.ts";
import { createRequestTable, type RequestTable } from "../request-table.ts";
import { createOutbox } from "./outbox.ts";
import type { ServerProcess } from "./server-process.ts";
import { createStrayFlow } from "./stray-flow.ts";

/** Lines to a process and from it, and the requests that wait for theirs. */
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

export function createLink(options: ConnectOptions<StdioTransport>, child: ServerProcess): Link {
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
    dialect: createDialect("modern", modernRevision, options.identity, declaredCapabilities(options.roots)),
    table: createRequestTable({
      server: options.server,
      events: options.events,
      roots: options.roots,
      send: (text) => {
        if (ended === undefined && !outbox.offer(text) && strays.mayTell())
          options.events.onOddity("answer-dropped", `${options.server} does not read its input`);
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

  /** A server that is stopped or stuck would make every further call wait for its deadline: it is ended (fault 80). */
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

  const strays = createStrayFlow(child.stdout);
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
      const message = readInbound(line, options.limits.depth);
      if (message.kind !== "invalid" || message.id !== undefined || strays.mayTell()) link.table.receive(message);
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

  child.stdout.on("data", (chunk: Buffer) => {
    const waiting = link.table.size;
    const lines = splitter(chunk);
    strays.note(lines - (waiting - link.table.size));
  });
  child.stdout.on("error", () => undefined);
  child.stdout.on("end", () => {
    // A server that closes stdout and lives on can never answer again: it counts as dead (fault 83). One that is
    // exiting says how in the next moment, which is the better reason.
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
/** Most messages taken from one array. */
const mostBatched = 100;

/** With more calls than this in flight, waiting a turn for others to join pays. */
const soloCalls = 4;

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
