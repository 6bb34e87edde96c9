import { settingNow } from "../../../kernel/text/number-text.ts";
import { failureAnswer } from "../../../wire/mcp/error-object.ts";
import { createHash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { abortAfter } from "../../../kernel/runtime/abort.ts";
import type { Answer, CallContext, ConnectedClient, Question } from "../../../kernel/call/call-context.ts";
import { failures } from "../../../kernel/failures/failures.ts";
import { GatewayError, toGatewayError } from "../../../kernel/failures/gateway-error.ts";
import type { InstanceId, PrincipalId } from "../../../kernel/ids.ts";
import { isJsonObject, type JsonBytes } from "../../../kernel/text/json-bytes.ts";
import { parseHandshake } from "../../upstream/ladder.ts";
import type { RootsSource } from "../../upstream/connection.ts";
import { createInstance } from "../create-instance.ts";
import { createDepartures, createEndedUsers } from "./stopping-instances.ts";
import type { Instance } from "../instance.ts";
import type { CatalogKeeper, InstanceDeps } from "../instance-deps.ts";
import { configuredRoots, openWithRoots } from "../lists/roots-source.ts";
import type { RemovalReason } from "../state.ts";

/** The parts of a request that decide which client's instance it goes to. */
export type ClientCaller = Pick<CallContext, "principal" | "client" | "connected" | "ask">;

/**
 * The instances of servers with scope `client`: each client has one of its own.
 *
 * In addition, each person has one instance of such a server, the base. Its lists are shown to all of the person's
 * clients, so that tools are found before anything is started for a client. The base also serves requests that have
 * neither a connection nor a client name (REST, requests without a session). It gets no client's roots.
 */
export interface ClientInstances {
  /**
   * The client's own instance of the server of `base`, which is made at the first use. Call `leave` when the call is
   * over. Throws CLIENT_INSTANCE_LIMIT, and CALL_CANCELLED when the client has disconnected.
   */
  enter(base: Instance, caller: ClientCaller): Entered;
  /** The id of the client's own instance, whether or not it exists; the base's id for servers of another scope. */
  idFor(base: Instance, client: ConnectedClient | undefined): InstanceId;
  get(id: InstanceId): Instance | undefined;
  /** The base whose lists a client's instance shows; undefined for all other instances. */
  baseOf(id: InstanceId): InstanceId | undefined;
  /**
   * The id under which a client knows the instance that an event is about; undefined when the event does not concern
   * that client.
   */
  seenAs(id: InstanceId, client: ConnectedClient | undefined): InstanceId | undefined;
  all(): Iterable<Instance>;
  /**
   * Called when the configuration was applied. Removes instances whose base was removed or replaced, and reconfigures
   * the others.
   */
  follow(baseOf: (id: InstanceId) => Instance | undefined): void;
  tick(): void;
  [Symbol.asyncDispose](): Promise<void>;
}

/** An instance in use by a call, until `leave` is called. */
export interface Entered {
  readonly instance: Instance;
  leave(): void;
}

interface Entry {
  readonly instance: Instance;
  readonly base: Instance;
  readonly owner: PrincipalId;
  readonly client: ConnectedClient | undefined;
  /** The calls in progress: the client can be asked by way of each of them. */
  readonly calls: Set<Pick<ClientCaller, "ask">>;
  lastUseMs: number;
}

type FleetDeps = Omit<InstanceDeps, "onChange">;

/**
 * How long to wait for a client's roots. Clients answer without asking a person, so one that has not answered by then
 * is taken to have none.
 */
const rootsMs = 10_000;

/** No instances at first; they are made at their first use. */
export function createClientInstances(deps: FleetDeps): ClientInstances {
  const entries = new Map<InstanceId, Entry>();
  const endedUsers = createEndedUsers();
  const departures = createDepartures();
  const followed = new WeakSet<ConnectedClient>();

  function enter(base: Instance, caller: ClientCaller): Entered {
    const name = caller.connected?.id ?? nameOf(caller);
    // If the base was stopped by hand, its refusal applies to all of its clients.
    if (name === undefined || base.state.kind === "stopped") return { instance: base, leave: () => undefined };
    const entry = entries.get(idOf(base, name)) ?? add(base, name, caller);
    const call = { ask: caller.ask };
    entry.calls.add(call);
    return {
      instance: entry.instance,
      leave() {
        entry.calls.delete(call);
        entry.lastUseMs = deps.clock.monotonic();
      },
    };
  }

  function add(base: Instance, name: string, caller: ClientCaller): Entry {
    const { connected, principal } = caller;
    if (connected?.ended.aborted === true) throw new GatewayError("CALL_CANCELLED", "the client has disconnected");
    const own = [...entries.values()].filter((entry) => entry.owner === principal.id);
    const limit = deps.limits().clientInstances;
    if (own.length >= limit) dismiss(leastNeeded(own, base, limit), "client-gone");
    const id = idOf(base, name);
    const calls: Entry["calls"] = new Set();
    const options = { id, ...copyOf(base), after: departures.of(id), users: endedUsers.take(id) };
    const instance = createInstance(options, depsFor(deps, base, rootsFor(base, caller, calls)));
    const lastUseMs = deps.clock.monotonic();
    const entry: Entry = { instance, base, owner: principal.id, client: connected, calls, lastUseMs };
    entries.set(id, entry);
    if (connected !== undefined) endWith(connected);
    return entry;
  }

  function endWith(client: ConnectedClient): void {
    if (followed.has(client)) return;
    followed.add(client);
    const dismissAll = (): void => {
      for (const entry of entries.values()) if (entry.client === client) dismiss(entry, "client-gone");
      endedUsers.forget(client);
    };
    client.ended.addEventListener("abort", dismissAll, { once: true });
  }

  function dismiss({ instance, client }: Entry, why: RemovalReason): void {
    entries.delete(instance.id);
    endedUsers.keep(instance, client, why);
    departures.dismiss(instance, why);
  }

  return {
    enter,
    idFor: (base, client) => (client === undefined || base.server.scope !== "client" ? base.id : idOf(base, client.id)),
    get: (id) => entries.get(id)?.instance,
    baseOf: (id) => entries.get(id)?.base.id,
    seenAs: (id, client) => seenThrough(entries.get(id), id, client),
    *all() {
      for (const { instance } of entries.values()) yield instance;
    },
    follow(baseOf) {
      for (const entry of entries.values()) {
        const { base, instance } = entry;
        if (baseOf(base.id) !== base || base.server.scope !== "client")
          dismiss(entry, baseOf(base.id) === undefined ? "unconfigured" : "reconfigured");
        else if (!isDeepStrictEqual(instance.server, base.server)) void instance.reconfigure(base.server);
      }
    },
    tick() {
      const unusedSinceMs = deps.clock.monotonic() - deps.limits().sessionIdleMs;
      for (const entry of entries.values()) {
        if (entry.client === undefined && isUnused(entry, unusedSinceMs)) dismiss(entry, "client-gone");
        else entry.instance.tick();
      }
    },
    async [Symbol.asyncDispose]() {
      for (const entry of entries.values()) dismiss(entry, "stopping");
      await departures.all();
    },
  };
}

function isUnused({ calls, lastUseMs }: Entry, sinceMs: number): boolean {
  return calls.size === 0 && lastUseMs < sinceMs;
}

/** A client's instance uses the lists, the login and the known eras of its base. */
function depsFor(deps: FleetDeps, base: Instance, roots: RootsSource | undefined): InstanceDeps {
  const { loginOf } = deps;
  const open: InstanceDeps["open"] = async (server, _own, options, signal) =>
    await deps.open(
      server,
      base.id,
      {
        ...options,
        knownEras: options.knownEras ?? deps.catalog.get(base.id)?.eras,
        knownHandshake: options.knownHandshake ?? parseHandshake(deps.catalog.get(base.id)?.handshake),
      },
      signal,
    );
  return {
    ...deps,
    open: roots === undefined ? open : openWithRoots(open, roots),
    keeper: nothingKept,
    lender: base,
    ...(loginOf === undefined ? {} : { loginOf: async () => await loginOf(base.id) }),
    onChange: () => undefined,
  };
}

function seenThrough(
  entry: Entry | undefined,
  id: InstanceId,
  client: ConnectedClient | undefined,
): InstanceId | undefined {
  if (entry === undefined) return id;
  return entry.client !== undefined && entry.client === client ? entry.base.id : undefined;
}

/**
 * Chooses the instance to remove at the limit: of those without a connection and without a running call, the one that
 * has been unused for longest. Such an instance can be made again at any time.
 */
function leastNeeded(own: readonly Entry[], base: Instance, limit: number): Entry {
  const [first, ...rest] = own.filter(({ client, calls }) => client === undefined && calls.size === 0);
  if (first === undefined)
    throw new GatewayError(
      "CLIENT_INSTANCE_LIMIT",
      `${base.server.slug} is not started for this client: ` +
        `${own.length} instances of single clients run already (limits.clientInstances)`,
      {
        hint:
          'Close clients that are not used, give the server scope "user", ' +
          `or raise ${settingNow("limits.clientInstances", limit)}.`,
      },
    );
  return rest.reduce((old, one) => (one.lastUseMs < old.lastUseMs ? one : old), first);
}

const nothingKept: CatalogKeeper = Object.freeze({
  load: async () => await Promise.resolve(undefined),
  save: async () => await Promise.resolve(),
  remove: async () => await Promise.resolve(),
});

function idOf(base: Instance, name: string): InstanceId {
  return `${base.id}@${name}` as InstanceId;
}

/**
 * Identifies a client without a connection (2026-07-28 over HTTP) by its principal and by the name and version that
 * it sends.
 */
function nameOf({ principal, client }: ClientCaller): string | undefined {
  if (!isJsonObject(client.info) || typeof client.info["name"] !== "string") return undefined;
  const { name, version } = client.info;
  return createHash("sha256")
    .update(JSON.stringify([principal.id, name, String(version)]))
    .digest("hex")
    .slice(0, 12);
}

function copyOf({ owner, server, state, about }: Instance) {
  const { installation, team } = about();
  const { missing, advice } = state.kind === "unconfigured" ? state : { missing: [], advice: undefined };
  return { owner, server, missing, advice, installation, team };
}

/**
 * Where the roots of a client's instance come from. A server may keep the roots that it is told at the start, so they
 * may only be those of a connected client: without a connection, two windows of one program look the same, and one
 * would read the other's folders.
 */
function rootsFor(base: Instance, caller: ClientCaller, calls: Entry["calls"]): RootsSource | undefined {
  const { connected } = caller;
  if (connected === undefined || !isJsonObject(caller.client.capabilities["roots"]))
    return base.server.roots === undefined ? undefined : configuredRoots(base.server.roots);
  return { answer: async (params, signal) => await askForRoots(params, signal, connected, calls) };
}

async function askForRoots(
  params: JsonBytes,
  signal: AbortSignal,
  connected: ConnectedClient,
  calls: Entry["calls"],
): Promise<Answer> {
  const question: Question = { method: "roots/list", params };
  const limit = abortAfter(rootsMs, signal);
  let failure = new GatewayError("CLIENT_CANNOT_ANSWER", "the client cannot be asked for its roots now");
  // Every client can be asked while one of its calls is in progress; the connection itself works only if the client
  // listens on it.
  for (const ask of [...calls].map((call) => call.ask).concat(connected.ask)) {
    if (ask === undefined) continue;
    try {
      return await ask(question, limit);
    } catch (error) {
      failure = toGatewayError(error);
      if (limit.aborted) break;
    }
  }
  return failureAnswer(failure, failures.CLIENT_CANNOT_ANSWER.rpc);
}
