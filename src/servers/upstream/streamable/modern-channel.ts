import { rpcCodes } from "../../../wire/mcp/error-object.ts";
import { createSlotTable, type SlotTable } from "../../../kernel/runtime/slot-table.ts";
import { modernRevision } from "../../../wire/mcp/revisions.ts";
import { withTraceHeaders } from "../../../kernel/runtime/tracing.ts";
import { GatewayError, toGatewayError } from "../../../kernel/failures/gateway-error.ts";
import { type ConnectionEvents, type UpstreamRequest, withFiniteTimeouts, type Channel } from "../connection.ts";
import { createDialect, encodeRequest, type Dialect, type GatewayIdentity } from "../messages/encode.ts";
import { capabilitiesOf, firstRung } from "../declared-capabilities.ts";
import { isModernError } from "../handshake.ts";
import { createRequestTable, type RequestTable } from "../messages/request-table.ts";
import { deliver, type Delivery } from "./exchange/deliver.ts";
import type { HttpExchange, HttpExchangeSink } from "./exchange/http-exchange.ts";
import { encodeHeaderValue, isHeaderName, isHeaderValue } from "../../../kernel/text/header-value.ts";
import { failureOfRefusal, rpcErrorOf, type Refusal } from "./exchange/refusal.ts";
import type { Wire } from "./exchange/wire.ts";

/** What a modern channel needs from its connection. */
export interface ModernChannelOptions {
  readonly wire: Wire;
  readonly identity: GatewayIdentity;
  readonly events: ConnectionEvents;
  /**
   * Called for a refusal that no modern server would give. Resolves to the channel to use instead, or to undefined
   * when the refusal is final.
   */
  readonly reconsider: () => Promise<Channel | undefined>;
}

/** The dialect of modern requests over this wire. */
export function modernDialect(identity: GatewayIdentity, { roots }: Pick<Wire, "roots">): Dialect {
  return createDialect("modern", modernRevision, identity, capabilitiesOf(firstRung, roots !== undefined));
}

/**
 * Sends the stateless requests of revision 2026-07-28 (streamable-http): each is one POST, and its answer comes on
 * the response to it.
 */
export function createModernChannel(options: ModernChannelOptions): Channel {
  const { wire, events } = options;
  const dialect = modernDialect(options.identity, wire);
  const headersOf = createModernHeaders(wire.address.headers);
  const calls = createSlotTable<ModernCall>();
  const table = createRequestTable({
    server: wire.address.server,
    events,
    strays: wire.strays,
    declared: () => undefined,
    send(_text, reason, id) {
      // In this revision, a request is cancelled by closing its stream, and answers to a server's requests must not
      // be sent.
      if (reason === "cancel" && id !== undefined) calls.get(id)?.abort();
    },
  });
  const host: ModernHost = {
    table,
    strays: wire.strays,
    events,
    maxDepth: wire.limits.depth,
    memory: wire.memory,
    wire,
    calls,
    reconsider: options.reconsider,
  };

  return {
    request(request) {
      const finite = withFiniteTimeouts(request);
      return table.open(finite, (id) => {
        const body = encodeRequest(id, finite, dialect);
        const call = new ModernCall(host, id, finite);
        calls.put(call);
        call.start(withTraceHeaders(headersOf(finite), finite.meta), body);
      });
    },
    failAll(error) {
      table.failAll(error);
      for (const call of calls.values()) call.abort();
    },
    get size() {
      return table.size;
    },
    pending: table.pending,
  };
}

interface ModernHost extends Delivery {
  readonly wire: Wire;
  readonly table: RequestTable;
  readonly calls: SlotTable<ModernCall>;
  readonly reconsider: () => Promise<Channel | undefined>;
}

class ModernCall implements HttpExchangeSink {
  readonly #host: ModernHost;
  readonly id: number;
  readonly #request: UpstreamRequest;
  #exchange: HttpExchange | undefined;
  #isAnswered = false;

  constructor(host: ModernHost, id: number, request: UpstreamRequest) {
    this.#host = host;
    this.id = id;
    this.#request = request;
  }

  start(headers: readonly string[], body: string): void {
    this.#exchange = this.#host.wire.exchange({ method: "POST", headers, body }, this);
    this.#exchange.start();
  }

  abort(): void {
    this.#leave();
    this.#exchange?.abort();
  }

  onSent(): void {
    this.#request.onSent?.();
  }

  onHead(): void {}

  onMessage(message: Buffer): void {
    if (!deliver(this.#host, this.id, message)) return;
    this.#isAnswered = true;
    this.#leave();
    this.#exchange?.expectEnd();
  }

  onEnd(isEventStream: boolean): void {
    this.#leave();
    if (!this.#isAnswered) this.#fail(endedUnanswered(this.#host.wire.address.server, isEventStream));
  }

  onRefused(refusal: Refusal): void {
    const { wire, table, maxDepth } = this.#host;
    this.#leave();
    const failure = failureOfRefusal(wire.address.server, refusal);
    const error =
      failure.code === "SERVER_NEEDS_LOGIN" || refusal.head.status === 403
        ? undefined
        : rpcErrorOf(refusal.body, maxDepth);
    const letStand = () => {
      if (error === undefined) table.fail(this.id, failure);
      else table.receive({ kind: "error", id: this.id, error: error.bytes }, this.id);
    };
    if (isUnlikeModern(refusal.head.status, error?.code)) void this.#handOver(letStand);
    else letStand();
  }

  onFailed(error: GatewayError): void {
    this.#leave();
    this.#fail(error);
  }

  /** A 4xx means that the request was not executed, so it may be sent again in the other era. */
  async #handOver(letStand: () => void): Promise<void> {
    const { table, reconsider } = this.#host;
    const channel = await reconsider().catch(() => undefined);
    if (channel === undefined) {
      letStand();
      return;
    }
    try {
      const reply = await channel.request(this.#request);
      table.receive({ ...reply, id: this.id }, this.id);
    } catch (error) {
      this.#fail(toGatewayError(error));
    }
  }

  #fail(error: GatewayError): void {
    this.#host.table.fail(this.id, error);
  }

  #leave(): void {
    this.#host.calls.take(this.id);
  }
}

/** The failure of a request whose response ended without an answer. */
export function endedUnanswered(server: string, isEventStream: boolean): GatewayError {
  return isEventStream
    ? new GatewayError("UPSTREAM_CLOSED", `${server} ended its event stream before it had answered`)
    : new GatewayError(
        "UPSTREAM_PROTOCOL",
        `${server} answered with something that is not a JSON-RPC response to the request`,
      );
}

/** Codes that a modern server uses with a 4xx (2026-07-28, streamable-http, server validation; JSON-RPC 2.0). */
const plainCodes: ReadonlySet<number> = new Set([
  rpcCodes.parseError,
  rpcCodes.invalidRequest,
  rpcCodes.methodNotFound,
  rpcCodes.invalidParams,
]);
const suspectStatuses: ReadonlySet<number> = new Set([400, 404, 405, 406]);

function isUnlikeModern(status: number, code: number | undefined): boolean {
  if (!suspectStatuses.has(status)) return false;
  return code === undefined || !(isModernError(code) || plainCodes.has(code));
}

/** There are few methods. One that is not cached only costs a new array. */
const cachedMethods = 64;
const cachedNames = 1_024;

/**
 * Makes the headers of requests: an array per method and name that requests share, copied only for a request with
 * headers of its own.
 */
export function createModernHeaders(fixed: readonly string[]): (request: UpstreamRequest) => readonly string[] {
  const byMethod = new Map<string, readonly string[]>();
  const byName = new Map<string, readonly string[]>();

  function baseOf(method: string): readonly string[] {
    const known = byMethod.get(method);
    if (known !== undefined) return known;
    const base = [
      [
        "content-type",
        "application/json",
        "accept",
        "application/json, text/event-stream",
        "accept-encoding",
        "identity",
      ],
      ["mcp-protocol-version", modernRevision, "mcp-method", encodeHeaderValue(method)],
      fixed,
    ].flat();
    if (byMethod.size < cachedMethods) byMethod.set(method, base);
    return base;
  }

  /** Cached by name, because a tool is called many times. */
  function namedBase(method: string, name: string | undefined): readonly string[] {
    if (name === undefined) return baseOf(method);
    const key = `${method} ${name}`;
    const known = byName.get(key);
    if (known !== undefined) return known;
    const named = [...baseOf(method), "mcp-name", encodeHeaderValue(name)];
    if (byName.size >= cachedNames) byName.clear();
    byName.set(key, named);
    return named;
  }

  return (request) => {
    const base = namedBase(request.method, request.nameHeader);
    const { headers: mirrored, passedHeaders: passed } = request;
    if (mirrored === undefined && passed === undefined) return base;
    const headers = base.slice();
    const taken = passed === undefined ? undefined : new Set<string>();
    for (const [name, value] of mirrored ?? []) {
      if (!isHeaderName(name)) continue;
      headers.push(`mcp-param-${name}`, encodeHeaderValue(value));
      taken?.add(name.toLowerCase());
    }
    for (const [name, value] of passed ?? []) {
      if (taken?.has(name.toLowerCase()) !== true && isHeaderName(name) && isHeaderValue(value))
        headers.push(`mcp-param-${name}`, value);
    }
    return headers;
  };
}
