import { statSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import type { Log } from "../kernel/runtime/log.ts";
import {
  buildId,
  isLoadFailure,
  type LateCheck,
  type LateModule,
  type LoadLate,
} from "../kernel/runtime/late-module.ts";
import type { Clock } from "../kernel/runtime/clock.ts";
import { GatewayError } from "../kernel/failures/gateway-error.ts";
import { workerUrl } from "../kernel/runtime/run-worker.ts";

/**
 * Loads modules when they are first needed, in an installation that may be replaced in the meantime (`npm ci`, a
 * build, an update).
 */
export interface LateModules {
  readonly load: LoadLate;
  /** Why the gateway should be restarted, in one sentence. Undefined while every load has succeeded. */
  readonly problem: string | undefined;
}

export interface LateModulesOptions {
  readonly log: Log;
  readonly clock: Pick<Clock, "monotonic">;
  /**
   * Identifies the installed files: changes when those that are loaded late may have changed. Tests may pass another.
   */
  readonly installation?: () => string;
}

/** Without this, every request would look for the files again while they are missing. */
const retryMs = 1_000;
/** The largest module takes 0.4 s on a busy machine. */
const checkTimeoutMs = 20_000;

/** Loads modules on demand, and checks in a worker first when the installation has changed. */
export function createLateModules({
  log,
  clock,
  installation = identifyInstallation,
}: LateModulesOptions): LateModules {
  const first = installation();
  const loaded = new Set<LateModule>();
  const failed = new Map<LateModule, { readonly error: GatewayError; readonly atMs: number }>();
  const checking = new Map<LateModule, Promise<void>>();

  /** Any number of requests share one check. */
  async function checkOnce(what: LateModule): Promise<void> {
    let check = checking.get(what);
    if (check === undefined) {
      check = checkInWorker(what).finally(() => checking.delete(what));
      checking.set(what, check);
    }
    await check;
  }

  function fail(what: LateModule, cause: unknown): GatewayError {
    const why = cause instanceof Error ? (cause.message.split("\n", 1)[0] ?? "") : String(cause);
    const error = new GatewayError(
      "GATEWAY_REPLACED",
      `this gateway's files were replaced or removed while it ran, and ${names[what]} cannot be loaded from them (${why})`,
      { cause },
    );
    // Logged once each time a module becomes unavailable, not for each request.
    if (!failed.has(what))
      log.warn({ component: "app", operation: "load", what }, `${error.message}: restart the gateway`);
    failed.set(what, { error, atMs: clock.monotonic() });
    return error;
  }

  return {
    get problem() {
      return [...failed.values()][0]?.error.message;
    },
    async load(what, load) {
      const before = failed.get(what);
      if (before !== undefined && clock.monotonic() - before.atMs < retryMs) throw before.error;
      try {
        // Neither unchanged files nor a module that is already loaded need a check.
        if (before !== undefined || (!loaded.has(what) && installation() !== first)) await checkOnce(what);
        const module = await load();
        loaded.add(what);
        if (failed.delete(what))
          log.info({ component: "app", operation: "load", what }, `${names[what]} could be loaded after all`);
        return module;
      } catch (error) {
        if (error instanceof CheckFailed) throw fail(what, error.cause);
        throw isLoadFailure(error) ? fail(what, error) : error;
      }
    },
  };
}

const names: Readonly<Record<LateModule, string>> = {
  rest: "the REST API",
  search: "the search engine",
  logins: "the use of logins",
  http: "the connection to remote servers",
  records: "the store of records",
  team: "the people of the database",
  "foreign-tokens": "the check of tokens of another authorization server",
  "people-site": "the pages for people",
  machine: "the code for orders on this machine",
  "live-events": "the stream of events",
  webhooks: "the code that sends events to webhooks",
  "http-route": "the connection through proxies",
  traces: "the sending of traces",
};

class CheckFailed extends Error {
  override readonly name = "CheckFailed";
}

/**
 * Loads the module in a thread that is then discarded: an import that failed in this thread would fail for as long as
 * the process lives.
 */
async function checkInWorker(what: LateModule): Promise<void> {
  const worker = new Worker(workerUrl(import.meta.url, "late-check-worker"), {
    workerData: { what, buildId } satisfies LateCheck,
    env: {},
    execArgv: [],
    stdout: true,
    stderr: true,
  });
  try {
    await new Promise<void>((resolve, reject) => {
      const refuse = (cause: unknown): void => reject(new CheckFailed("its files are not there", { cause }));
      const timer = setTimeout(() => refuse(new Error("loading it takes too long")), checkTimeoutMs);
      worker.once("error", refuse);
      worker.once("exit", (code) => {
        clearTimeout(timer);
        if (code === 0) resolve();
        else refuse(new Error(`loading it ended with code ${code}`));
      });
    });
  } finally {
    await worker.terminate();
  }
}

/**
 * The times of our own files and of every `node_modules` in which packages are looked for. An installation changes
 * the entries of such a folder first, and with them the folder's time.
 */
function identifyInstallation(): string {
  const own = fileURLToPath(import.meta.url);
  const marks = [markOf(own)];
  for (let folder = dirname(own); ; folder = dirname(folder)) {
    marks.push(markOf(join(folder, "node_modules")));
    if (folder === dirname(folder)) return marks.join(" ");
  }
}

function markOf(path: string): string {
  const found = statSync(path, { throwIfNoEntry: false });
  return found === undefined ? "-" : `${found.ino}:${found.mtimeMs}`;
}
