/** Defined by scripts/build.mjs; undefined when the sources run unbuilt. */
declare const TOOLYARD_BUILD_ID: string | undefined;

/**
 * Identifies the sources that this build was made from. Files loaded later must come from the same build. Empty when
 * the sources run unbuilt.
 */
export const buildId: string = typeof TOOLYARD_BUILD_ID === "undefined" ? "" : TOOLYARD_BUILD_ID;

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

/** Parts of the program that are loaded only when they are first needed. */
export type LateModule =
  | "rest"
  | "search"
  | "logins"
  | "http"
  | "http-route"
  | "live-events"
  | "webhooks"
  | "records"
  | "team"
  | "foreign-tokens"
  | "people-site"
  | "machine"
  | "traces";

/**
 * Imports such a part by calling `load`. Rejects with GATEWAY_REPLACED while its files are missing, or belong to
 * another build than the running gateway.
 */
export type LoadLate = <T>(what: LateModule, load: () => Promise<T>) => Promise<T>;

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

/** Input of the worker thread that tests whether a part can be loaded. */
export interface LateCheck {
  readonly what: LateModule;
  readonly buildId: string;
}
