import { untilAborted } from "../../../kernel/runtime/abort.ts";
import { toGatewayError } from "../../../kernel/failures/gateway-error.ts";
import type { Connection } from "../../upstream/connection.ts";
import { declaresListChanged } from "./listening.ts";
import type { InstanceDeps } from "../instance-deps.ts";
import type { Life } from "../instance-state.ts";
import type { ListKind, Refresher } from "./refresh.ts";
import type { Clock } from "../../../kernel/runtime/clock.ts";

/** Decides when an instance's lists are fetched again. */
export interface ListRefresh {
  /** Whether the lists are too old (docs/design.md, "Lists"). */
  isDue(): boolean;
  readonly isRunning: boolean;
  /** Fetches the lists, or waits for a fetch that is already running. Resolves to the kinds of lists that changed. */
  refresh(signal: AbortSignal): Promise<readonly ListKind[]>;
  /** Fetches the lists in the background; a failure is only logged. */
  refreshQuietly(operation: string): void;
  /** Call when the server announced that a list changed. */
  noteAnnouncement(kind: ListKind): void;
}

/** What refreshing needs from the instance. */
export interface ListRefreshOptions {
  readonly life: Pick<Life, "id" | "server" | "about">;
  readonly refresher: Refresher;
  readonly acquire: (signal: AbortSignal) => Connection | Promise<Connection>;
  readonly isUp: () => boolean;
  /** Whether announcements of changed lists would reach us now. */
  readonly isHeard: () => boolean;
  /** Aborts when the instance is removed, so that a late answer brings nothing of it back. */
  readonly lifetime: AbortSignal;
}

/** The shortest time between two fetches that follow announcements (fault 50). */
const listChangedMs = 1_000;

/** No fetch is running at first. */
export function createListRefresh(options: ListRefreshOptions, deps: InstanceDeps): ListRefresh {
  const { life, refresher, lifetime } = options;
  const { id: instance } = life;
  /** Kinds of lists that the server announced as changed and that have not been fetched since. */
  const announced = new Set<ListKind>();
  let refreshing: Promise<readonly ListKind[]> | undefined;
  const followSoon = createCoalescer(deps.clock, listChangedMs, () =>
    quietly("list_changed", followAnnouncement(), life, deps.log),
  );

  /** One fetch for everybody who asks meanwhile. If one of them gives up, it continues for the others. */
  async function refresh(signal: AbortSignal): Promise<readonly ListKind[]> {
    if (deps.lender !== undefined) {
      const { lender } = deps;
      return await following(async () => {
        await lender.refresh(signal);
        return [];
      });
    }
    refreshing ??= following(fetchLists).finally(() => {
      refreshing = undefined;
    });
    return await untilAborted(refreshing, signal);
  }

  async function fetchLists(): Promise<readonly ListKind[]> {
    return await refresher.refresh(await options.acquire(lifetime), lifetime);
  }

  /** Whatever a fetch was begun for, it answers what was announced until then, and says what it found unchanged. */
  async function following(fetch: () => Promise<readonly ListKind[]>): Promise<readonly ListKind[]> {
    const kinds = [...announced];
    announced.clear();
    try {
      const changed = await fetch();
      const same = kinds.filter((kind) => !changed.includes(kind));
      if (same.length > 0) deps.events.emit({ type: "catalog.announced", ...life.about(), kinds: same });
      return changed;
    } catch (error) {
      for (const kind of kinds) announced.add(kind);
      throw error;
    }
  }

  async function followAnnouncement(): Promise<void> {
    // A fetch that is already running may have begun before the change.
    await refreshing?.catch(() => undefined);
    // The server announced the change while it was stopping. Its lists are fetched when it is started the next time;
    // it is not started for this.
    if (options.isUp() && announced.size > 0) await refresh(lifetime);
  }

  return {
    isDue() {
      if (deps.lender !== undefined) return false;
      if (refresher.refreshedAtMs === undefined || announced.size > 0) return true;
      const { idleCheckMs, refreshIntervalMs } = deps.settings();
      const known = deps.catalog.get(instance);
      const ageMs = deps.clock.monotonic() - refresher.refreshedAtMs;
      if (known?.ttlMs !== undefined && known.ttlMs > 0) return ageMs >= Math.max(known.ttlMs, idleCheckMs);
      const isTold = declaresListChanged(known?.capabilities, "tools") && options.isHeard();
      return !isTold && ageMs >= refreshIntervalMs;
    },
    get isRunning() {
      return refreshing !== undefined;
    },
    refresh,
    refreshQuietly(operation) {
      if (deps.lender === undefined) quietly(operation, refresh(lifetime), life, deps.log);
    },
    noteAnnouncement(kind) {
      announced.add(kind);
      followSoon();
    },
  };
}

function quietly(
  operation: string,
  work: Promise<unknown>,
  { id, server }: ListRefreshOptions["life"],
  log: InstanceDeps["log"],
): void {
  void work.catch((error: unknown) => {
    log.warn(
      { component: "instance", server: server.slug, operation },
      `${id}: its lists could not be fetched; the old ones remain valid: ${toGatewayError(error).message}`,
    );
  });
}

/**
 * Returns a function that runs `run` soon, but at most once per `intervalMs`, however often it is called (fault 50).
 */
export function createCoalescer(clock: Clock, intervalMs: number, run: () => void): () => void {
  let scheduled = false;
  let lastRunMs = Number.NEGATIVE_INFINITY;
  return () => {
    if (scheduled) return;
    scheduled = true;
    const waitMs = Math.max(0, lastRunMs + intervalMs - clock.monotonic());
    clock.after(waitMs, () => {
      scheduled = false;
      lastRunMs = clock.monotonic();
      run();
    });
  };
}
