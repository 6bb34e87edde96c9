import { readFileSync } from "node:fs";
import { GatewayError } from "../failures/gateway-error.ts";
import type { Log } from "./log.ts";

/** Defined by scripts/build.mjs; undefined when the sources run unbuilt. */
declare const TOOLYARD_BUILD_ID: string | undefined;

/**
 * Identifies the sources that this build was made from. Files loaded later must come from the same build. Empty when
 * the sources run unbuilt.
 */
export const buildId: string = typeof TOOLYARD_BUILD_ID === "undefined" ? "" : TOOLYARD_BUILD_ID;

/**
 * The same of the build that is installed now, which writes it last: undefined while it is not complete. Empty when the
 * sources run unbuilt.
 */
function installedBuild(): string | undefined {
  if (buildId === "") return "";
  try {
    return readFileSync(new URL("../build-id.txt", import.meta.url), "utf8");
  } catch {
    return undefined;
  }
}

/** Error code of a worker thread that was loaded from a different build. */
export const otherBuildCode = "TOOLYARD_OTHER_BUILD";

/**
 * Checks a worker thread's build: worker files have the same name in every build, so the name cannot tell. Throws an
 * error with the code {@link otherBuildCode} when `wanted` is not this build.
 */
export function requireBuild(wanted: string): void {
  if (wanted === "" || buildId === "" || wanted === buildId) return;
  throw Object.assign(new Error("it was built from other sources"), { code: otherBuildCode });
}

/**
 * Imports a part of the program by calling `load`, when it is first needed. `what` names it, as the subject of a
 * sentence. Rejects with GATEWAY_REPLACED while its files are missing, or belong to another build than the running
 * gateway.
 */
export type LoadLate = <T>(what: string, load: () => Promise<T>) => Promise<T>;

/** Loads parts when they are first needed, in an installation that may be replaced in the meantime. */
export interface LateModules {
  readonly load: LoadLate;
  /** Why the gateway should be restarted, in one sentence. Undefined while every load has succeeded. */
  readonly problem: string | undefined;
}

/**
 * Nothing is imported from another build, nor while one is being installed: Node remembers a failed import for as long
 * as the process lives. What was imported before stays.
 */
export function createLateModules(log: Log): LateModules {
  const loaded = new Set<string>();
  const failed = new Map<string, GatewayError>();

  function fail(what: string, cause: unknown): GatewayError {
    const why = cause instanceof Error ? (cause.message.split("\n", 1)[0] ?? "") : String(cause);
    const error = new GatewayError(
      "GATEWAY_REPLACED",
      `this gateway's files were replaced or removed while it ran, and ${what} cannot be loaded from them (${why})`,
      { cause },
    );
    // Logged once each time a part becomes unavailable, not for each request.
    if (!failed.has(what))
      log.warn({ component: "app", operation: "load", what }, `${error.message}: restart the gateway`);
    failed.set(what, error);
    return error;
  }

  return {
    get problem() {
      return [...failed.values()][0]?.message;
    },
    async load(what, load) {
      const found = loaded.has(what) ? buildId : installedBuild();
      if (found === undefined) throw fail(what, new Error("no complete build is there"));
      if (found !== buildId) throw fail(what, new Error("they were built from other sources"));
      try {
        const module = await load();
        loaded.add(what);
        if (failed.delete(what))
          log.info({ component: "app", operation: "load", what }, `${what} could be loaded after all`);
        return module;
      } catch (error) {
        throw isLoadFailure(error) ? fail(what, error) : error;
      }
    },
  };
}

/** Opens something at the first call, for all that follow. What could not be opened is tried again at the next one. */
export function openOnce<T>(open: () => Promise<T>): () => Promise<T> {
  let opening: Promise<T> | undefined;
  return async () =>
    await (opening ??= open().catch((error: unknown) => {
      opening = undefined;
      throw error;
    }));
}

/**
 * Error codes that show an incomplete installation: while a package is being installed, its files may be missing,
 * half-written, or of another version.
 */
const codes: ReadonlySet<unknown> = new Set([
  "ENOENT",
  "ENOTDIR",
  "MODULE_NOT_FOUND",
  "ERR_MODULE_NOT_FOUND",
  "ERR_INVALID_PACKAGE_CONFIG",
  "ERR_PACKAGE_PATH_NOT_EXPORTED",
  "ERR_UNSUPPORTED_DIR_IMPORT",
  otherBuildCode,
]);

/** Whether an error means that code could not be loaded, rather than that the code failed. */
export function isLoadFailure(error: unknown): boolean {
  return error instanceof SyntaxError || (error instanceof Error && "code" in error && codes.has(error.code));
}
