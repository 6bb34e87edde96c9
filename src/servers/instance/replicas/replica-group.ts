import type { ServerConfig } from "../../../config/config.ts";
import { untilAborted } from "../../../kernel/runtime/abort.ts";
import { GatewayError, toGatewayError } from "../../../kernel/failures/gateway-error.ts";
import { toDurationText } from "../../../kernel/text/number-text.ts";
import type { Closed, Connection, Replicas, Reply, UpstreamRequest } from "../../upstream/connection.ts";
import type { OpenConnection, Opened } from "../instance-deps.ts";
import { chooseReplica } from "./choice.ts";
import { createPinned, isListed, type Pinned } from "./pinned-requests.ts";
import { createReplica, type Replica } from "./replica.ts";
import { placesOf, type ReplicaDeps } from "./replica-opening.ts";

/**
 * Opens a connection that is made of several: to each address of the server, or to several processes. It is there as
 * soon as one of them is, and lasts until none is left; the others come and go meanwhile. Rejects when none comes up.
 */
export function createOpenReplicas(deps: ReplicaDeps): OpenConnection {
  return async (...wanted) => {
    const members = createMembers(wanted, deps);
    const connection = toConnection(members, wanted[0].slug);
    try {
      await members.firstUp();
      return connection;
    } catch (error) {
      await connection[Symbol.asyncDispose]();
      throw error;
    }
  };
}

/** The replicas of one server. */
interface Members {
  readonly all: readonly Replica[];
  /** With those that finish what they have. */
  readonly withLeaving: readonly Replica[];
  readonly connected: () => Replica[];
  /** The one that came up last, while it is up. */
  readonly newest: Replica | undefined;
  /** A connection of one that is up, or the last one that there was. */
  readonly lead: () => Opened;
  readonly pinned: Pinned;
  readonly closed: Promise<Closed>;
  firstUp(): Promise<void>;
  adjust(next: ServerConfig): void;
  end(): Promise<void>;
}

function createMembers(
  [server, instance, options, signal]: readonly [...Parameters<OpenConnection>],
  deps: ReplicaDeps,
): Members {
  let current = server;
  let replicas: Replica[] = placesOf(server).map(create);
  const leaving = new Set<Replica>();
  let newest: Replica | undefined;
  let lastLead: Opened | undefined;
  let settleClosed: (closed: Closed) => void = () => undefined;
  const closed = new Promise<Closed>((resolve) => (settleClosed = resolve));
  const connected = (): Replica[] => replicas.filter(({ link }) => link.current !== undefined);
  const pinned = createPinned(connected);

  function create(place: ReturnType<typeof placesOf>[number]): Replica {
    const replica: Replica = createReplica(
      {
        ...{ ...place, instance, options },
        hasBreaker: () => current.breaker,
        isLater: () => lastLead !== undefined,
        onUp() {
          newest = replica;
          lastLead = replica.link.current;
          pinned.noteUp(replica);
        },
        onDown(ended) {
          forget(replica);
          // The end of the last one is that of the connection: what follows is the recovery of the instance.
          const isLast = connected().length === 0;
          if (isLast) settleClosed(ended);
          return !isLast;
        },
      },
      deps,
    );
    return replica;
  }

  function forget(replica: Replica): void {
    if (newest === replica) newest = undefined;
    pinned.noteDown(replica);
  }

  /** One that is not wanted any more finishes its calls, for as long as they get when the gateway stops. */
  function retire(replica: Replica): void {
    leaving.add(replica);
    forget(replica);
    const untilMs = deps.clock.monotonic() + deps.settings().drainTimeoutMs;
    const look = (): void => {
      if (replica.calls.running > 0 && deps.clock.monotonic() < untilMs) deps.clock.after(drainLookMs, look);
      else void replica.stop().finally(() => leaving.delete(replica));
    };
    look();
  }

  return {
    ...{ connected, pinned, closed },
    get all() {
      return replicas;
    },
    get withLeaving() {
      return [...replicas, ...leaving];
    },
    get newest() {
      return newest;
    },
    lead: () => (newest?.link.current ?? connected()[0]?.link.current ?? lastLead) as Opened,
    async firstUp() {
      await untilAborted(anyUp(replicas.map(async (replica, at) => await replica.start(at === 0))), signal);
    },
    adjust(next) {
      current = next;
      const places = placesOf(next);
      const kept = replicas.filter(({ key }) => places.some((place) => place.key === key));
      const added = places.filter(({ key }) => !kept.some((replica) => replica.key === key)).map(create);
      const retired = replicas.filter((replica) => !kept.includes(replica));
      replicas = [...kept, ...added];
      for (const replica of retired) retire(replica);
      for (const replica of added) replica.start(false).catch(() => undefined);
    },
    async end() {
      await Promise.all([...replicas, ...leaving].map(async (replica) => await replica.stop()));
      settleClosed({ kind: "asked" });
    },
  };
}

/** How often one that leaves is looked at. */
const drainLookMs = 100;

/** Resolves with the first one; rejects when each has failed, with the want of a login if that is the cause of one. */
async function anyUp(starts: readonly Promise<void>[]): Promise<void> {
  try {
    await Promise.any(starts);
  } catch (error) {
    const failures = error instanceof AggregateError ? error.errors.map(toGatewayError) : [toGatewayError(error)];
    throw failures.find(({ code }) => code === "SERVER_NEEDS_LOGIN") ?? failures[0];
  }
}

function toConnection(members: Members, slug: string): Opened {
  const { connected, lead } = members;
  let ending: Promise<void> | undefined;
  const view: Replicas = {
    all: () => members.all.map(({ facts }) => facts),
    summary: () => summaryOf(members.all),
    isHeard: () => connected().every(({ link }) => link.isHeard),
    adjust: members.adjust,
  };
  return {
    get peer() {
      return lead().peer;
    },
    request: createDivision(members, slug),
    async notify(method, params) {
      await Promise.all(connected().map(async ({ link }) => await link.current?.notify(method, params)));
    },
    closed: members.closed,
    kill: () => connected().forEach(({ link }) => link.current?.kill?.()),
    get inFlight() {
      return members.withLeaving.reduce((sum, { link }) => sum + link.inFlight, 0);
    },
    pending: () => members.withLeaving.flatMap(({ link }) => link.current?.pending() ?? []),
    get lastActivityMs() {
      return Math.max(0, ...connected().map(({ link }) => link.current?.lastActivityMs ?? 0));
    },
    get pid() {
      return lead().pid as number;
    },
    readCard: async () => await lead().readCard?.(),
    get startSpan(): Connection["startSpan"] {
      return lead().startSpan;
    },
    replicas: view,
    [Symbol.asyncDispose]: async () => await (ending ??= members.end()),
  };
}

/** Divides requests. What was not sent is sent to another one; what was sent is the caller's to repeat. */
function createDivision(members: Members, slug: string): Connection["request"] {
  const { pinned, connected } = members;

  function choose(wanted: UpstreamRequest, tried: ReadonlySet<Replica>): Replica {
    const { newest } = members;
    if (newest !== undefined && tried.size === 0 && isListed(wanted)) return newest;
    return chooseReplica(connected(), tried) ?? refuse(connected(), slug);
  }

  async function request(wanted: UpstreamRequest): Promise<Reply> {
    for (const replica of members.all) replica.wake();
    if (pinned.takes(wanted)) return await pinned.request(wanted);
    const tried = new Set<Replica>();
    let sent = false;
    const onSent = (): void => {
      sent = true;
      wanted.onSent?.();
    };
    for (;;) {
      const replica = choose(wanted, tried);
      try {
        return await replica.calls.request({ ...wanted, onSent });
      } catch (error) {
        const { code } = toGatewayError(error);
        tried.add(replica);
        const isUnsent = !sent && (code === "CONNECT_FAILED" || code === "UPSTREAM_CLOSED");
        if (!isUnsent || wanted.signal.aborted || chooseReplica(connected(), tried) === undefined) throw error;
      }
    }
  }

  return request;
}

function refuse(up: readonly Replica[], slug: string): never {
  if (up.length === 0) throw new GatewayError("UPSTREAM_CLOSED", `no replica of ${slug} is up`);
  const waits = up.flatMap(({ calls }) => calls.breaker.nextTryMs ?? []);
  const nextMs = waits.length === 0 ? 0 : Math.min(...waits);
  const when = waits.length === 0 ? "it is being tried again now" : `it is tried again in ${toDurationText(nextMs)}`;
  throw new GatewayError("BREAKER_OPEN", `${slug} has failed too often and gets no calls now: ${when}`, {
    data: { retryAfterMs: Math.ceil(nextMs) },
  });
}

function summaryOf(replicas: readonly Replica[]): string | undefined {
  const facts = replicas.map((replica) => replica.facts);
  const troubled = facts.filter(({ why }) => why !== undefined);
  const [first] = troubled;
  if (first === undefined || facts.length === 1) return first?.why;
  const up = facts.filter(({ isUp, breaker }) => isUp && breaker !== "open").length;
  const details = troubled.slice(0, mostNamed).map(({ name, why }) => `${name}: ${why ?? ""}`);
  const more = troubled.length > mostNamed ? [`and ${troubled.length - mostNamed} more`] : [];
  return [`${up} of ${facts.length} replicas are up`, ...details, ...more].join("; ");
}

/** Named in one sentence. */
const mostNamed = 3;
